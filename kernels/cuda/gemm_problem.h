/* One call of cuBLASLt described in its own words: shapes, types, last step. For gemm.c alone. One
 * thread at a time per backend. */
#ifndef DG_KERNELS_CUDA_GEMM_PROBLEM_H
#define DG_KERNELS_CUDA_GEMM_PROBLEM_H

#include "kernels/cuda/gemm.h"

#include <cublasLt.h>

/* Everything one call of the library needs. Its a is our b, its c our c^T. */
struct dg_gemm_problem {
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t a, b, c;
};

/* The product's last step: bias, ReLU, and what training does there. */
cublasLtEpilogue_t dg_gemm_problem_epilogue(const struct dg_gemm_call *call);
/* The shapes, for so many rows: width and height of our b, a and c. */
void dg_gemm_problem_lay_out(
    const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p);
/* All of it, for so many rows. */
cublasStatus_t dg_gemm_problem_describe(
    const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p);

#endif
