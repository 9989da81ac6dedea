#include "kernels/cpu/train/gemm_train.h"

#include <cblas.h>

/* OpenBLAS wants int sizes; every dimension of a model and of a micro-batch is far below that. */

void dg_gemm_train_init(void)
{
    openblas_set_num_threads(1);
}

void dg_gemm_forward(void *ctx, size_t M, size_t N, size_t K, const float *x, size_t ldx,
    const float *w, float *y, size_t ldy)
{
    (void)ctx;
    if (M && N)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)M, (int)N, (int)K, 1.0f, x,
            (int)ldx, w, (int)K, 0.0f, y, (int)ldy);
}

void dg_gemm_input(size_t M, size_t N, size_t K, const float *dy, size_t lddy, const float *w,
    float beta, float *dx, size_t lddx)
{
    if (M && K)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)M, (int)K, (int)N, 1.0f, dy,
            (int)lddy, w, (int)K, beta, dx, (int)lddx);
}

void dg_gemm_weight(size_t M, size_t N, size_t K, const float *dy, size_t lddy, const float *x,
    size_t ldx, float *dw)
{
    if (M && N)
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)N, (int)K, (int)M, 1.0f, dy,
            (int)lddy, x, (int)ldx, 1.0f, dw, (int)K);
}
