/* Training's matrix products, by OpenBLAS on the calling thread. The only place that knows a BLAS.
 * Any thread. Not row-stable (contract 1): the server never links this. Same shapes, same bits. */
#ifndef DG_KERNELS_CPU_TRAIN_GEMM_TRAIN_H
#define DG_KERNELS_CPU_TRAIN_GEMM_TRAIN_H

#include <stddef.h>

/* Keep the library from starting threads of its own; call once before the others. */
void dg_gemm_train_init(void);

/* y[M,N] = x[M,K] w[N,K]^T; the signature is dg_cpu_gemm_fn's. */
void dg_gemm_forward(void *ctx, size_t M, size_t N, size_t K, const float *x, size_t ldx,
    const float *w, float *y, size_t ldy);

/* dx[M,K] = beta dx + dy[M,N] w[N,K] */
void dg_gemm_input(size_t M, size_t N, size_t K, const float *dy, size_t lddy, const float *w,
    float beta, float *dx, size_t lddx);

/* dw[N,K] += dy[M,N]^T x[M,K] */
void dg_gemm_weight(size_t M, size_t N, size_t K, const float *dy, size_t lddy, const float *x,
    size_t ldx, float *dw);

#endif
