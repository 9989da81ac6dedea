/* Sentences that are written in capitals throughout. A model has seen few of them, so they are read
 * as ordinary words and the answer is put in capitals again. Private to translate/. Any
 * thread, one buffer per caller. */
#ifndef DG_TRANSLATE_CAPITALS_H
#define DG_TRANSLATE_CAPITALS_H

#include "base/buffer.h"
#include "tokenizer/tokenizer.h"

/* Append s[n], which is in capitals, as the vocabulary knows its words: of "the", "The" and "THE"
 * the one that takes the fewest tokens, and of equals the most frequent (smallest ids). The first
 * word keeps its capital. White space does not change, so words keep their numbers. */
int dg_capitals_read(const struct dg_tokenizer *t, const char *language, const char *s, size_t n,
    struct dg_buffer *out, struct dg_error *err);
/* Put `text` from `from` on in capitals; ends[n] (bytes of the whole text,
 * ascending) move along. */
int dg_capitals_write(const char *language, struct dg_buffer *text, size_t from, size_t *ends,
    size_t n, struct dg_error *err);

#endif
