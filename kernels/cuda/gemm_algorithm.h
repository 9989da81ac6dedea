/* What gemm.c and gemm_algorithm.c share: a product in the library's terms, and the algorithms
 * chosen. One thread at a time per context. */
#ifndef DG_KERNELS_CUDA_GEMM_ALGORITHM_H
#define DG_KERNELS_CUDA_GEMM_ALGORITHM_H

#include "kernels/cuda/gemm.h"

#include <cublasLt.h>

/* CHECKED: rows of the largest step or encoder pass that an engine makes by itself (dg_ops'
 * busy_rows); what is larger, an operator's wish, is seen when it is refused. */
enum { DG_GEMM_WORKSPACE = 32 << 20, DG_GEMM_PLANS = 512, DG_GEMM_CHECKED = 4096 };

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
    int32_t split;  /* parts of the sum */
    bool none;      /* the library has no algorithm */
    size_t refused; /* the number of rows that it refuses, if it is that */
};

struct dg_cuda_gemm_context {
    cublasLtHandle_t lt;
    void *workspace; /* [DG_GEMM_WORKSPACE] bytes */
    struct dg_gemm_plan plans[DG_GEMM_PLANS];
    size_t n_plans;
    unsigned n_given_up; /* dg_gemm_give_up's */
};

/* rows: the M to describe. lay_out: the shapes alone, of a problem that was described before. */
void dg_gemm_lay_out(const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p);
cublasStatus_t dg_gemm_describe(
    const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p);

/* The plan for a call, chosen when it is met first, and kept. Row-stable calls have one for every
 * M, without split-K. whole: without split-K in any case. DG_EUNSUP: none; DG_EINTERNAL: the
 * library failed. */
int dg_gemm_find(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call, bool whole,
    const struct dg_gemm_plan **out, struct dg_error *err);

/* The library refuses what it had chosen itself, for so many rows: from now on the plan has none.
 * DG_EUNSUP. */
int dg_gemm_give_up(struct dg_cuda_gemm_context *g, const struct dg_gemm_plan *plan, size_t rows);

int dg_gemm_failed(struct dg_error *err, const char *what, cublasStatus_t rc);

#endif
