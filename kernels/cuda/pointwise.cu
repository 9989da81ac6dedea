/* Elementwise kernels: embedding, copies between types and into the cache, the end of a linear,
 * SSRU decoders' states; backward of the embedding and of activations, and column sums.
 * A block takes a row at a time, its threads the row's elements: rows are hundreds of elements wide
 * and neighbouring threads access neighbouring elements. A thread has BATCH loads in flight before
 * it uses the first. Arithmetic is fp32. Nothing is added by atomics: every sum has one order.
 *
 * Calculated for an H200 at 3.6 TB/s, bf16: embed_rows of 256 rows of 512 moves M D (2 + 4 + 2) = 1
 * MB, 2 us; copy_rows of an encoder pass' 4,096 pieces to a layer's keys and values 16.8 MB, 6 us.
 * With M 25,000, D 512, N 2048: act_bwd 6 M N = 307 MB, 85 us; column_parts 2 M N = 102 MB, 28 us;
 * column_totals 4 M N / 32 = 6 MB, 4 us; scatter 2 M D + 8 n D = 59 MB for n = 8,000 different
 * pieces, 16 us. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch_train.h"

static const uint32_t THREADS = 128, WARPS = THREADS / DG_WARP, TOTAL_THREADS = 256;
enum { BATCH = 8 };

/* T: type of the word table. Positions are never multiplied, so their table is fp32 in every
 * mode. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) embed_rows(struct dg_k_embed k)
{
    DG_AFTER_THE_LAST();
    const struct dg_k_rows positions = {(void *)k.positions, k.D, DG_F32};
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const int32_t id = k.ids[m];
        const struct dg_k_rows table = {id < 0 ? NULL : (void *)k.table, k.D, k.table_type};
        const uint32_t key = dg_drop_key(k.drop, m);
        for (uint32_t d = threadIdx.x; d < k.D; d += THREADS * BATCH) {
            T word[BATCH];
            float position[BATCH], v[BATCH];
            dg_get_row<THREADS>(table, (size_t)id, d, (uint32_t)k.D, word);
            dg_get_row<THREADS>(positions, (size_t)k.pos[m], d, (uint32_t)k.D, position);
#pragma unroll
            for (int j = 0; j < BATCH; j++)
                v[j] = dg_drop(k.drop, key, d + (uint32_t)j * THREADS,
                    __fmul_rn(k.scale, dg_float(word[j])) + position[j]);
            dg_put_batch<THREADS>(k.y, m, d, k.D, v);
        }
    }
}

static __device__ __forceinline__ float activate(float x, enum dg_act act)
{
    switch (act) {
    case DG_ACT_NONE: return x;
    case DG_ACT_RELU: return x < 0 ? 0 : x;
    case DG_ACT_SWISH: return x / (1.0f + expf(-x));
    case DG_ACT_GELU: return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    }
    return x;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) copy_rows(struct dg_k_copy k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const int64_t to = k.slots ? k.slots[m] : (int64_t)m;
        const uint32_t key = dg_drop_key(k.drop, m);
        for (uint32_t n = threadIdx.x; to >= 0 && n < k.N; n += THREADS * BATCH) {
            T x[BATCH];
            float v[BATCH];
            dg_get_row<THREADS>(k.x, m, n, (uint32_t)k.N, x);
#pragma unroll
            for (int j = 0; j < BATCH; j++)
                v[j] = dg_float(x[j]);
            if (k.pre.p)
                dg_put_batch<THREADS>(k.pre, m, n, k.N, v);
#pragma unroll
            for (int j = 0; j < BATCH; j++)
                v[j] = dg_drop(k.drop, key, n + (uint32_t)j * THREADS, activate(v[j], k.act));
            dg_put_batch<THREADS>(k.y, (size_t)to, n, k.N, v);
        }
    }
}

/* The SSRU's recurrence, c = sigmoid(f) c + (1 - sigmoid(f)) x~ and relu(c). Arithmetic and states
 * are fp32 both by segments and by steps, so that they give the same bits. */
static __device__ __forceinline__ float next_state(float x, float f, float before)
{
    const float keep = 1.0f / (1.0f + expf(-f));
    return __fmul_rn(keep, before) + __fmul_rn(1.0f - keep, x);
}

