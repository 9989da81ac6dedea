/* Backward of the pointwise ops, column sums, and the embedding's scatter. Nothing is added by
 * atomics: every sum has one order. A thread has a batch of loads on their way before it uses the
 * first.
 *
 * Expected on an H200 at 3.6 TB/s, bf16, M 25,000, D 512, N 2048 (calculated, not measured):
 * act_bwd 6 M N = 307 MB, 85 us; column_parts 2 M N = 102 MB, 28 us; column_totals 4 M N / 32 =
 * 6 MB, 4 us; scatter 2 M D + 8 n D = 59 MB for n = 8,000 different pieces, 16 us. */
#include "kernels/cuda/launch_train.h"
#include "kernels/cuda/rows.cuh"

static const uint32_t THREADS = 128, WARPS = THREADS / DG_WARP, TOTAL_THREADS = 256;
enum { BATCH = 8 };

/* A thread's column, and the rows of its block's strip. */
struct place {
    size_t n, m0, m1, strip;
};

static __device__ __forceinline__ struct place place_of(size_t M, size_t N)
{
    const uint32_t across = (uint32_t)((N + THREADS - 1) / THREADS);
    struct place at;
    at.strip = blockIdx.x / across;
    at.n = (size_t)(blockIdx.x % across) * THREADS + threadIdx.x;
    at.m0 = at.strip * DG_STRIP_ROWS;
    at.m1 = at.m0 + DG_STRIP_ROWS < M ? at.m0 + DG_STRIP_ROWS : M;
    return at;
}

static unsigned places(size_t M, size_t N)
{
    return (unsigned)(dg_column_parts(M) * ((N + THREADS - 1) / THREADS));
}

/* The gradient of v from that of act(v). seen: what came out of a ReLU, where what was cut or
 * dropped is 0; v for the others. */
static __device__ __forceinline__ float through(enum dg_act act, float g, float seen)
{
    if (act == DG_ACT_RELU)
        return seen > 0.0f ? g : 0.0f;
    if (act == DG_ACT_SWISH) {
        const float s = 1.0f / (1.0f + expf(-seen));
        return g * (s * (1.0f + seen * (1.0f - s)));
    }
    if (act == DG_ACT_GELU)
        return g * (0.5f * (1.0f + erff(seen * 0.70710678118654752f)) +
                       seen * 0.39894228040143268f * expf(-0.5f * seen * seen));
    return g;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) act_bwd(struct dg_k_act_bwd k)
{
    const struct place at = place_of(k.M, k.N);
    const struct dg_k_rows seen = k.seen;
    if (at.n >= k.N)
        return;
    for (size_t m = at.m0; m < at.m1; m += BATCH) {
        T dy[BATCH], by[BATCH];
        uint32_t key[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            const bool in = m + u < at.m1;
            dy[u] = dg_get<T>(in, k.dy.p, (m + u) * k.dy.ld + at.n);
            by[u] = dg_get<T>(in && seen.p, seen.p, (m + u) * seen.ld + at.n);
            key[u] = in ? dg_drop_key(k.drop, m + u) : 0;
        }
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            const float g = dg_drop(k.drop, key[u], (uint32_t)at.n, dg_float(dy[u]));
            if (m + u < at.m1)
                dg_put((T *)k.dy.p + (m + u) * k.dy.ld + at.n, through(k.act, g, dg_float(by[u])));
        }
    }
}

/* parts[strip,N]: a thread a column of a strip of rows. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) column_parts(struct dg_k_columns k)
{
    const struct place at = place_of(k.M, k.N);
    float sum = 0;
    if (at.n >= k.N)
        return;
    for (size_t m = at.m0; m < at.m1; m += BATCH) {
        T x[BATCH], by[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            const bool in = m + u < at.m1;
            x[u] = dg_get<T>(in, k.x.p, (m + u) * k.x.ld + at.n);
            by[u] = dg_get<T>(in && k.by.p, k.by.p, (m + u) * k.by.ld + at.n);
        }
#pragma unroll
        for (int u = 0; u < BATCH; u++)
            sum = fmaf(dg_float(x[u]), k.by.p ? dg_float(by[u]) : 1.0f, sum);
    }
    k.parts[at.strip * k.N + at.n] = sum;
}

/* A warp takes every so many-th part of 32 columns; then the warps are added in order. */
static __global__ void __launch_bounds__(TOTAL_THREADS) column_totals(struct dg_k_totals k)
{
    enum { GROUPS = TOTAL_THREADS / DG_WARP };
    __shared__ float sums[GROUPS][DG_WARP];
    const uint32_t lane = threadIdx.x % DG_WARP, group = threadIdx.x / DG_WARP;
    const size_t n = (size_t)blockIdx.x * DG_WARP + lane;
    const float *parts = k.parts + blockIdx.y * k.n_parts * k.N + n;
    float sum = 0;
    for (size_t p = group; p < k.n_parts; p += GROUPS * BATCH) {
        float x[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; u++)
            x[u] = n < k.N && p + u * GROUPS < k.n_parts ? parts[(p + u * GROUPS) * k.N] : 0.0f;
#pragma unroll
        for (int u = 0; u < BATCH; u++)
            sum += x[u];
    }
    sums[group][lane] = sum;
    __syncthreads();
    if (group || n >= k.N)
        return;
    for (uint32_t g = 1; g < GROUPS; g++)
        sum += sums[g][lane];
    float *out = blockIdx.y ? k.out[1] : k.out[0];
    out[n] += sum;
}

