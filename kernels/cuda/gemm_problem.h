/* A product as described to cuBLASLt, and queries about the library's algorithms. Only gemm.c and
 * gemm_race.c use this; one thread at a time per backend. */
#ifndef DG_KERNELS_CUDA_GEMM_PROBLEM_H
#define DG_KERNELS_CUDA_GEMM_PROBLEM_H

#include "kernels/cuda/gemm.h"

#include <cublasLt.h>
#include <stdbool.h>
#include <stdint.h>

enum { DG_GEMM_ASKED = 16 };

/* One call of the library: its a is our b, its c is our c^T. */
struct dg_gemm_problem {
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t a, b, c;
};

/* Requirements on an algorithm. whole: each sum in one piece. align: alignment of the library's a,
 * b and c. */
struct dg_gemm_wish {
    bool whole;
    uint32_t align[3];
};

/* The product's last step: bias, ReLU, and training's mask or sums. */
cublasLtEpilogue_t dg_gemm_epilogue(const struct dg_gemm_call *call);
/* Fill in the shapes for this many rows: width and height of our b, a and c. */
void dg_gemm_lay_out(const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p);
/* Fill in all of *p for this many rows. */
cublasStatus_t dg_gemm_describe(
    const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p);
/* Ask for up to DG_GEMM_ASKED algorithms for this many rows, in the library's order of
 * preference. */
cublasStatus_t dg_gemm_ask(cublasLtHandle_t lt, const struct dg_gemm_call *call,
    const struct dg_gemm_wish *wish, size_t rows, cublasLtMatmulHeuristicResult_t *found, int *n);
/* One configuration number of an algorithm; -1: it has none. */
int32_t dg_gemm_config_of(
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t what);
/* True if the algorithm uses neither split-K nor stream-K. */
bool dg_gemm_is_whole(const cublasLtMatmulAlgo_t *algo);
/* The smallest of the rows from..to that the library refuses the algorithm for; 0: none. */
size_t dg_gemm_first_refused(cublasLtHandle_t lt, const struct dg_gemm_call *call,
    const cublasLtMatmulAlgo_t *algo, size_t from, size_t to);

#endif
