/* The flat kernels of an update: sums of blocks, the gradient's norm, Adam and the 16-bit copy.
 * Each element is read and written once. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch_train.h"

#include <math.h>

enum { THREADS = 256 };

static __global__ void narrow(struct dg_k_flat k)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < k.n;
         i += (size_t)gridDim.x * THREADS)
        dg_store(k.dst, k.type, i, k.src[i]);
}

static __global__ void sum(struct dg_k_sum k)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < k.n;
         i += (size_t)gridDim.x * THREADS) {
        float s = k.parts[0][i];
        for (size_t p = 1; p < k.n_parts; p++)
            s += k.parts[p][i];
        k.out[i] = s;
    }
}

static __global__ void squares(struct dg_k_square k)
{
    __shared__ double warps[THREADS / DG_WARP];
    double s = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < k.n;
         i += (size_t)DG_SQUARE_PARTS * THREADS)
        s += (double)k.x[i] * k.x[i];
    s = dg_block_sum<THREADS / DG_WARP>(s, warps);
    if (threadIdx.x == 0)
        k.parts[blockIdx.x] = s;
}

static __global__ void total(struct dg_k_square k)
{
    __shared__ double warps[THREADS / DG_WARP];
    const double s = dg_block_sum<THREADS / DG_WARP>(k.parts[threadIdx.x], warps);
    if (threadIdx.x == 0)
        *k.out = s;
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

extern "C" int dg_launch_narrow(cudaStream_t stream, const struct dg_k_flat *k)
{
    DG_LAUNCH(narrow, dg_blocks(k->n, THREADS), THREADS, 0, stream, *k);
    return cudaGetLastError();
}

extern "C" int dg_launch_sum(cudaStream_t stream, const struct dg_k_sum *k)
{
    DG_LAUNCH(sum, dg_blocks(k->n, THREADS), THREADS, 0, stream, *k);
    return cudaGetLastError();
}

extern "C" int dg_launch_square_sum(cudaStream_t stream, const struct dg_k_square *k)
{
    static_assert((int)DG_SQUARE_PARTS == (int)THREADS, "one part a thread of the second kernel");
    DG_LAUNCH(squares, DG_SQUARE_PARTS, THREADS, 0, stream, *k);
    DG_LAUNCH(total, 1, THREADS, 0, stream, *k);
    return cudaGetLastError();
}

extern "C" int dg_launch_adam(cudaStream_t stream, const struct dg_k_adam *k)
{
    DG_LAUNCH(adam, dg_blocks(k->n, THREADS), THREADS, 0, stream, *k);
    return cudaGetLastError();
}