/* A block a row of the table and a stretch of its columns, a lane WARPS of them. A warp takes every
 * WARPS-th row that looked it up, so that pieces as frequent as a full stop do not end last; then
 * the warps are added in order. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) scatter(struct dg_k_scatter k)
{
    __shared__ float sums[WARPS][THREADS];
    const uint32_t lane = threadIdx.x % DG_WARP, warp = threadIdx.x / DG_WARP,
                   end = k.first[blockIdx.x + 1];
    const size_t d0 = (size_t)blockIdx.y * THREADS, d = d0 + threadIdx.x;
    float sum[WARPS] = {0};
    for (uint32_t at = k.first[blockIdx.x] + warp; at < end; at += WARPS * BATCH) {
        T g[BATCH][WARPS];
        uint32_t m[BATCH], key[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; u++)
            m[u] = at + u * WARPS < end ? k.order[at + u * WARPS] : 0;
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            const bool in = at + u * WARPS < end;
            key[u] = dg_drop_key(k.drop, m[u]);
#pragma unroll
            for (uint32_t c = 0; c < WARPS; c++) {
                const size_t i = d0 + c * DG_WARP + lane;
                g[u][c] = dg_get<T>(in && i < k.D, k.dy.p, m[u] * k.dy.ld + i);
            }
        }
#pragma unroll
        for (int u = 0; u < BATCH; u++)
#pragma unroll
            for (uint32_t c = 0; c < WARPS; c++)
                sum[c] +=
                    dg_drop(k.drop, key[u], (uint32_t)(d0 + c * DG_WARP + lane), dg_float(g[u][c]));
    }
#pragma unroll
    for (uint32_t c = 0; c < WARPS; c++)
        sums[warp][c * DG_WARP + lane] = sum[c];
    __syncthreads();
    if (d >= k.D)
        return;
    float all = 0;
    for (uint32_t w = 0; w < WARPS; w++)
        all += sums[w][threadIdx.x];
    k.table[(size_t)k.id[blockIdx.x] * k.D + d] += k.scale * all;
}

extern "C" size_t dg_column_parts(size_t M)
{
    return (M + DG_STRIP_ROWS - 1) / DG_STRIP_ROWS;
}

extern "C" void dg_launch_totals(struct dg_cuda *cu, const struct dg_k_totals *k)
{
    const dim3 grid((unsigned)((k->N + DG_WARP - 1) / DG_WARP), (unsigned)k->n_out);
    DG_LAUNCH(cu, column_totals, grid, TOTAL_THREADS, 0, *k);
}

extern "C" void dg_launch_act_bwd(struct dg_cuda *cu, const struct dg_k_act_bwd *k)
{
    DG_TYPED(k->dy.type, DG_LAUNCH(cu, act_bwd<T>, places(k->M, k->N), THREADS, 0, *k));
}

extern "C" void dg_launch_columns(struct dg_cuda *cu, const struct dg_k_columns *k)
{
    const struct dg_k_totals totals = {k->parts, {k->out}, 1, dg_column_parts(k->M), k->N};
    DG_TYPED(k->x.type, DG_LAUNCH(cu, column_parts<T>, places(k->M, k->N), THREADS, 0, *k));
    dg_launch_totals(cu, &totals);
}

extern "C" void dg_launch_scatter(struct dg_cuda *cu, const struct dg_k_scatter *k)
{
    const dim3 grid((unsigned)k->n, (unsigned)((k->D + THREADS - 1) / THREADS));
    DG_TYPED(k->dy.type, DG_LAUNCH(cu, scatter<T>, grid, THREADS, 0, *k));
}
