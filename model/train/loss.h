/* The pre-softmax product, the loss and their backward, in one op if the device has it, otherwise a
 * chunk of rows at a time: the full logits [M,V] never exist. One thread at a time, the tape's. */
#ifndef DG_MODEL_TRAIN_LOSS_H
#define DG_MODEL_TRAIN_LOSS_H

#include "model/train/tape_internal.h"

/* x[T,D] is the decoder's output. Adds to *sums; unless grads is NULL, writes its gradient to
 * t->scratch.dx and adds those of out_w and out_b. DG_ENOMEM. */
int dg_loss_output(struct dg_tape *t, const struct dg_params *w, struct dg_params *grads,
    const struct dg_objective *o, struct dg_rows x, struct dg_loss_sums *sums,
    struct dg_error *err);

#endif
