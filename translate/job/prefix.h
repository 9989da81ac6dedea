/* The required beginning of an answer. Its last word may be unfinished: "Ein Man" may continue as
 * "Ein Mann" or "Ein Mannequin", however these are tokenized. Private to translate/. One thread at
 * a time per job. */
#ifndef DG_TRANSLATE_JOB_PREFIX_H
#define DG_TRANSLATE_JOB_PREFIX_H

#include "base/arena.h"
#include "translate/translator/translator.h"

struct dg_prefix {
    /* [n] tokens of the words before the last (of all words if `spelling` is empty) */
    int32_t *ids;
    uint32_t n;
    /* [n] their positions in `text` */
    struct dg_token *tokens;
    /* the prefix, normalised; NULL for a prefix given as tokens */
    const char *text;
    /* spelling of the last word; n_states 0: none, all tokens are in ids */
    struct dg_spelling spelling;
    /* number of bytes it takes in the answer; 0 for a prefix given as tokens */
    size_t len;
};

/* Skip what precedes the sentence in its line, such as a bullet or an emoji, at the start of a
 * prefix: the answer has it already. before[n]: the text before the sentence. */
const char *dg_prefix_skip(const char *prefix, const char *before, size_t n);

/* Encode text[n], which is not empty. White space at its end means that the last word is finished
 * and another one follows. tokens: text is white-space-separated tokens instead, all of them
 * finished. Memory comes from the arena. DG_EINVAL and DG_ELIMIT name the field target_prefix. */
int dg_prefix_encode(const struct dg_translator *t, struct dg_arena *arena, const char *text,
    size_t n, bool tokens, struct dg_prefix *out, struct dg_error *err);

#endif
