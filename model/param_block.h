/* All parameters of a model, or their gradients, in one flat block of device memory, with a struct
 * dg_params of trainable weights that refer to it. The optimiser sees the block, the layers see the
 * weights. Weights may be read by any worker of the same kind; one thread at a time writes. */
#ifndef DG_MODEL_PARAM_BLOCK_H
#define DG_MODEL_PARAM_BLOCK_H

#include "kernels/train.h"
#include "model/params.h"

struct dg_param_block {
    /* [n] device memory */
    float *data;
    /* tensors begin at multiples of 16 floats; gaps stay zero */
    size_t n;
    struct dg_params params;
    struct dg_config config;
    /* borrowed */
    struct dg_train *train;
};

/* Elements a block of this configuration has. */
size_t dg_param_block_size(const struct dg_config *c);
/* Start of the i-th tensor of dg_params_info in any block of this configuration. */
size_t dg_param_block_offset(const struct dg_config *c, size_t i);

/* Open a block of zeros. */
int dg_param_block_open(const struct dg_config *c, struct dg_train *train,
    struct dg_param_block **out, struct dg_error *err);
void dg_param_block_close(struct dg_param_block *b); /* NULL is fine */

#endif
