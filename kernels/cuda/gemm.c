/* cuBLASLt. Row-major c[M,N] = a[M,K] b[N,K]^T is the column-major product c^T = b a^T: the
 * library's m is N, its n is M, and a row-major matrix is the transpose of a column-major one of
 * the same bytes. Which algorithm: gemm_algorithm.c. */
#include "kernels/cuda/gemm_algorithm.h"

#include <stdio.h>
#include <stdlib.h>

int dg_gemm_failed(struct dg_error *err, const char *what, cublasStatus_t rc)
{
    return dg_error_set(
        err, DG_EINTERNAL, "cuBLASLt failed at %s: %s", what, cublasLtGetStatusName(rc));
}

void dg_cuda_gemm_version(char *text, size_t size)
{
    snprintf(text, size, "cuBLASLt %zu", cublasLtGetVersion());
}

int dg_cuda_gemm_open(struct dg_cuda_gemm_context **out, struct dg_error *err)
{
    struct dg_cuda_gemm_context *g = calloc(1, sizeof *g);
    if (!g)
        return dg_error_set(err, DG_ENOMEM, "no memory for matrix products");
    const cublasStatus_t rc = cublasLtCreate(&g->lt);
    if (rc != CUBLAS_STATUS_SUCCESS) {
        free(g);
        return dg_gemm_failed(err, "its start", rc);
    }
    if (cudaMalloc(&g->workspace, DG_GEMM_WORKSPACE) != cudaSuccess) {
        cudaGetLastError();
        dg_cuda_gemm_close(g);
        return dg_error_set(
            err, DG_ENOMEM, "no device memory for the workspace of matrix products");
    }
    *out = g;
    return DG_OK;
}

void dg_cuda_gemm_close(struct dg_cuda_gemm_context *g)
{
    if (!g)
        return;
    cudaFree(g->workspace);
    cublasLtDestroy(g->lt);
    free(g);
}

unsigned dg_cuda_gemm_given_up(const struct dg_cuda_gemm_context *g)
{
    return g->n_given_up;
}

size_t dg_cuda_gemm_bytes(void)
{
    return DG_GEMM_WORKSPACE;
}

/* What each element adds up. */
static size_t summed(const struct dg_gemm_call *call)
{
    return call->kind == DG_GEMM_FORWARD ? call->K
           : call->kind == DG_GEMM_INPUT ? call->N
                                         : call->M;
}

/* Split-K kernels of cuBLASLt 12 and 13 were seen on an H100 to leave out the end of a sum of such
 * a length, without an error (github.com/facebookexperimental/triton, pull request 2767). */
static bool may_lose_the_end(int32_t split, size_t k)
{
    const size_t parts = (size_t)split, tail = k % 64;
    return split > 1 && tail && tail < parts && k / 64 % parts == 0;
}

static cublasStatus_t multiply(struct dg_cuda_gemm_context *g, cudaStream_t stream,
    const struct dg_gemm_call *call, const struct dg_gemm_plan *plan)
{
    const float one = 1, beta = call->add ? 1 : 0;
    struct dg_gemm_problem p;
    const cublasStatus_t rc = dg_gemm_describe(call, call->M, &p);
    return rc ? rc
              : cublasLtMatmul(g->lt, &p.desc, &one, p.pa, &p.a, p.pb, &p.b, &beta, call->c, &p.c,
                    call->c, &p.c, &plan->algo, g->workspace, DG_GEMM_WORKSPACE, stream);
}

static bool refused(cublasStatus_t rc)
{
    return rc == CUBLAS_STATUS_NOT_SUPPORTED || rc == CUBLAS_STATUS_INVALID_VALUE;
}

int dg_cuda_gemm_run(struct dg_cuda_gemm_context *g, cudaStream_t stream,
    const struct dg_gemm_call *call, struct dg_error *err)
{
    const struct dg_gemm_plan *plan;
    int code = dg_gemm_find(g, call, false, &plan, err);
    if (!code && may_lose_the_end(plan->split, summed(call)))
        code = dg_gemm_find(g, call, true, &plan, err);
    if (code)
        return code;
    cublasStatus_t rc = multiply(g, stream, call, plan);
    if (refused(rc) && !call->row_stable) { /* chosen for the most rows of its bucket */
        if ((code = dg_gemm_find(g, call, true, &plan, err)))
            return code;
        rc = multiply(g, stream, call, plan);
    }
    if (refused(rc))
        return dg_gemm_give_up(g, plan, call->M);
    return rc ? dg_gemm_failed(err, "a product", rc) : DG_OK;
}
