/* cuBLASLt's products, and queries about its algorithms. Only gemm.c and gemm_race.c use this; one
 * thread at a time per backend. */
#ifndef DG_KERNELS_CUDA_GEMM_PROBLEM_H
#define DG_KERNELS_CUDA_GEMM_PROBLEM_H

#include "kernels/cuda/gemm.h"

#include <cublasLt.h>
#include <stdbool.h>
#include <stdint.h>

enum { DG_GEMM_ASKED = 16 };

/* The product's last step: bias, ReLU, and training's mask or sums. */
cublasLtEpilogue_t dg_gemm_epilogue(const struct dg_gemm_call *call);
/* Multiply by this algorithm. Does not wait. */
cublasStatus_t dg_gemm_run(struct dg_cuda *cu, cublasLtHandle_t lt, const struct dg_gemm_call *call,
    const cublasLtMatmulAlgo_t *algo);
/* Ask for up to DG_GEMM_ASKED algorithms for this many rows, in the library's order of preference.
 * whole: no partial sums. */
cublasStatus_t dg_gemm_ask(cublasLtHandle_t lt, const struct dg_gemm_call *call, bool whole,
    size_t rows, cublasLtMatmulHeuristicResult_t *found, int *n);
/* One configuration number of an algorithm; -1: it has none. */
int32_t dg_gemm_config_of(
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t what);
/* True if the algorithm uses neither split-K nor stream-K. */
bool dg_gemm_is_whole(const cublasLtMatmulAlgo_t *algo);
/* The smallest of the rows from..to that the library refuses the algorithm for; 0: none. */
size_t dg_gemm_first_refused(cublasLtHandle_t lt, const struct dg_gemm_call *call,
    const cublasLtMatmulAlgo_t *algo, size_t from, size_t to);

#endif
