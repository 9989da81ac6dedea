/* The forms of an ICU message, whose arguments choose words. A translator gets a sentence for each
 * choice, because words beside an argument agree with it:
 *
 *   Ann has {n, plural, one {# dog} other {# dogs}}.   becomes   Ann has {n} dog.
 *                                                                Ann has {n} dogs.
 *   and {n, plural, one {Ann hat # Hund.} other {Ann hat # Hunde.}}
 *
 * Sentences of the message without such an argument are left beside it, and everything but words
 * stays, byte for byte. In a sentence, other arguments are shown as {name}. The number of a plural
 * is shown so, and in a second sentence as a number ("5 dogs"), whose answer is written if it has
 * that; an ordinal only as a number ("22nd"). If a plural lacks a category of the target language,
 * a branch is added for it: the branch "other", translated with a number of that category ("3 dogs"
 * for "few" in Russian). If the answer lacks this number, no branch is added, and ICU takes
 * "other". A message stays as it is where that is not safe: it has more than 32 forms, or arguments
 * within arguments deeper than 6; "#" cannot be written where it has to be; a translation lacks a
 * placeholder. Any thread. Only for documents/. */
#ifndef DG_DOCUMENTS_STRINGS_FORMS_FORMS_H
#define DG_DOCUMENTS_STRINGS_FORMS_FORMS_H

#include "documents/extract.h"
#include "documents/strings/forms/pattern.h"

/* Append the sentences of the message s[n] to *texts, each with a NUL after it, and set *count;
 * sentences without words are left out. DG_ENOTFOUND: it has no argument with branches, but perhaps
 * in a tag or a quotation; DG_EUNSUP: the message stays as it is, err says why; DG_ENOMEM. */
int dg_forms_read(const char *s, size_t n, const struct dg_pattern_style *style,
    struct dg_buffer *texts, size_t *count, struct dg_error *err);

/* Append the message with answers to its sentences. target: the language of the answers. A form for
 * "one" without the number is for the number 1 alone, if that language has this form for others
 * (21, or 0), too. DG_EUNSUP: the message stays as it is; DG_ENOMEM. */
int dg_forms_write(const char *s, size_t n, const struct dg_pattern_style *style,
    const struct dg_extract_answer *answers, const char *target, struct dg_buffer *out,
    struct dg_error *err);

#endif
