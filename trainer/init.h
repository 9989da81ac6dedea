/* Fresh parameters. Drawn by a counter-based generator from (seed, tensor, element): the same on
 * every machine and for every thread count. One thread at a time per block. */
#ifndef DG_TRAINER_INIT_H
#define DG_TRAINER_INIT_H

#include "model/param_block.h"
#include "weights/weights.h"

#include <stdint.h>

/* Matrices Xavier uniform (Glorot & Bengio 2010); query, key and value each as the matrix they are,
 * though stored as one. Embeddings N(0, 1/D), learned positions N(0, 0.02^2), gains 1, biases 0. */
int dg_init_random(struct dg_param_block *b, uint64_t seed, struct dg_error *err);

/* Parameters of a weights file, converted to fp32. DG_EFORMAT names a tensor that is missing or
 * misshapen. */
int dg_init_from_weights(
    struct dg_param_block *b, const struct dg_weights *w, struct dg_error *err);

#endif
