#include "kernels/cpu/train/gemm_train.h"
#include "kernels/train.h"

#include <cblas.h>
#include <stdlib.h>

/* OpenBLAS wants int sizes; every dimension of a model and of a micro-batch is far below that. */

void dg_gemm_fp32_init(void)
{
    openblas_set_num_threads(1);
}

const char *dg_cpu_train_library(const char **overruled_by)
{
    static const char *const names[] = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"};
    *overruled_by = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !*overruled_by; i++)
        if (getenv(names[i]) && *getenv(names[i]))
            *overruled_by = names[i];
    return openblas_get_corename();
}

static void forward(void *ctx, size_t M, size_t N, size_t K, const float *x, size_t ldx,
    const float *w, float *y, size_t ldy)
{
    (void)ctx;
    if (M && N)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)M, (int)N, (int)K, 1.0f, x,
            (int)ldx, w, (int)K, 0.0f, y, (int)ldy);
}

static void input(void *ctx, size_t M, size_t N, size_t K, const float *dy, size_t lddy,
    const float *w, bool add, float *dx, size_t lddx)
{
    (void)ctx;
    if (M && K)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)M, (int)K, (int)N, 1.0f, dy,
            (int)lddy, w, (int)K, add ? 1.0f : 0.0f, dx, (int)lddx);
}

static void weight(void *ctx, size_t M, size_t N, size_t K, const float *dy, size_t lddy,
    const float *x, size_t ldx, float *dw)
{
    (void)ctx;
    if (M && N)
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)N, (int)K, (int)M, 1.0f, dy,
            (int)lddy, x, (int)ldx, 1.0f, dw, (int)K);
}

const struct dg_gemm_train dg_gemm_fp32 = {.forward = forward, .input = input, .weight = weight};
