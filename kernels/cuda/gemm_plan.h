/* What gemm.c and gemm_plan.c share: a product in the library's terms, and the algorithms
 * chosen. One thread at a time per context. */
#ifndef DG_KERNELS_CUDA_GEMM_PLAN_H
#define DG_KERNELS_CUDA_GEMM_PLAN_H

#include "kernels/cuda/gemm.h"

#include <cublasLt.h>

enum { DG_GEMM_WORKSPACE = 32 << 20, DG_GEMM_PLANS = 512 };

/* Everything one call of the library needs. Its order is column-major: a is our b, and c^T the
 * result. */
struct dg_gemm_problem {
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t a, b, c;
    const void *pa, *pb; /* of shapes a and b */
};

/* What an algorithm was chosen for: all that the library may look at. */
struct dg_gemm_key {
    size_t M, N, K; /* M: the largest number of rows; 0: any */
    size_t lda, ldb, ldc;
    int kind, in, out, epilogue, add, stable, whole;
    uint32_t align[4]; /* of the library's a, b, c and of the bias, 16 where there is none */
};

struct dg_gemm_plan {
    struct dg_gemm_key key;
    cublasLtMatmulAlgo_t algo;
    int32_t split; /* parts of the sum */
    bool none;     /* the library has no algorithm */
    bool anchored; /* of a family, and the algorithm is the one for all numbers of rows */
};

struct dg_cuda_gemm_context {
    cublasLtHandle_t lt;
    void *workspace; /* [DG_GEMM_WORKSPACE] bytes */
    bool family;     /* see dg_gemm_find */
    struct dg_gemm_plan plans[DG_GEMM_PLANS];
    size_t n_plans;
};

/* rows: the M to describe. */
cublasStatus_t dg_gemm_describe(
    const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p);

/* The plan for a call, chosen when it is met first, and kept. Row-stable calls have one for every
 * M, without split-K; with `family`, several sizes have their own, of the same kind of kernel.
 * whole: without split-K in any case. DG_EUNSUP: none; DG_EINTERNAL: the library failed. */
int dg_gemm_find(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call, bool whole,
    const struct dg_gemm_plan **out, struct dg_error *err);

/* The library refuses what it had chosen itself: from now on the plan has none. DG_EUNSUP. */
int dg_gemm_give_up(struct dg_cuda_gemm_context *g, const struct dg_gemm_plan *plan);

int dg_gemm_failed(struct dg_error *err, const char *what, cublasStatus_t rc);

#endif
