/* Residual and LayerNorm. A warp owns a row: lane l its elements l, l + 32, ...; sums run over a
 * lane's elements in order and then across the lanes as a tree, in fp32, the variance in a second
 * pass around the mean (one pass loses rows far from zero). Rows of up to 1024 elements of one type
 * are in registers: all that a lane wants of x, r, gain and bias is on its way before it uses any
 * of it. Other rows are read again for each pass, with the same bits. y, or the sum, may be x or r:
 * a lane reads what it writes, before. */
#include "kernels/cuda/rows.cuh"

enum { ROWS = 4, HELD = 32 }; /* rows of a block; elements a lane holds */

static __device__ __forceinline__ uint32_t key_of(const struct dg_k_norm &k, size_t m)
{
    return k.drop.row_key ? k.drop.row_key[m] ^ k.drop.site : 0;
}

/* v = r + drop(x) */
template <typename T, int N>
static __device__ __forceinline__ void residual_row(const struct dg_k_norm &k, uint32_t key,
    uint32_t lane, const T (&x)[N], const T (&r)[N], float (&v)[N])
{
#pragma unroll
    for (int j = 0; j < N; j++)
        v[j] = dg_float(x[j]);
    if (k.drop.row_key)
#pragma unroll
        for (int j = 0; j < N; j++)
            v[j] = dg_drop(k.drop, key, (uint32_t)j * DG_WARP + lane, v[j]);
    if (k.r.p)
#pragma unroll
        for (int j = 0; j < N; j++)
            v[j] = dg_float(r[j]) + v[j];
}

/* N: elements a lane holds. */
template <typename T, int N>
static __global__ void __launch_bounds__(ROWS *DG_WARP) norm_rows(struct dg_k_norm k)
{
    const uint32_t lane = threadIdx.x % DG_WARP, D = (uint32_t)k.D;
    const struct dg_k_rows gains = {(void *)k.gain, 0, DG_F32},
                           biases = {(void *)k.bias, 0, DG_F32};
    for (size_t m = (size_t)blockIdx.x * ROWS + threadIdx.x / DG_WARP; m < k.M;
         m += (size_t)gridDim.x * ROWS) {
        const uint32_t key = key_of(k, m);
        T x[N], r[N];
        float gain[N], bias[N], v[N], sum = 0, squares = 0;
        dg_get_row(k.x, m, lane, D, x);
        dg_get_row(k.r, m, lane, D, r);
        dg_get_row(gains, m, lane, D, gain);
        dg_get_row(biases, m, lane, D, bias);
        residual_row(k, key, lane, x, r, v);
        if (k.sum.p)
#pragma unroll
            for (int j = 0; j < N; j++)
                if ((uint32_t)j * DG_WARP + lane < D)
                    dg_put((T *)k.sum.p + m * k.sum.ld + (size_t)j * DG_WARP + lane, v[j]);
#pragma unroll
        for (int j = 0; j < N; j++)
            sum += v[j];
        const float mean = dg_warp_sum(sum) / (float)k.D;
#pragma unroll
        for (int j = 0; j < N; j++) {
            v[j] = (uint32_t)j * DG_WARP + lane < D ? v[j] - mean : 0.0f;
            squares = fmaf(v[j], v[j], squares);
        }
        const float rstd = 1.0f / sqrtf(dg_warp_sum(squares) / (float)k.D + k.eps);
#pragma unroll
        for (int j = 0; j < N; j++) {
            const uint32_t i = (uint32_t)j * DG_WARP + lane;
            const float xhat = v[j] * rstd;
            if (i < D && k.xhat.p)
                dg_put((T *)k.xhat.p + m * k.xhat.ld + i, xhat);
            if (i < D)
                dg_put((T *)k.y.p + m * k.y.ld + i, __fmul_rn(xhat, gain[j]) + bias[j]);
        }
        if (k.rstd.p && lane == 0)
            dg_store(k.rstd.p, k.rstd.type, m * k.rstd.ld, rstd);
    }
}

static __device__ __forceinline__ float residual(
    const struct dg_k_norm &k, size_t m, size_t i, uint32_t key)
{
    float x = dg_load(k.x.p, k.x.type, m * k.x.ld + i);
    if (k.drop.row_key)
        x = dg_drop(k.drop, key, (uint32_t)i, x);
    return k.r.p ? dg_load(k.r.p, k.r.type, m * k.r.ld + i) + x : x;
}

/* Rows of any length and of any types. */
static __global__ void norm_any(struct dg_k_norm k)
{
    const unsigned lane = threadIdx.x % DG_WARP;
    for (size_t m = (size_t)blockIdx.x * ROWS + threadIdx.x / DG_WARP; m < k.M;
         m += (size_t)gridDim.x * ROWS) {
        const uint32_t key = key_of(k, m);
        float sum = 0, squares = 0;
        for (size_t i = lane; i < k.D; i += DG_WARP)
            sum += residual(k, m, i, key);
        const float mean = dg_warp_sum(sum) / (float)k.D;
        for (size_t i = lane; i < k.D; i += DG_WARP) {
            const float d = residual(k, m, i, key) - mean;
            squares = fmaf(d, d, squares);
        }
        const float rstd = 1.0f / sqrtf(dg_warp_sum(squares) / (float)k.D + k.eps);
        for (size_t i = lane; i < k.D; i += DG_WARP) {
            const float v = residual(k, m, i, key), xhat = (v - mean) * rstd;
            if (k.sum.p)
                dg_store(k.sum.p, k.sum.type, m * k.sum.ld + i, v);
            if (k.xhat.p)
                dg_store(k.xhat.p, k.xhat.type, m * k.xhat.ld + i, xhat);
            dg_store(k.y.p, k.y.type, m * k.y.ld + i, __fmul_rn(xhat, k.gain[i]) + k.bias[i]);
        }
        if (k.rstd.p && lane == 0)
            dg_store(k.rstd.p, k.rstd.type, m * k.rstd.ld, rstd);
    }
}

extern "C" int dg_launch_norm(cudaStream_t stream, const struct dg_k_norm *k)
{
    const unsigned blocks = dg_blocks(k->M, ROWS);
    const bool one = dg_one_type(k->x, k->r) && dg_one_type(k->x, k->y) &&
                     dg_one_type(k->x, k->xhat) && dg_one_type(k->x, k->sum);
    if (!one || k->D > DG_WARP * HELD)
        DG_LAUNCH(norm_any, blocks, ROWS * DG_WARP, 0, stream, *k);
    else if (k->D <= DG_WARP * HELD / 2)
        DG_TYPED(
            k->x.type, DG_LAUNCH((norm_rows<T, HELD / 2>), blocks, ROWS * DG_WARP, 0, stream, *k));
    else
        DG_TYPED(k->x.type, DG_LAUNCH((norm_rows<T, HELD>), blocks, ROWS * DG_WARP, 0, stream, *k));
    return cudaGetLastError();
}
