/* Residual and LayerNorm, and its backward. A warp owns a row: lane l has elements l, l + 32, ...;
 * sums run over a lane's elements in order and then across the lanes as a tree, in fp32, the
 * variance in a second pass around the mean (one pass loses rows far from zero). A chunk of 32 N
 * elements is in registers: all of a lane's loads of it are in flight before it uses any. A row of
 * one chunk is read once, longer ones once for each pass, with the same bits. y, or the sum, may be
 * x or r: a lane reads an element before it writes it.
 * Backward: with g = gain dy, dv = (g - mean(g) - xhat mean(g xhat)) / σ, v = r + drop(x). dgain
 * and dbias come out of the same pass: a block owns a strip of rows, a lane adds up its columns
 * over its warp's rows, the block adds its warps in order, and the strips' sums are added
 * afterwards. This is for rows of up to 1024 elements; longer ones are read once more for each kind
 * of sum.
 *
 * Calculated for an H200 at 3.6 TB/s, bf16, D 512, M 25,000: norm_bwd 8 M D = 102 MB, 28 us. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch_train.h"

static const uint32_t THREADS = 128, WARPS = THREADS / DG_WARP;
enum { HELD = 32 }; /* elements that a lane holds in backward */

/* v = r + drop(x) for the lane's elements of row m, from `first` on; zeros beyond the end. */
template <typename T, int N>
static __device__ __forceinline__ void residual(
    const struct dg_k_norm &k, size_t m, uint32_t first, float (&v)[N])
{
    const uint32_t D = (uint32_t)k.D, key = dg_drop_key(k.drop, m);
    T x[N], r[N];
    dg_get_row(k.x, m, first, D, x);
    dg_get_row(k.r, m, first, D, r);
#pragma unroll
    for (int j = 0; j < N; j++) {
        v[j] = dg_drop(k.drop, key, first + (uint32_t)j * DG_WARP, dg_float(x[j]));
        if (k.r.p)
            v[j] = dg_float(r[j]) + v[j];
    }
}

/* N: elements of a chunk that a lane holds. */
template <typename T, int N>
static __global__ void __launch_bounds__(THREADS) norm_rows(struct dg_k_norm k)
{
    DG_AFTER_THE_LAST();
    const uint32_t lane = threadIdx.x % DG_WARP, D = (uint32_t)k.D, CHUNK = N * DG_WARP;
    const struct dg_k_rows gains = {(void *)k.gain, 0, DG_F32},
                           biases = {(void *)k.bias, 0, DG_F32};
    for (size_t m = (size_t)blockIdx.x * WARPS + threadIdx.x / DG_WARP; m < k.M;
         m += (size_t)gridDim.x * WARPS) {
        float v[N], gain[N], bias[N], sum = 0, squares = 0;
        for (uint32_t i = lane; i < D; i += CHUNK) {
            residual<T>(k, m, i, v);
#pragma unroll
            for (int j = 0; j < N; j++)
                sum += v[j];
        }
        const float mean = dg_warp_sum(sum) / (float)k.D;
        for (uint32_t i = lane; i < D; i += CHUNK) {
            if (D > CHUNK)
                residual<T>(k, m, i, v);
#pragma unroll
            for (int j = 0; j < N; j++) {
                const float d = i + (uint32_t)j * DG_WARP < D ? v[j] - mean : 0.0f;
                squares = fmaf(d, d, squares);
            }
        }
        const float rstd = 1.0f / sqrtf(dg_warp_sum(squares) / (float)k.D + k.eps);
        for (uint32_t i = lane; i < D; i += CHUNK) {
            if (D > CHUNK)
                residual<T>(k, m, i, v);
            dg_get_row(gains, 0, i, D, gain);
            dg_get_row(biases, 0, i, D, bias);
#pragma unroll
            for (int j = 0; j < N; j++) {
                const uint32_t at = i + (uint32_t)j * DG_WARP;
                const float xhat = (v[j] - mean) * rstd;
                if (at >= D)
                    continue;
                if (k.sum.p)
                    dg_put((T *)k.sum.p + m * k.sum.ld + at, v[j]);
                if (k.xhat.p)
                    dg_put((T *)k.xhat.p + m * k.xhat.ld + at, xhat);
                dg_put((T *)k.y.p + m * k.y.ld + at, __fmul_rn(xhat, gain[j]) + bias[j]);
            }
        }
        if (k.rstd.p && lane == 0)
            dg_store(k.rstd.p, k.rstd.type, m * k.rstd.ld, rstd);
    }
}

extern "C" void dg_launch_norm(struct dg_cuda *cu, const struct dg_k_norm *k)
{
    const unsigned blocks = dg_blocks(k->M, WARPS);
    if (k->D <= DG_WARP * 16)
        DG_TYPED(k->x.type, DG_LAUNCH_EARLY(cu, (norm_rows<T, 16>), blocks, THREADS, 0, *k));
    else
        DG_TYPED(k->x.type, DG_LAUNCH_EARLY(cu, (norm_rows<T, 32>), blocks, THREADS, 0, *k));
}

/* to[D] = the sums of each column over the warps; mine: a lane's columns. */
template <int N>
static __device__ __forceinline__ void put_part(const float (&mine)[N], uint32_t D, float *to)
{
    __shared__ float sums[WARPS][N * DG_WARP];
    const uint32_t lane = threadIdx.x % DG_WARP, warp = threadIdx.x / DG_WARP;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < N; j++)
        sums[warp][j * DG_WARP + lane] = mine[j];
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < D; i += THREADS) {
        float sum = 0;
        for (uint32_t w = 0; w < WARPS; w++)
            sum += sums[w][i];
        to[i] = sum;
    }
}

