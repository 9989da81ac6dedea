/* The output layer of training in bf16: its product, softmax, label-smoothed loss and both
 * gradients in one walk over the vocabulary. Logits exist a block at a time; only e = exp(logit - a
 * number of the row) is kept of them, in bf16, in the order that the weight's gradient reads.
 * Softmax's 1 / sum is multiplied in afterwards, into the rows of the input, and label smoothing's
 * constant share and the target's are added in fp32: nothing of the vocabulary's size is read
 * twice. One thread at a time; everything runs on the calling thread. */
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
    /* [V] or NULL; -inf: a token that can never occur (struct dg_loss) */
    const float *bias;
    /* [M] */
    const int32_t *target;
    /* as in struct dg_loss */
    float epsilon, scale;
    /* dx [M,D] is written; dw [V,D] and dbias [V] are added to. dx NULL: no gradients; dbias NULL:
     * no bias */
    float *dx, *dw, *dbias;
    size_t lddx;
};

/* Belongs to one thread at a time. */
int dg_output_bf16_open(const struct dg_cpu_bf16 *bf16, const struct dg_loops *loops,
    struct dg_output_bf16 **out, struct dg_error *err);
void dg_output_bf16_close(struct dg_output_bf16 *o); /* NULL is fine */
/* Adds to *sums. DG_ENOMEM: no memory for the scratch of more rows. */
int dg_output_bf16_run(struct dg_output_bf16 *o, const struct dg_output_rows *rows,
    struct dg_loss_sums *sums, struct dg_error *err);

#endif
