/* Backward of the pointwise ops and of LayerNorm, column sums, and the embedding's scatter. Nothing
 * is added by atomics: every sum has one order. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch_train.h"

static const uint32_t THREADS = 128, WARPS = THREADS / DG_WARP,
                      STRIP = 256; /* STRIP: rows one block sums */

static __global__ void act_grad(struct dg_k_act_grad k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const uint32_t key = k.drop.row_key ? k.drop.row_key[m] ^ k.drop.site : 0;
        for (size_t n = threadIdx.x; n < k.N; n += THREADS) {
            float g = dg_load(k.dy.p, k.dy.type, m * k.dy.ld + n);
            if (k.drop.row_key)
                g = dg_drop(k.drop, key, (uint32_t)n, g);
            if (k.act == DG_ACT_RELU) {
                /* What was cut or dropped is 0 in y. */
                g = dg_load(k.y.p, k.y.type, m * k.y.ld + n) > 0.0f ? g : 0.0f;
            } else if (k.act == DG_ACT_SWISH) {
                const float x = dg_load(k.pre.p, k.pre.type, m * k.pre.ld + n),
                            s = 1.0f / (1.0f + expf(-x));
                g *= s * (1.0f + x * (1.0f - s));
            } else if (k.act == DG_ACT_GELU) {
                const float x = dg_load(k.pre.p, k.pre.type, m * k.pre.ld + n);
                g *= 0.5f * (1.0f + erff(x * 0.70710678118654752f)) +
                     x * 0.39894228040143268f * expf(-0.5f * x * x);
            }
            dg_store(k.dy.p, k.dy.type, m * k.dy.ld + n, g);
        }
    }
}

/* parts[strip,N]: a thread a column of a strip of rows. */
static __global__ void column_parts(struct dg_k_columns k)
{
    const size_t n = (size_t)blockIdx.x * THREADS + threadIdx.x, m0 = (size_t)blockIdx.y * STRIP;
    const size_t m1 = m0 + STRIP < k.M ? m0 + STRIP : k.M;
    float sum = 0;
    if (n >= k.N)
        return;
    for (size_t m = m0; m < m1; m++) {
        const float x = dg_load(k.x.p, k.x.type, m * k.x.ld + n);
        sum += k.by.p ? x * dg_load(k.by.p, k.by.type, m * k.by.ld + n) : x;
    }
    k.parts[(size_t)blockIdx.y * k.N + n] = sum;
}

static __global__ void column_total(struct dg_k_columns k, size_t parts)
{
    const size_t n = (size_t)blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    if (n >= k.N)
        return;
    for (size_t p = 0; p < parts; p++)
        sum += k.parts[p * k.N + n];
    k.out[n] += sum;
}

/* With g = gain dy: dv = (g - mean(g) - xhat mean(g xhat)) / σ, v = r + drop(x). A warp a row. */
static __global__ void norm_grad(struct dg_k_norm_grad k)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    for (size_t m = (size_t)blockIdx.x * WARPS + threadIdx.x / DG_WARP; m < k.M;
         m += (size_t)gridDim.x * WARPS) {
        const uint32_t key = k.drop.row_key ? k.drop.row_key[m] ^ k.drop.site : 0;
        const float rstd = dg_load(k.rstd.p, k.rstd.type, m * k.rstd.ld);
        float a = 0, b = 0;
        for (size_t i = lane; i < k.D; i += DG_WARP) {
            const float g = k.gain[i] * dg_load(k.dy.p, k.dy.type, m * k.dy.ld + i);
            a += g;
            b += g * dg_load(k.xhat.p, k.xhat.type, m * k.xhat.ld + i);
        }
        a = dg_warp_sum(a) / (float)k.D;
        b = dg_warp_sum(b) / (float)k.D;
        for (size_t i = lane; i < k.D; i += DG_WARP) {
            const float g = k.gain[i] * dg_load(k.dy.p, k.dy.type, m * k.dy.ld + i);
            const float v = (g - a - dg_load(k.xhat.p, k.xhat.type, m * k.xhat.ld + i) * b) * rstd;
            dg_store(k.dr.p, k.dr.type, m * k.dr.ld + i, v);
            dg_store(k.dx.p, k.dx.type, m * k.dx.ld + i,
                k.drop.row_key ? dg_drop(k.drop, key, (uint32_t)i, v) : v);
        }
    }
}

/* A block a row of the table. */
static __global__ void scatter(struct dg_k_scatter k)
{
    for (size_t i = blockIdx.x; i < k.n; i += gridDim.x)
        for (size_t d = threadIdx.x; d < k.D; d += THREADS) {
            float sum = 0;
            for (uint32_t at = k.first[i]; at < k.first[i + 1]; at++) {
                const size_t m = k.order[at];
                float g = dg_load(k.dy.p, k.dy.type, m * k.dy.ld + d);
                if (k.drop.row_key)
                    g = dg_drop(k.drop, k.drop.row_key[m] ^ k.drop.site, (uint32_t)d, g);
                sum += g;
            }
            k.table[(size_t)k.id[i] * k.D + d] += k.scale * sum;
        }
}

extern "C" int dg_launch_act_grad(cudaStream_t stream, const struct dg_k_act_grad *k)
{
    DG_LAUNCH(act_grad, dg_blocks(k->M, 1), THREADS, 0, stream, *k);
    return cudaGetLastError();
}

extern "C" size_t dg_column_parts(size_t M)
{
    return (M + STRIP - 1) / STRIP;
}

extern "C" int dg_launch_columns(cudaStream_t stream, const struct dg_k_columns *k)
{
    const unsigned across = (unsigned)((k->N + THREADS - 1) / THREADS);
    const size_t parts = dg_column_parts(k->M);
    DG_LAUNCH(column_parts, dim3(across, (unsigned)parts), THREADS, 0, stream, *k);
    DG_LAUNCH(column_total, across, THREADS, 0, stream, *k, parts);
    return cudaGetLastError();
}

extern "C" int dg_launch_norm_grad(cudaStream_t stream, const struct dg_k_norm_grad *k)
{
    DG_LAUNCH(norm_grad, dg_blocks(k->M, WARPS), THREADS, 0, stream, *k);
    return cudaGetLastError();
}

extern "C" int dg_launch_scatter(cudaStream_t stream, const struct dg_k_scatter *k)
{
    DG_LAUNCH(scatter, dg_blocks(k->n, 1), THREADS, 0, stream, *k);
    return cudaGetLastError();
}
