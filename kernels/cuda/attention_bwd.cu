/* Backward of attention over packed rows. With A = drop(P), P = softmax(S), S = q k^T scale:
 * dA = dO v^T, dP = drop(dA), dS = P (dP - sum_j P dP) scale, dq = dS k, dk = dS^T q, dv = A^T dO.
 * Guided heads add their guide's gradient to dP (struct dg_guide).
 * Two kernels, so that every sum has one owner and one order: a warp of `attention_bwd_dq` takes a
 * query of one head, writes dS to scratch and dq; a warp of `attention_bwd_dkv` takes a key and
 * sums dk and dv over the queries. As in attention_fwd.cu, for heads of any size: lanes are
 * columns, warps share nothing, and what neighbours read in common comes from the L1 cache.
 *
 * Expected on an H200, base, fp32, M = 25,000 in sentences of 27 (calculated, not measured): from
 * memory dq and dkv each 4 (4 M D + 2 H M 27) = 248 MB, 69 us at 3.6 TB/s; by instructions, some 40
 * per warp for each of 5.4 million pairs, 240 us each. guide_links reads and writes 10 bytes per
 * link and head: 3 us. */
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/launch_train.h"

#include <math.h>

static const uint32_t WARPS = 4, THREADS = WARPS * DG_WARP;

/* The part of a row that belongs to head h; heads are `width` wide. */
template <typename T>
static __device__ __forceinline__ T *part_of(
    const struct dg_k_rows &x, size_t row, uint32_t h, uint32_t width)
{
    return (T *)x.p + row * x.ld + (size_t)h * width;
}

