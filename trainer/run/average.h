/* The mean of several checkpoints' parameters (paper section 6.1), or of their averaged weights if
 * they have them. One thread at a time. */
#ifndef DG_TRAINER_RUN_AVERAGE_H
#define DG_TRAINER_RUN_AVERAGE_H

#include "trainer/run/checkpoint_dir.h"

/* out[n] = mean over the checkpoints of these steps, summed in double in the order of `steps`.
 * DG_EFORMAT when a checkpoint has another number of elements; DG_ENOTFOUND when count is 0. */
int dg_average(const struct dg_checkpoint_dir *k, const uint64_t *steps, size_t count, float *out,
    size_t n, struct dg_error *err);

#endif
