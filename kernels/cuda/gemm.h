/* Matrix products: the only interface through which a library multiplies. Row-major throughout. One
 * thread at a time per backend. */
#ifndef DG_KERNELS_CUDA_GEMM_H
#define DG_KERNELS_CUDA_GEMM_H

#include "kernels/cuda/launch.h"

enum dg_gemm_kind {
    DG_GEMM_FORWARD, /* c[M,N] = a[M,K] b[N,K]^T */
    DG_GEMM_INPUT,   /* c[M,K] = a[M,N] b[N,K] */
    DG_GEMM_WEIGHT   /* c[N,K] = a[M,N]^T b[M,K] */
};

/* Products accumulate in fp32, never through TF32. */
struct dg_gemm_call {
    enum dg_gemm_kind kind;
    size_t M, N, K;
    /* as kind says; a and b of one type */
    struct dg_k_rows a, b, c;
    /* c += instead of c = */
    bool add;
    /* FORWARD only, in the product's last step: [N] of c's type, or NULL */
    const void *bias;
    bool relu;
    /* Training's last steps, or none. mask: FORWARD with relu writes which elements it lets
     * through, INPUT reads which elements ReLU let through; one bit each, rows a multiple of 128
     * bits apart. sums: WEIGHT, c fp32: [N] = the sum of a's rows. */
    struct dg_k_rows mask;
    float *sums;
    /* A row of c depends on its row of a and on b alone (contract 1): one algorithm for all M. */
    bool row_stable;
};

/* Open on the backend's device. Closing also works after an open that failed halfway. */
int dg_cuda_gemm_open(struct dg_cuda *cu, struct dg_error *err);
void dg_cuda_gemm_close(struct dg_cuda *cu);

/* Multiply, by the library or by our own kernel (DRAGOMAN_CUDA_GEMM=own: always). Does not wait. */
void dg_cuda_multiply(struct dg_cuda *cu, const struct dg_gemm_call *call);
/* Multiply by the library alone, with mask and sums. False: it has no such product; nothing was
 * done. */
bool dg_cuda_multiply_by_library(struct dg_cuda *cu, const struct dg_gemm_call *call);

#endif
