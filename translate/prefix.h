/* The beginning that an answer is held to. Its last word may be unfinished: "Ein Man" may continue
 * as "Ein Mann" or "Ein Mannequin", whatever their tokens are. Private to translate/. One thread at
 * a time per job. */
#ifndef DG_TRANSLATE_PREFIX_H
#define DG_TRANSLATE_PREFIX_H

#include "base/arena.h"
#include "translate/translator_internal.h"

struct dg_prefix {
    /* [n] tokens of the words before the last */
    int32_t *ids;
    uint32_t n;
    /* [n] their positions in `text` */
    struct dg_token *tokens;
    /* normalised */
    const char *text;
    /* of the last word; n_states 0: none, everything is in ids */
    struct dg_spelling spelling;
    /* bytes of the answer for it */
    size_t len;
};

/* Text that is not empty; it may end in white space: then its last word is finished, and another
 * one follows. tokens: tokens with white space between instead, all finished. The memory is the
 * arena's. DG_EINVAL names the field target_prefix. */
int dg_prefix_encode(const struct dg_translator *t, struct dg_arena *arena, const char *text,
    size_t n, bool tokens, struct dg_prefix *out, struct dg_error *err);

#endif
