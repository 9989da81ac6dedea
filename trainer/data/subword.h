/* BPE dropout (Provilkov et al., 2020): other segmentations of an encoded sentence, drawn by
 * skipping merges. Needs only the ids: the pieces of a word spell its text, and SentencePiece
 * numbers BPE pieces in the order of their merges. Const after open: any thread. */
#ifndef DG_TRAINER_DATA_SUBWORD_H
#define DG_TRAINER_DATA_SUBWORD_H

#include "base/error.h"
#include "tokenizer/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

struct dg_subword;

/* Copies the needed parts of the tokenizer. */
int dg_subword_open(const struct dg_tokenizer *t, struct dg_subword **out, struct dg_error *err);
void dg_subword_close(struct dg_subword *s); /* NULL is fine */

/* Segment ids[n] again, skipping each merge with probability p; random numbers depend only on key.
 * Special pieces, bytes and words that cannot be cut stay as they are. p 0 gives the ids back if
 * the vocabulary is in BPE order. out[] has room for dg_subword_room; returns how many were
 * written. */
size_t dg_subword_draw(
    const struct dg_subword *s, const int32_t *ids, size_t n, double p, uint64_t key, int32_t *out);
/* Upper bound on the number of ids that dg_subword_draw writes for ids[n]. */
size_t dg_subword_room(const struct dg_subword *s, const int32_t *ids, size_t n);

#endif