/* x of query i and key j after dropout. */
static __device__ __forceinline__ float masked(
    const struct dg_k_attention &a, const struct place &p, uint32_t i, uint32_t j, float x)
{
    return dg_drop(a.drop, dg_drop_key(a.drop, p.seg.q0 + i), p.h * 2048 + j, x);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) attention_bwd_dq(struct dg_k_attention_bwd g)
{
    const struct dg_k_attention &a = g.a;
    const uint32_t lane = threadIdx.x % DG_WARP, at = blockIdx.x * WARPS + threadIdx.x / DG_WARP;
    if (at >= a.n_tiles * a.H)
        return;
    const struct place p = place_of(a, a.tiles[at % a.n_tiles], at / a.n_tiles, false, 1);
    const uint32_t i = p.first, seen = seen_by(p.seg, i);
    const size_t row = (size_t)p.seg.q0 + i, pairs = p.pairs + (size_t)i * p.seg.n_k;
    const T *dout = part_of<T>(g.dout, row, p.h, a.Dv), *probs = (const T *)a.probs.p + pairs;
    float *ds = g.ds + pairs, sum = 0;

    /* dP, with the guide's share. */
#pragma unroll 4
    for (uint32_t j = 0; j < seen; j++) {
        const T *value = part_of<T>(a.v, (size_t)p.seg.k0 + j, p.h, a.Dv);
        float dp = 0;
        for (uint32_t d = lane; d < a.Dv; d += DG_WARP)
            dp = fmaf(dg_float(dout[d]), dg_float(value[d]), dp);
        dp = dg_warp_sum(dp);
        if (lane == 0)
            ds[j] = masked(a, p, i, j, dp);
    }
    if (g.guide.rows && p.h - g.guide.head < g.guide.n_heads && lane == 0) {
        const struct dg_k_links l = g.guide.rows[row];
        for (uint32_t n = l.first; n < l.first + l.n; n++)
            if (g.guide.keys[n] < seen)
                ds[g.guide.keys[n]] += g.guide.adds[n];
    }
    __syncwarp();

    /* dS, then dq. */
    for (uint32_t j = lane; j < seen; j += DG_WARP)
        sum = fmaf(dg_float(probs[j]), ds[j], sum);
    sum = dg_warp_sum(sum);
    for (uint32_t j = lane; j < seen; j += DG_WARP)
        ds[j] = dg_float(probs[j]) * (ds[j] - sum) * a.scale;
    __syncwarp();
    for (uint32_t d = lane; d < a.Dk; d += DG_WARP) {
        float dq = 0;
#pragma unroll 4
        for (uint32_t j = 0; j < seen; j++)
            dq = fmaf(ds[j], dg_float(part_of<T>(a.k, (size_t)p.seg.k0 + j, p.h, a.Dk)[d]), dq);
        dg_put(part_of<T>(g.dq, row, p.h, a.Dk) + d, dq);
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) attention_bwd_dkv(struct dg_k_attention_bwd g)
{
    const struct dg_k_attention &a = g.a;
    const uint32_t lane = threadIdx.x % DG_WARP, at = blockIdx.x * WARPS + threadIdx.x / DG_WARP;
    if (at >= g.n_key_tiles * a.H)
        return;
    const struct place p =
        place_of(a, g.key_tiles[at % g.n_key_tiles], at / g.n_key_tiles, true, 1);
    const uint32_t j = p.first, before = p.seg.n_k - p.seg.n_q,
                   i0 = p.seg.causal && j > before ? j - before : 0; /* first query that sees j */
    const size_t row = (size_t)p.seg.k0 + j;
    for (uint32_t d = lane; d < a.Dk; d += DG_WARP) {
        float dk = 0;
#pragma unroll 4
        for (uint32_t i = i0; i < p.seg.n_q; i++)
            dk = fmaf(g.ds[p.pairs + (size_t)i * p.seg.n_k + j],
                dg_float(part_of<T>(a.q, (size_t)p.seg.q0 + i, p.h, a.Dk)[d]), dk);
        dg_put(part_of<T>(g.dk, row, p.h, a.Dk) + d, dk);
    }
    for (uint32_t d = lane; d < a.Dv; d += DG_WARP) {
        float dv = 0;
#pragma unroll 4
        for (uint32_t i = i0; i < p.seg.n_q; i++) {
            const float prob =
                dg_float(((const T *)a.probs.p)[p.pairs + (size_t)i * p.seg.n_k + j]);
            dv = fmaf(masked(a, p, i, j, prob),
                dg_float(part_of<T>(g.dout, (size_t)p.seg.q0 + i, p.h, a.Dv)[d]), dv);
        }
        dg_put(part_of<T>(g.dv, row, p.h, a.Dv) + d, dv);
    }
}

/* One thread per query of the tile, which has at most DG_MMA_ROWS: computes what each of its links
 * adds to dP of the guided heads, and its loss. The mean over those heads is taken as in
 * kernels/cpu/train/guide.c. */
static __global__ void guide_links(struct dg_k_attention_bwd g)
{
    const struct dg_k_guide &guide = g.guide;
    const struct dg_k_tile at = g.a.tiles[blockIdx.x];
    const struct dg_k_seg s = g.a.segs[at.seg];
    const uint32_t i = at.first + threadIdx.x;
    if (threadIdx.x >= g.a.tile_rows || i >= s.n_q)
        return;
    const struct dg_k_links l = guide.rows[s.q0 + i];
    const size_t matrix = (size_t)s.n_q * s.n_k;
    double loss = 0;
    for (uint32_t n = l.first; n < l.first + l.n; n++) {
        const size_t pair = s.probs + guide.head * matrix + (size_t)i * s.n_k + guide.keys[n];
        float mean = 0;
        for (uint32_t h = 0; h < guide.n_heads; h++)
            mean += dg_load(g.a.probs.p, g.a.probs.type, pair + h * matrix);
        mean = mean / (float)guide.n_heads + 1e-9f;
        loss -= log((double)mean);
        guide.adds[n] = -guide.scale / (float)l.n / (mean * (float)guide.n_heads);
    }
    if (l.n)
        guide.loss[s.q0 + i] = loss / l.n;
}

extern "C" void dg_launch_guide(struct dg_cuda *cu, const struct dg_k_attention_bwd *k)
{
    DG_LAUNCH(cu, guide_links, k->a.n_tiles, DG_MMA_ROWS, 0, *k);
}

extern "C" void dg_launch_attention_bwd(struct dg_cuda *cu, const struct dg_k_attention_bwd *k)
{
    const unsigned queries = (k->a.n_tiles * k->a.H + WARPS - 1) / WARPS,
                   keys = (k->n_key_tiles * k->a.H + WARPS - 1) / WARPS;
    DG_TYPED(k->a.q.type, DG_LAUNCH(cu, attention_bwd_dq<T>, queries, THREADS, 0, *k));
    DG_TYPED(k->a.q.type, DG_LAUNCH(cu, attention_bwd_dkv<T>, keys, THREADS, 0, *k));
}
