/* What the forward kernels of attention share: where keys lie, the
 * running softmax, probabilities that are wanted. A block of THREADS owns one tile of a piece's
 * queries for one head and goes through the keys in chunks of KEYS, which begin at key 0.
 * Scores lie in shared memory as s[PARTS,tile_rows,KEYS]: sums over PARTS parts of Dk. */
#ifndef DG_KERNELS_CUDA_ATTENTION_FWD_CUH
#define DG_KERNELS_CUDA_ATTENTION_FWD_CUH

#include "kernels/cuda/attention_tile.cuh"

static const uint32_t THREADS = 128, WARPS = THREADS / DG_WARP, MOST_QUERIES = 16;

/* Where keys or values of the piece lie, the newest of a cached step apart. */
struct source {
    struct dg_k_rows rows, fresh;
};

static __device__ __forceinline__ struct source keys_of(const struct dg_k_attention &a)
{
    return {a.k, a.new_k};
}

static __device__ __forceinline__ struct source values_of(const struct dg_k_attention &a)
{
    return {a.v, a.new_v};
}

/* The piece's key that is not in the cache yet; none has this number where all are. */
static __device__ __forceinline__ uint32_t newest_of(
    const struct dg_k_attention &a, const struct tile &t)
{
    return a.new_k.p ? t.seg.n_k - 1 : 0xFFFFFFFFu;
}

/* Key or value j. */
template <typename T>
static __device__ __forceinline__ const T *row_of(
    const struct dg_k_attention &a, const struct tile &t, const struct source &from, uint32_t j)
{
    if (j == newest_of(a, t))
        return (const T *)from.fresh.p + (size_t)t.seg.q0 * from.fresh.ld;
    const size_t row = t.seg.slots >= 0 ? (size_t)a.slots[t.seg.slots + j] : (size_t)t.seg.k0 + j;
    return (const T *)from.rows.p + row * from.rows.ld;
}

/* `width` elements from `first` of the newest key or value into its slot, which no other block
 * reads in this launch. */
template <typename T>
static __device__ __forceinline__ void keep_newest(const struct dg_k_attention &a,
    const struct tile &t, const struct source &of, size_t first, uint32_t width)
{
    if (!of.fresh.p)
        return;
    const T *x = (const T *)of.fresh.p + (size_t)t.seg.q0 * of.fresh.ld + first;
    T *y = (T *)of.rows.p + (size_t)a.slots[t.seg.slots + t.seg.n_k - 1] * of.rows.ld + first;
    for (uint32_t d = threadIdx.x; d < width; d += THREADS)
        y[d] = x[d];
}

/* Keys that query i of the tile may see of the chunk at j0, at most n. */
static __device__ __forceinline__ uint32_t seen_of(
    const struct tile &t, uint32_t i, uint32_t j0, uint32_t n)
{
    const uint32_t seen = seen_by(t.seg, t.i0 + i);
    if (seen <= j0)
        return 0;
    return seen - j0 < n ? seen - j0 : n;
}

/* Where the running softmax of each query stands: all sums so far are to be multiplied by fix. */
struct running {
    float max[MOST_QUERIES], sum[MOST_QUERIES], fix[MOST_QUERIES];
};

static __device__ __forceinline__ void begin_softmax(const struct tile &t, struct running *run)
{
    for (uint32_t i = threadIdx.x; i < t.n; i += THREADS) {
        run->max[i] = -INFINITY;
        run->sum[i] = 0;
    }
}

template <uint32_t KEYS, uint32_t PARTS>
static __device__ __forceinline__ float score_of(
    const struct dg_k_attention &a, const float *s, uint32_t i, uint32_t j)
{
    const uint32_t part = a.tile_rows * KEYS;
    const float *x = s + i * KEYS + j;
    return __fmul_rn(PARTS == 1 ? x[0] : (x[0] + x[part]) + (x[2 * part] + x[3 * part]), a.scale);
}

/* Scores become weights s[tile_rows,KEYS], a warp a query; dropped ones count in the sum, as they
 * do in the softmax. */
template <uint32_t KEYS, uint32_t PARTS>
static __device__ void online_softmax(const struct dg_k_attention &a, const struct tile &t,
    uint32_t j0, uint32_t n_keys, float *s, struct running *run)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    for (uint32_t i = threadIdx.x / DG_WARP; i < t.n; i += WARPS) {
        const uint32_t seen = seen_of(t, i, j0, n_keys);
        const float x = lane < seen ? score_of<KEYS, PARTS>(a, s, i, lane) : -INFINITY;
        const float old = run->max[i], top = fmaxf(old, dg_warp_max(x));
        float p = x == -INFINITY ? 0.0f : expf(x - top);
        const float sum = dg_warp_sum(p), fix = old == top         ? 1.0f
                                                : old == -INFINITY ? 0.0f
                                                                   : expf(old - top);
        if (a.drop.row_key && lane < seen)
            p = dg_drop(a.drop, a.drop.row_key[t.seg.q0 + t.i0 + i] ^ a.drop.site,
                t.h * 2048 + j0 + lane, p);
        __syncwarp();
        if (lane < KEYS)
            s[i * KEYS + lane] = p;
        if (lane == 0) {
            run->sum[i] = fmaf(run->sum[i], fix, sum);
            run->max[i] = top;
            run->fix[i] = fix;
        }
    }
}

/* Are the last chunk's weights all there are, and not dropped? Then they are the softmax, but for
 * the sum; otherwise scores are made a second time. */
template <uint32_t KEYS>
static __device__ __forceinline__ bool weights_remain(
    const struct dg_k_attention &a, const struct tile &t)
{
    return t.seg.n_k <= KEYS && !a.drop.row_key;
}

/* A chunk of the finished softmax, before dropout, to memory: from its weights or its scores. */
template <uint32_t KEYS, uint32_t PARTS>
static __device__ void put_probs(const struct dg_k_attention &a, const struct tile &t, uint32_t j0,
    uint32_t n_keys, const float *s, const struct running *run, bool weights)
{
    for (uint32_t pair = threadIdx.x; pair < t.n * KEYS; pair += THREADS) {
        const uint32_t i = pair / KEYS, j = pair % KEYS;
        float p = 0;
        if (j >= n_keys)
            continue;
        if (j < seen_of(t, i, j0, n_keys))
            p = (weights ? s[pair] : expf(score_of<KEYS, PARTS>(a, s, i, j) - run->max[i])) /
                run->sum[i];
        const size_t row = (size_t)t.h * t.seg.n_q + t.i0 + i;
        dg_store(a.probs.p, a.probs.type, t.seg.probs + row * t.seg.n_k + j0 + j, p);
    }
}

#endif
