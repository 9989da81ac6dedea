/* A product by the library, or where it has no algorithm by our own kernel; DRAGOMAN_CUDA_GEMM=own
 * asks for ours always, to tell which of the two is at fault. */
#include "kernels/cuda/internal.h"

/* The call as sums over k of a[i,k] b[j,k], with strides. */
static struct dg_k_gemm walk(const struct dg_gemm_call *c)
{
    struct dg_k_gemm g = {.a = c->a,
        .b = c->b,
        .c = c->c,
        .bias = c->bias,
        .ldc = c->ldc,
        .in = c->in,
        .out = c->out,
        .add = c->add,
        .relu = c->relu,
        .ak = 1,
        .ai = c->lda,
        .bj = c->ldb,
        .bk = 1};
    g.rows = c->M;
    g.columns = c->N;
    g.sum = c->K;
    if (c->kind == DG_GEMM_INPUT) {
        g.columns = c->K;
        g.sum = c->N;
        g.bj = 1;
        g.bk = c->ldb;
    } else if (c->kind == DG_GEMM_WEIGHT) {
        g.rows = c->N;
        g.columns = c->K;
        g.sum = c->M;
        g.ai = g.bj = 1;
        g.ak = c->lda;
        g.bk = c->ldb;
    }
    return g;
}

void dg_cuda_multiply(struct dg_cuda *cu, const struct dg_gemm_call *call)
{
    struct dg_error err = {0};
    if (!dg_cuda_alive(cu) || !call->a || !call->b)
        return;
    const int rc =
        cu->own_products ? DG_EUNSUP : dg_cuda_gemm_run(cu->gemm, cu->stream, call, &err);
    if (rc == DG_EUNSUP) {
        const struct dg_k_gemm g = walk(call);
        dg_cuda_ok(cu, dg_launch_gemm(cu->stream, &g), "a product of our own");
    } else if (rc) {
        dg_cuda_fail(cu, &err);
    }
}
