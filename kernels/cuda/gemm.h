/* Matrix products: the one boundary behind which a library multiplies. Row-major throughout. One
 * thread at a time per backend. */
#ifndef DG_KERNELS_CUDA_GEMM_H
#define DG_KERNELS_CUDA_GEMM_H

#include "kernels/backend.h"

#include <cuda_runtime_api.h>

struct dg_cuda;

enum dg_gemm_kind {
    DG_GEMM_FORWARD, /* c[M,N] = a[M,K] b[N,K]^T */
    DG_GEMM_INPUT,   /* c[M,K] = a[M,N] b[N,K] */
    DG_GEMM_WEIGHT   /* c[N,K] = a[M,N]^T b[M,K] */
};

/* Products accumulate in fp32, never through TF32. */
struct dg_gemm_call {
    enum dg_gemm_kind kind;
    size_t M, N, K;
    /* as kind says, rows lda, ldb and ldc apart */
    const void *a, *b; /* [M,K] or [M,N]; [N,K] or [M,K] */
    void *c;           /* [M,N], [M,K] or [N,K] */
    size_t lda, ldb, ldc;
    enum dg_type in, out; /* of a and b; of c */
    bool add;             /* c += instead of c = */
    /* FORWARD only: in the product's last step. */
    const void *bias; /* [N] of type out, or NULL */
    bool relu;
    /* Training's last steps. FORWARD with relu: writes which elements it lets through; INPUT: those
     * that did not become 0. [.,mask_ld] bits, mask_ld a multiple of 128. */
    void *mask;
    size_t mask_ld;
    float *sums; /* WEIGHT, out fp32: [N] = the sum of a's rows, or NULL */
    /* A row of c depends on its row of a and on b alone (contract 1): one algorithm for all M. */
    bool row_stable;
};

/* On the backend's device. Closing takes what opening did not finish. */
int dg_cuda_gemm_open(struct dg_cuda *cu, struct dg_error *err);
void dg_cuda_gemm_close(struct dg_cuda *cu);

/* The product, by the library or by our own kernel (DRAGOMAN_CUDA_GEMM=own: always). Does not
 * wait. */
void dg_cuda_multiply(struct dg_cuda *cu, const struct dg_gemm_call *call);
/* By the library alone, with mask and sums. False: it does not have that; nothing was done. */
bool dg_cuda_multiply_ended(struct dg_cuda *cu, const struct dg_gemm_call *call);

#endif
