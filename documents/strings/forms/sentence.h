/* A sentence of a message, as the walk through a form puts it together: letters, and tokens for
 * what the translator sees as placeholders. One thread at a time. Only for
 * documents/strings/forms/.
 */
#ifndef DG_DOCUMENTS_STRINGS_FORMS_SENTENCE_H
#define DG_DOCUMENTS_STRINGS_FORMS_SENTENCE_H

#include "base/buffer.h"
#include "documents/strings/forms/pattern.h"

enum {
    DG_SENTENCE_TOKENS = 16, /* a model copies so many placeholders */
    DG_SENTENCE_NAME = 40,   /* longest name that is shown */
};

enum dg_token_kind {
    DG_TOKEN_ARGUMENT,
    DG_TOKEN_NUMBER, /* # in a branch of a plural */
    DG_TOKEN_QUOTATION,
    DG_TOKEN_SIGN, /* # in a select within a plural: libraries do not agree on what it is */
};

struct dg_token {
    enum dg_token_kind kind;
    /* [n] bytes of the message */
    const char *s;
    size_t n;
    /* NUMBER: the argument whose number it is, and the selector that is chosen; SIGN: the select */
    size_t argument, selector;
    /* a number that is shown instead, or NULL */
    const char *sample;
    char shown[DG_SENTENCE_NAME + 3];
};

struct dg_sentence {
    const struct dg_pattern *pattern;
    struct dg_buffer text;
    /* [n_tokens] */
    struct dg_token tokens[DG_SENTENCE_TOKENS];
    size_t n_tokens;
    /* it has letters; it has a "#" that is no number */
    bool words, sign;
};

/* Add a token, shown as {name} or, if that is something else, as {0}; an ordinal as a number of its
 * form in English, "22" for "two"; one with a sample as that, if the sentence lacks it. Equal
 * tokens are shown alike. DG_EUNSUP: there are too many. */
int dg_sentence_add_token(struct dg_sentence *t, struct dg_token token, struct dg_error *err);

/* True if the token is the number of this argument: "#", {n} or {n, number}. */
bool dg_token_is_number(const struct dg_pattern *p, const struct dg_token *t, size_t argument);
/* True if the message has no number of these digits. */
bool dg_sentence_lacks(const struct dg_pattern *p, const char *digits);
/* Copy the sentence, with the number of this argument shown as `sample`; *out has a text of its
 * own. */
void dg_sentence_copy(
    const struct dg_sentence *t, size_t argument, const char *sample, struct dg_sentence *out);

/* Add the letters at bytes begin .. end of the message. DG_EUNSUP: one is a brace. */
int dg_sentence_add_letters(struct dg_sentence *t, size_t begin, size_t end, struct dg_error *err);

/* True if it is for the translator: it has letters, and is no pattern of dates. */
bool dg_sentence_is_text(const struct dg_sentence *t);

/* True if the sentence has a value of this argument. */
bool dg_sentence_says(const struct dg_sentence *t, size_t argument);

/* DG_EUNSUP: the sentence cannot be written in a branch of the argument `around`, because of a "#",
 * or of a tag that it does not close. DG_ENOMEM. */
int dg_sentence_check(const struct dg_sentence *t, size_t around, struct dg_error *err);

/* Append s[n], the sentence's translation, as it is written in a branch of `around`. DG_EUNSUP: it
 * lacks a token, or has braces of its own. */
int dg_sentence_write(const struct dg_sentence *t, const char *s, size_t n, size_t around,
    struct dg_buffer *out, struct dg_error *err);

#endif
