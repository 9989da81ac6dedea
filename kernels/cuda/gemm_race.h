/* Chooses cuBLASLt's algorithm for each number of rows, where rows must keep their bits. Only
 * gemm.c uses this; one thread at a time per backend. */
#ifndef DG_KERNELS_CUDA_GEMM_RACE_H
#define DG_KERNELS_CUDA_GEMM_RACE_H

#include "kernels/cuda/gemm_problem.h"

/* CHECKED: rows of the largest step or encoder pass that an engine makes by default (dg_ops'
 * busy_rows); larger ones, which an operator may configure, are not checked before the library
 * refuses them. STABLE_ROWS: the number of rows for which the library is asked for an algorithm for
 * all. */
enum { DG_GEMM_SIZES = 5, DG_GEMM_CHECKED = 4096, DG_GEMM_STABLE_ROWS = 64 };

/* Index of the algorithm in algo[DG_GEMM_SIZES] that multiplies M rows. */
size_t dg_gemm_size_of(size_t M);

/* Replace algo[DG_GEMM_SIZES], of which the first serves all numbers of rows, by algorithms that
 * all give the same bits, each the fastest that was found for its numbers of rows. Which bits
 * depends on the library and the device alone. Runs products in memory of its own and waits for
 * them: 0.2 s on an H100. If there is nothing to choose (or with
 * DRAGOMAN_DEBUG=cuda-one-algorithm), they stay as they are. DG_ENOMEM: no memory to find those
 * that give the same bits; timing that has none is left out. */
int dg_gemm_race(struct dg_cuda *cu, cublasLtHandle_t lt, const struct dg_gemm_call *call,
    cublasLtMatmulAlgo_t *algo, struct dg_error *err);

#endif
