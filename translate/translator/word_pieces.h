/* Which pieces of a vocabulary begin, continue or precede words. Const after open: any thread.
 * Private to translate/. */
#ifndef DG_TRANSLATE_TRANSLATOR_WORD_PIECES_H
#define DG_TRANSLATE_TRANSLATOR_WORD_PIECES_H

#include "base/error.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>

/* Bits by id: pieces that continue a word, pieces after which a word may begin without a blank, and
 * pieces that begin one. */
struct dg_word_pieces {
    uint64_t *continues, *opens, *begins;
};

/* Classify the pieces of vocabulary t. Close also what failed to open. */
int dg_word_pieces_open(
    const struct dg_tokenizer *t, struct dg_word_pieces *out, struct dg_error *err);
void dg_word_pieces_close(struct dg_word_pieces *w);

#endif