/* Puts dr = dv and dx = dv after dropout, for a lane's elements of row m. */
template <typename T, int N>
static __device__ __forceinline__ void put_row(
    const struct dg_k_norm_bwd &k, size_t m, uint32_t key, uint32_t lane, const float (&dv)[N])
{
    const uint32_t D = (uint32_t)k.D;
#pragma unroll
    for (int j = 0; j < N; j++) {
        const uint32_t i = (uint32_t)j * DG_WARP + lane;
        if (i < D) {
            dg_put((T *)k.dr.p + m * k.dr.ld + i, dv[j]);
            dg_put((T *)k.dx.p + m * k.dx.ld + i, dg_drop(k.drop, key, i, dv[j]));
        }
    }
}

/* One block per strip. N: elements that a lane holds. dr may be dy: a lane reads an element before
 * it writes it. */
template <typename T, int N>
static __global__ void __launch_bounds__(THREADS) norm_bwd(struct dg_k_norm_bwd k)
{
    const uint32_t lane = threadIdx.x % DG_WARP, D = (uint32_t)k.D;
    const size_t m0 = (size_t)blockIdx.x * DG_STRIP_ROWS,
                 m1 = m0 + DG_STRIP_ROWS < k.M ? m0 + DG_STRIP_ROWS : k.M;
    float gain[N], dgain[N] = {0}, dbias[N] = {0};
    dg_get_row({(void *)k.gain, 0, DG_F32}, 0, lane, D, gain);
    for (size_t m = m0 + threadIdx.x / DG_WARP; m < m1; m += WARPS) {
        T dy[N], xhat[N];
        float a = 0, b = 0;
        dg_get_row(k.dy, m, lane, D, dy);
        dg_get_row(k.xhat, m, lane, D, xhat);
        const uint32_t key = dg_drop_key(k.drop, m);
        const float rstd = dg_load(k.rstd.p, k.rstd.type, m * k.rstd.ld);
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float d = dg_float(dy[j]), g = gain[j] * d;
            dbias[j] += d;
            dgain[j] = fmaf(d, dg_float(xhat[j]), dgain[j]);
            a += g;
            b = fmaf(g, dg_float(xhat[j]), b);
        }
        a = dg_warp_sum(a) / (float)k.D;
        b = dg_warp_sum(b) / (float)k.D;
        float dv[N];
#pragma unroll
        for (int j = 0; j < N; j++)
            dv[j] = (gain[j] * dg_float(dy[j]) - a - dg_float(xhat[j]) * b) * rstd;
        put_row<T>(k, m, key, lane, dv);
    }
    float *parts = k.parts + (size_t)blockIdx.x * k.D;
    put_part(dgain, D, parts);
    put_part(dbias, D, parts + (size_t)gridDim.x * k.D);
}

/* Rows of any length, without dgain and dbias. */
static __global__ void norm_bwd_any(struct dg_k_norm_bwd k)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    for (size_t m = (size_t)blockIdx.x * WARPS + threadIdx.x / DG_WARP; m < k.M;
         m += (size_t)gridDim.x * WARPS) {
        const uint32_t key = dg_drop_key(k.drop, m);
        const float rstd = dg_load(k.rstd.p, k.rstd.type, m * k.rstd.ld);
        float a = 0, b = 0;
        for (size_t i = lane; i < k.D; i += DG_WARP) {
            const float g = k.gain[i] * dg_load(k.dy.p, k.dy.type, m * k.dy.ld + i);
            a += g;
            b = fmaf(g, dg_load(k.xhat.p, k.xhat.type, m * k.xhat.ld + i), b);
        }
        a = dg_warp_sum(a) / (float)k.D;
        b = dg_warp_sum(b) / (float)k.D;
        for (size_t i = lane; i < k.D; i += DG_WARP) {
            const float g = k.gain[i] * dg_load(k.dy.p, k.dy.type, m * k.dy.ld + i);
            const float v = (g - a - dg_load(k.xhat.p, k.xhat.type, m * k.xhat.ld + i) * b) * rstd;
            dg_store(k.dr.p, k.dr.type, m * k.dr.ld + i, v);
            dg_store(k.dx.p, k.dx.type, m * k.dx.ld + i, dg_drop(k.drop, key, (uint32_t)i, v));
        }
    }
}

/* The sums come first, because dr may be dy. */
static void launch_any(struct dg_cuda *cu, const struct dg_k_norm_bwd *k)
{
    struct dg_k_columns c = {
        .x = k->dy, .by = k->xhat, .out = k->dgain, .parts = k->parts, .M = k->M, .N = k->D};
    dg_launch_columns(cu, &c);
    c.by.p = NULL;
    c.out = k->dbias;
    dg_launch_columns(cu, &c);
    DG_LAUNCH(cu, norm_bwd_any, dg_blocks(k->M, WARPS), THREADS, 0, *k);
}

extern "C" void dg_launch_norm_bwd(struct dg_cuda *cu, const struct dg_k_norm_bwd *k)
{
    const size_t strips = dg_column_parts(k->M);
    const struct dg_k_totals totals = {k->parts, {k->dgain, k->dbias}, 2, strips, k->D};
    if (k->D > DG_WARP * HELD) {
        launch_any(cu, k);
        return;
    }
    if (k->D <= DG_WARP * HELD / 2)
        DG_TYPED(
            k->dy.type, DG_LAUNCH(cu, (norm_bwd<T, HELD / 2>), (unsigned)strips, THREADS, 0, *k));
    else
        DG_TYPED(k->dy.type, DG_LAUNCH(cu, (norm_bwd<T, HELD>), (unsigned)strips, THREADS, 0, *k));
    dg_launch_totals(cu, &totals);
}
