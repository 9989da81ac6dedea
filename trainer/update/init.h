/* Initial parameters: random, or from a trained model. Random ones are drawn by a counter-based
 * generator from (seed, tensor, element): the same on every machine and for every thread count. One
 * thread at a time per block. */
#ifndef DG_TRAINER_UPDATE_INIT_H
#define DG_TRAINER_UPDATE_INIT_H

#include "model/param_block.h"
#include "weights/weights.h"

#include <stdint.h>

/* Matrices are Xavier uniform (Glorot & Bengio 2010); query, key and value each count as a matrix
 * of their own, though they are stored as one. Embeddings and learned positions are N(0, 1/D),
 * gains 1, biases 0. */
void dg_init_random(struct dg_param_block *b, uint64_t seed);

/* Tensor i of dg_params_info as dg_init_random makes it, in fp32. Caller frees. */
float *dg_init_tensor(const struct dg_config *c, size_t i, uint64_t seed);
/* The row-major form of a weights file's tensor with the most bits, and its element i as fp32. */
struct dg_stored;
const struct dg_stored *dg_init_best_rows(const struct dg_tensor *t);
float dg_init_element(const struct dg_stored *s, size_t K, size_t i);

/* A trained model to start from. */
struct dg_init_from {
    const struct dg_weights *weights;
    /* its layers; a model with a different number takes each layer from the same relative depth */
    uint32_t enc_layers, dec_layers;
};

/* The tensor of `from` that initialises the tensor `name` of a model of configuration `to`. Layer i
 * of n comes from layer round(i * (m - 1) / (n - 1)) of m, so that first and last stay first and
 * last; a single layer (n = 1) comes from the last. name: without layers, or "enc.I.REST",
 * "dec.I.REST". */
void dg_init_origin(
    const struct dg_init_from *from, const struct dg_config *to, const char *name, char out[64]);

/* Fill b with the parameters of a weights file, converted to fp32. DG_EFORMAT names a tensor that
 * is missing or has the wrong shape. */
int dg_init_from_weights(
    struct dg_param_block *b, const struct dg_init_from *from, struct dg_error *err);

#endif
