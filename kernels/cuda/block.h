/* Blocks of the trainer (block.c). Only kernels/cuda includes this. One thread at a time per
 * backend, as backend.h says. */
#ifndef DG_KERNELS_CUDA_BLOCK_H
#define DG_KERNELS_CUDA_BLOCK_H

#include "kernels/cuda/internal.h"
#include "kernels/cuda/launch_train.h"

int dg_cuda_block_new(struct dg_cuda *cu, size_t n, float **out, struct dg_error *err);
void dg_cuda_block_free(struct dg_cuda *cu, float *data); /* NULL is fine */

/* Whether p[n] lies in a block of this device. */
bool dg_cuda_block_holds(struct dg_cuda *cu, const float *p, size_t n);
/* p[n], a part of a block, was written: its 16-bit copy, if there is one, follows. */
void dg_cuda_block_changed(struct dg_cuda *cu, const float *p, size_t n);
/* The 16-bit copy of what p points to, or NULL when nobody asked for one yet. */
void *dg_cuda_block_shadow(struct dg_cuda *cu, const float *p);

#endif
