/* Sentences that are written in capitals throughout. A model has seen few of them, so they are read
 * as ordinary words and the answer is put in capitals again. Private to translate/. Any
 * thread, one buffer per caller. */
#ifndef DG_TRANSLATE_ENCODE_CAPITALS_H
#define DG_TRANSLATE_ENCODE_CAPITALS_H

#include "base/buffer.h"
#include "text/glossary.h"
#include "tokenizer/tokenizer.h"

/* Append s[n], which is in capitals, in the letter case that the vocabulary knows best: of "the",
 * "The" and "THE" the form with the fewest tokens, then the most frequent one (smallest ids). The
 * first word keeps its capital. A word that matches an entry of the glossary (NULL: none) only when
 * written in capitals ("WHO") stays in capitals. White space does not change, so word numbers stay
 * valid. */
int dg_capitals_read(const struct dg_tokenizer *t, const char *language,
    const struct dg_glossary *glossary, const char *s, size_t n, struct dg_buffer *out,
    struct dg_error *err);

#endif
