/* One update: the batch's gradient from all workers, summed in a fixed order over all ranks,
 * clipped, and Adam (paper section 5.3), with dropout and label smoothing (5.4). Bit-identical for
 * the same instruction set, thread count and ranks. One caller at a time. */
#ifndef DG_TRAINER_UPDATE_STEP_H
#define DG_TRAINER_UPDATE_STEP_H

#include "trainer/update/adam.h"
#include "trainer/update/exchange.h"

struct dg_step_options {
    /* largest gradient norm; 0: off */
    double clip;
    double label_smoothing, dropout, attention_dropout, relu_dropout;
    uint64_t seed, micro_tokens;
    /* guided alignment; NULL: none */
    const struct dg_guidance *guide;
    /* sums gradients with other ranks; NULL: a single process */
    struct dg_exchange *exchange;
};

struct dg_step_result {
    /* over the whole batch */
    struct dg_loss_sums sums;
    /* before clipping */
    double grad_norm;
};

struct dg_step_input {
    /* learning rate */
    double rate;
    const struct dg_dataset *data;
    const struct dg_batch *batch;
};

/* Run update number optimizer->step + 1. DG_EINTERNAL when the loss or the gradient is not finite
 * or the loss is beyond recovery: parameters and moments then stay as they were. */
int dg_step(struct dg_crew *ws, struct dg_adam_state *optimizer, const struct dg_step_options *o,
    const struct dg_step_input *in, struct dg_step_result *out, struct dg_error *err);

#endif
