/* Residual and LayerNorm. A warp owns a row: lane l its elements l, l + 32, ...; sums run over a
 * lane's elements in order and then across the lanes as a tree, in fp32, the variance in a second
 * pass around the mean (one pass loses rows far from zero). Rows of up to 1024 elements stay in
 * registers, longer ones are read again. y may be x or r: a lane reads what it writes, before. */
#include "kernels/cuda/device.cuh"

enum { ROWS = 4, HELD = 32 }; /* rows of a block; elements a lane holds */

static __device__ __forceinline__ float residual(
    const struct dg_k_norm &k, size_t m, size_t i, uint32_t key)
{
    float x = dg_load(k.x.p, k.x.type, m * k.x.ld + i);
    if (k.drop.row_key)
        x = dg_drop(k.drop, key, (uint32_t)i, x);
    return k.r.p ? dg_load(k.r.p, k.r.type, m * k.r.ld + i) + x : x;
}

static __device__ __forceinline__ void finish(
    const struct dg_k_norm &k, size_t m, size_t i, float v, float mean, float rstd)
{
    float xhat = (v - mean) * rstd;
    if (k.xhat.p)
        dg_store(k.xhat.p, k.xhat.type, m * k.xhat.ld + i, xhat);
    dg_store(k.y.p, k.y.type, m * k.y.ld + i, __fmul_rn(xhat, k.gain[i]) + k.bias[i]);
}

/* N: elements a lane holds, 0: none. */
template <int N>
static __global__ void __launch_bounds__(ROWS *DG_WARP) norm_rows(struct dg_k_norm k)
{
    const unsigned lane = threadIdx.x % DG_WARP;
    for (size_t m = (size_t)blockIdx.x * ROWS + threadIdx.x / DG_WARP; m < k.M;
         m += (size_t)gridDim.x * ROWS) {
        uint32_t key = k.drop.row_key ? k.drop.row_key[m] ^ k.drop.site : 0;
        float held[N ? N : 1], sum = 0, squares = 0;
#pragma unroll
        for (int j = 0; j < N; j++) {
            size_t i = (size_t)j * DG_WARP + lane;
            held[j] = i < k.D ? residual(k, m, i, key) : 0.0f;
            sum += held[j];
        }
        for (size_t i = lane; N == 0 && i < k.D; i += DG_WARP)
            sum += residual(k, m, i, key);
        float mean = dg_warp_sum(sum) / (float)k.D;
#pragma unroll
        for (int j = 0; j < N; j++) {
            float d = (size_t)j * DG_WARP + lane < k.D ? held[j] - mean : 0.0f;
            squares = fmaf(d, d, squares);
        }
        for (size_t i = lane; N == 0 && i < k.D; i += DG_WARP) {
            float d = residual(k, m, i, key) - mean;
            squares = fmaf(d, d, squares);
        }
        float rstd = 1.0f / sqrtf(dg_warp_sum(squares) / (float)k.D + k.eps);
#pragma unroll
        for (int j = 0; j < N; j++) {
            size_t i = (size_t)j * DG_WARP + lane;
            if (i < k.D)
                finish(k, m, i, held[j], mean, rstd);
        }
        for (size_t i = lane; N == 0 && i < k.D; i += DG_WARP)
            finish(k, m, i, residual(k, m, i, key), mean, rstd);
        if (k.rstd.p && lane == 0)
            dg_store(k.rstd.p, k.rstd.type, m * k.rstd.ld, rstd);
    }
}

extern "C" int dg_launch_norm(cudaStream_t stream, const struct dg_k_norm *k)
{
    const unsigned blocks = dg_blocks(k->M, ROWS);
    if (k->D <= DG_WARP * HELD / 2)
        DG_LAUNCH(norm_rows<HELD / 2>, blocks, ROWS * DG_WARP, 0, stream, *k);
    else if (k->D <= DG_WARP * HELD)
        DG_LAUNCH(norm_rows<HELD>, blocks, ROWS * DG_WARP, 0, stream, *k);
    else
        DG_LAUNCH(norm_rows<0>, blocks, ROWS * DG_WARP, 0, stream, *k);
    return cudaGetLastError();
}
