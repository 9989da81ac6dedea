/* The flat kernels of an update: sums of blocks, which also convert a block to 16 bits, the
 * gradient's norm and Adam. Each element is read and written once.
 *
 * Expected on an H200 at 3.6 TB/s, base, P = 63 million (calculated, not measured): adam 30 P = 1.9
 * GB, 525 us, with the moving average 38 P = 2.4 GB, 665 us; squares 4 P = 252 MB, 70 us; sum to 16
 * bits 6 P = 378 MB, 105 us, once a run; add_rows 24 M = 0.6 MB, 3 us. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch_train.h"

#include <math.h>

enum { THREADS = 256, BATCH = 8 }; /* BATCH: loads that a thread has in flight */

static __global__ void sum(struct dg_k_sum k)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < k.n;
         i += (size_t)gridDim.x * THREADS)
        dg_store(k.out, k.type, i, k.more ? k.x[i] + k.more[i] : k.x[i]);
}

/* Number of parts, each made by a block: few for few elements, otherwise as many as a device has
 * room for. It depends on n alone, and so does the order of the sum. */
static unsigned square_parts(size_t n)
{
    const size_t parts = (n + THREADS * BATCH - 1) / (THREADS * BATCH), most = DG_SQUARE_PARTS;
    return (unsigned)(parts < most ? parts : most);
}

static __global__ void __launch_bounds__(THREADS) squares(struct dg_k_square k)
{
    __shared__ double warps[THREADS / DG_WARP];
    const size_t step = (size_t)gridDim.x * THREADS;
    double s = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < k.n; i += step * BATCH) {
        float x[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; u++)
            x[u] = i + u * step < k.n ? k.x[i + u * step] : 0.0f;
#pragma unroll
        for (int u = 0; u < BATCH; u++)
            s += (double)x[u] * x[u];
    }
    s = dg_block_sum<THREADS / DG_WARP>(s, warps);
    if (threadIdx.x == 0)
        k.parts[blockIdx.x] = s;
}

/* One block: the rows are few compared with what they were made from. */
static __global__ void __launch_bounds__(THREADS) add_rows(struct dg_k_add_rows k)
{
    __shared__ double warps[THREADS / DG_WARP];
    for (uint32_t n = 0; n < k.N; n++) {
        double s = 0;
        for (size_t m = threadIdx.x; m < k.M; m += THREADS)
            s += k.rows[m * k.N + n];
        s = dg_block_sum<THREADS / DG_WARP>(s, warps);
        if (threadIdx.x == 0)
            k.sums[n] += s;
        __syncthreads();
    }
}

static __global__ void adam(struct dg_k_adam k)
{
    const struct dg_adam op = k.op;
    const float keep = 1.0f - op.lr * op.decay;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < k.n;
         i += (size_t)gridDim.x * THREADS) {
        const float g = op.g[i] * op.grad_scale;
        const float m = op.beta1 * op.m[i] + (1.0f - op.beta1) * g;
        const float v = op.beta2 * op.v[i] + (1.0f - op.beta2) * g * g;
        const float p = op.p[i] * keep - k.step * m / (sqrtf(v) * k.root + op.eps);
        op.m[i] = m;
        op.v[i] = v;
        op.p[i] = p;
        if (op.ema)
            op.ema[i] = op.ema_decay * op.ema[i] + (1.0f - op.ema_decay) * p;
        if (k.shadow)
            dg_store(k.shadow, k.type, i, p);
    }
}

extern "C" void dg_launch_sum(struct dg_cuda *cu, const struct dg_k_sum *k)
{
    DG_LAUNCH(cu, sum, dg_blocks(k->n, THREADS), THREADS, 0, *k);
}

extern "C" void dg_launch_add_rows(struct dg_cuda *cu, const struct dg_k_add_rows *k)
{
    DG_LAUNCH(cu, add_rows, 1, THREADS, 0, *k);
}

extern "C" void dg_launch_square_sum(struct dg_cuda *cu, const struct dg_k_square *k)
{
    const struct dg_k_add_rows all = {k->parts, k->out, square_parts(k->n), 1};
    if (all.M)
        DG_LAUNCH(cu, squares, (unsigned)all.M, THREADS, 0, *k);
    dg_launch_add_rows(cu, &all);
}

extern "C" void dg_launch_adam(struct dg_cuda *cu, const struct dg_k_adam *k)
{
    DG_LAUNCH(cu, adam, dg_blocks(k->n, THREADS), THREADS, 0, *k);
}
