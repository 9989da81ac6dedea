/* How fast training's products are on this machine: bf16 is twice as fast as fp32 on some
 * processors that have it, and half as fast on others, whose vdpbf16ps runs on one port, every
 * second cycle; with AMX it is several times as fast. */
#include "base/clock.h"
#include "kernels/cpu/internal.h"
#include "kernels/cpu/train/gemm_train.h"
#include "kernels/train.h"

#include <stdlib.h>

/* A small model's first feed-forward matrix. */
enum { M = 512, N = 1024, K = 256, RUNS = 4 };

/* Returns the speed of the fastest of RUNS runs, the first of which also wakes up the vector
 * units. */
static double measure(const struct dg_gemm_train *gemm, void *ctx, const struct dg_train_gemm *g)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < RUNS; i++) {
        const uint64_t start = dg_clock_ns();
        gemm->forward(ctx, g);
        const uint64_t took = dg_clock_ns() - start;
        least = took < least ? took : least;
    }
    return (double)M * N * K * 1e9 / (double)(least ? least : 1);
}

double dg_cpu_train_speed(struct dg_backend *be, enum dg_type type)
{
    const struct dg_cpu *cpu = dg_cpu_of(be);
    struct dg_gemm_bf16 *bf16 = NULL;
    if (type == DG_BF16 && (!cpu->bf16 || dg_gemm_bf16_open(cpu->bf16, &bf16, NULL)))
        return 0;
    if (type == DG_F32 && !dg_cpu_train_take_room(1)) /* its first product would wait forever */
        return 0;
    dg_gemm_fp32_init();
    const size_t n = (size_t)M * K + (size_t)N * K;
    float *in = malloc(n * sizeof *in), *out = malloc((size_t)M * N * sizeof *out);
    double speed = 0;
    if (in && out) {
        for (size_t i = 0; i < n; i++)
            in[i] = (float)(i % 13) - 6;
        const struct dg_train_gemm g = {.M = M,
            .N = N,
            .K = K,
            .a = in,
            .lda = K,
            .b = in + (size_t)M * K,
            .ldb = K,
            .c = out,
            .ldc = N};
        speed = measure(type == DG_BF16 ? &dg_gemm_bf16 : &dg_gemm_fp32, bf16, &g);
    }
    dg_gemm_bf16_close(bf16);
    free(in);
    free(out);
    return speed;
}
