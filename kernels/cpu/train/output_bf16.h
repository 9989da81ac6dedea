/* The output layer of training in bf16: its product, softmax, label-smoothed loss and both
 * gradients in one walk over the vocabulary. Logits exist a block at a time; what is kept of them
 * is e = exp(logit - a number of the row), in bf16, in the order that the weight's gradient reads.
 * Softmax's 1 / sum is multiplied in afterwards, into the rows of the input, and label smoothing's
 * constant share and the target's are added in fp32: nothing of the vocabulary's size is read
 * twice. One thread at a time; ops split over the backend's own threads. */
#ifndef DG_KERNELS_CPU_TRAIN_OUTPUT_BF16_H
#define DG_KERNELS_CPU_TRAIN_OUTPUT_BF16_H

#include "kernels/cpu/bf16.h"
#include "kernels/cpu/train/loops.h"

struct dg_output_bf16;

/* Logits x w^T + bias of M rows. */
struct dg_output_rows {
    size_t M, V, D;
    /* [M,D] */
    const float *x;
    size_t ldx;
    /* [V,D] */
    const float *w;
    /* [V] or NULL; -inf: a token that can never come (struct dg_loss) */
    const float *bias;
    /* [M] */
    const int32_t *target;
    /* as in struct dg_loss */
    float epsilon, scale;
    /* [M,D], written; [V,D] and [V], added to; dx NULL: none of them; dbias NULL: no bias */
    float *dx, *dw, *dbias;
    size_t lddx;
};

/* Belongs to one thread at a time. */
int dg_output_bf16_open(const struct dg_cpu_bf16 *bf16, const struct dg_loops *loops,
    struct dg_output_bf16 **out, struct dg_error *err);
void dg_output_bf16_close(struct dg_output_bf16 *o); /* NULL is fine */
/* Adds to *sums. DG_ENOMEM when scratch for more rows cannot be had. */
int dg_output_bf16_run(struct dg_output_bf16 *o, const struct dg_output_rows *rows,
    struct dg_loss_sums *sums, struct dg_error *err);

#endif
