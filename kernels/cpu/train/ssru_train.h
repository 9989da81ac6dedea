/* Backward of an SSRU's recurrence (struct dg_ssru_grad), one segment after another. Any thread. */
#ifndef DG_KERNELS_CPU_TRAIN_SSRU_TRAIN_H
#define DG_KERNELS_CPU_TRAIN_SSRU_TRAIN_H

#include "kernels/cpu/train/loops.h"

void dg_ssru_train_backward(const struct dg_loops *l, const struct dg_ssru_grad *g, size_t D);

#endif
