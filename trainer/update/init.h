/* Fresh parameters. Drawn by a counter-based generator from (seed, tensor, element): the same on
 * every machine and for every thread count. One thread at a time per block. */
#ifndef DG_TRAINER_UPDATE_INIT_H
#define DG_TRAINER_UPDATE_INIT_H

#include "model/param_block.h"
#include "weights/weights.h"

#include <stdint.h>

/* Matrices Xavier uniform (Glorot & Bengio 2010); query, key and value each as the matrix they are,
 * though stored as one. Embeddings N(0, 1/D), learned positions N(0, 0.02^2), gains 1, biases 0. */
void dg_init_random(struct dg_param_block *b, uint64_t seed);

/* A parameter as fp32, caller frees: tensor i of dg_params_info as dg_init_random makes it. NULL
 * when memory is out. */
float *dg_init_tensor(const struct dg_config *c, size_t i, uint64_t seed);
/* Element i of a tensor of a weights file, in its form with the most bits. */
struct dg_stored;
const struct dg_stored *dg_init_best_rows(const struct dg_tensor *t);
float dg_init_element(const struct dg_stored *s, size_t K, size_t i);

/* A trained model to begin with. */
struct dg_init_from {
    const struct dg_weights *weights;
    /* its layers; a model with other numbers of them takes each from the same relative depth */
    uint32_t enc_layers, dec_layers;
};

/* The tensor of `from` that the tensor `name` of a model of configuration `to` begins with. Layer i
 * of n begins with layer round(i * (m - 1) / (n - 1)) of m, so that first and last stay first and
 * last; the only one of n = 1 with the last. name: without layers, or "enc.I.REST", "dec.I.REST".
 */
void dg_init_origin(
    const struct dg_init_from *from, const struct dg_config *to, const char *name, char out[64]);

/* Parameters of a weights file, converted to fp32. DG_EFORMAT names a tensor that is missing or
 * misshapen. */
int dg_init_from_weights(
    struct dg_param_block *b, const struct dg_init_from *from, struct dg_error *err);

#endif
