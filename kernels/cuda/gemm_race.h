/* Which of cuBLASLt's algorithms multiplies how many rows, where rows must keep their bits. For
 * gemm.c alone; one thread at a time per backend. */
#ifndef DG_KERNELS_CUDA_GEMM_RACE_H
#define DG_KERNELS_CUDA_GEMM_RACE_H

#include "kernels/cuda/gemm_problem.h"

/* CHECKED: rows of the largest step or encoder pass that an engine makes by itself (dg_ops'
 * busy_rows); what is larger, an operator's wish, is seen when it is refused. STABLE_ROWS: for so
 * many the library is asked for an algorithm for all. */
enum { DG_GEMM_SIZES = 5, DG_GEMM_CHECKED = 4096, DG_GEMM_STABLE_ROWS = 64 };

/* Which of algo[DG_GEMM_SIZES] multiplies M rows. */
size_t dg_gemm_size_of(size_t M);

/* algo[DG_GEMM_SIZES], of which the first serves all numbers of rows, become algorithms that give
 * one another's bits, each the fastest that was found for its numbers of rows. Runs products in
 * memory of its own and waits for them: 0.2 s on an H100. Where there is nothing to choose, or no
 * means to (DRAGOMAN_DEBUG's cuda-one-algorithm is one), they stay as they are. */
void dg_gemm_race(struct dg_cuda *cu, cublasLtHandle_t lt, const struct dg_gemm_call *call,
    const struct dg_gemm_wish *wish, cublasLtMatmulAlgo_t *algo);

#endif