/* A thread owns an element of a piece's rows and walks them in order. A step's states come from one
 * row of the pool and go to another, which no row of the call reads. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) ssru_rows(struct dg_k_ssru k)
{
    const size_t d = (size_t)blockIdx.y * THREADS + threadIdx.x;
    float *states = (float *)k.states.p;
    for (size_t s = blockIdx.x; s < k.n_pieces && d < k.D; s += gridDim.x) {
        const size_t first = k.pieces ? k.pieces[s].q0 : s,
                     end = first + (k.pieces ? k.pieces[s].n_q : 1);
        float c = k.from && k.from[s] >= 0 ? states[(size_t)k.from[s] * k.states.ld + d] : 0;
        for (size_t m = first; m < end; m++) {
            const T *z = (const T *)k.z.p + m * k.z.ld;
            c = next_state(dg_float(z[d]), dg_float(z[k.D + d]), c);
            dg_put((T *)k.y.p + m * k.y.ld + d, c < 0 ? 0 : c);
        }
        if (k.to)
            states[(size_t)k.to[s] * k.states.ld + d] = c;
    }
}

/* The gradient of v from that of act(v). seen: for a ReLU its output, which is 0 where it was cut
 * off or dropped; v for the others. */
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
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const uint32_t key = dg_drop_key(k.drop, m);
        for (uint32_t n = threadIdx.x; n < k.N; n += THREADS * BATCH) {
            T dy[BATCH], seen[BATCH];
            float v[BATCH];
            dg_get_row<THREADS>(k.dy, m, n, (uint32_t)k.N, dy);
            dg_get_row<THREADS>(k.seen, m, n, (uint32_t)k.N, seen);
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
                const float g = dg_drop(k.drop, key, n + (uint32_t)j * THREADS, dg_float(dy[j]));
                v[j] = through(k.act, g, dg_float(seen[j]));
            }
            dg_put_batch<THREADS>(k.dy, m, n, k.N, v);
        }
    }
}

/* parts[strip,N]: one thread per column of a strip of rows. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) column_parts(struct dg_k_columns k)
{
    const uint32_t across = (uint32_t)((k.N + THREADS - 1) / THREADS);
    const size_t n = (size_t)(blockIdx.x % across) * THREADS + threadIdx.x,
                 strip = blockIdx.x / across, m0 = strip * DG_STRIP_ROWS,
                 m1 = m0 + DG_STRIP_ROWS < k.M ? m0 + DG_STRIP_ROWS : k.M;
    float sum = 0;
    if (n >= k.N)
        return;
    for (size_t m = m0; m < m1; m += BATCH) {
        T x[BATCH], by[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            x[u] = dg_get<T>(m + u < m1, k.x.p, (m + u) * k.x.ld + n);
            by[u] = dg_get<T>(m + u < m1 && k.by.p, k.by.p, (m + u) * k.by.ld + n);
        }
#pragma unroll
        for (int u = 0; u < BATCH; u++)
            sum = fmaf(dg_float(x[u]), k.by.p ? dg_float(by[u]) : 1.0f, sum);
    }
    k.parts[strip * k.N + n] = sum;
}

/* A warp adds up every GROUPS-th part of 32 columns; then the warps' sums are added in order. */
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

/* One block per row of the table and stretch of its columns, WARPS columns per lane. A warp takes
 * every WARPS-th row that looked it up, so that pieces as frequent as a full stop do not finish
 * last; then the warps' sums are added in order. */
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

/* All kernels are compiled for the same architectures, so that one speaks for all. binaryVersion
 * would be the device's own, also where its driver compiled the PTX of an older one. */
extern "C" int dg_kernel_architecture(int *out)
{
    cudaFuncAttributes a = {};
    const cudaError_t rc = cudaFuncGetAttributes(&a, (const void *)embed_rows<float>);
    *out = a.ptxVersion;
    return rc;
}

extern "C" void dg_launch_embed(struct dg_cuda *cu, const struct dg_k_embed *k)
{
    DG_TYPED(k->table_type, DG_LAUNCH_EARLY(cu, embed_rows<T>, dg_blocks(k->M, 1), THREADS, 0, *k));
}

extern "C" void dg_launch_copy(struct dg_cuda *cu, const struct dg_k_copy *k)
{
    DG_TYPED(k->x.type, DG_LAUNCH(cu, copy_rows<T>, dg_blocks(k->M, 1), THREADS, 0, *k));
}

extern "C" void dg_launch_ssru(struct dg_cuda *cu, const struct dg_k_ssru *k)
{
    const dim3 blocks(dg_blocks(k->n_pieces, 1), (unsigned)((k->D + THREADS - 1) / THREADS));
    DG_TYPED(k->z.type, DG_LAUNCH(cu, ssru_rows<T>, blocks, THREADS, 0, *k));
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
    DG_TYPED(k->dy.type, DG_LAUNCH(cu, act_bwd<T>, dg_blocks(k->M, 1), THREADS, 0, *k));
}

extern "C" void dg_launch_columns(struct dg_cuda *cu, const struct dg_k_columns *k)
{
    const struct dg_k_totals totals = {k->parts, {k->out}, 1, dg_column_parts(k->M), k->N};
    const size_t blocks = dg_column_parts(k->M) * ((k->N + THREADS - 1) / THREADS);
    DG_TYPED(k->x.type, DG_LAUNCH(cu, column_parts<T>, (unsigned)blocks, THREADS, 0, *k));
    dg_launch_totals(cu, &totals);
}

extern "C" void dg_launch_scatter(struct dg_cuda *cu, const struct dg_k_scatter *k)
{
    const dim3 grid((unsigned)k->n, (unsigned)((k->D + THREADS - 1) / THREADS));
    DG_TYPED(k->dy.type, DG_LAUNCH(cu, scatter<T>, grid, THREADS, 0, *k));
}
