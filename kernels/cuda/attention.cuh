/* Shared by attention's kernels: a segment's causal mask, the rows of a block or a warp, and, on
 * tensor cores, the queries of a lane. */
#ifndef DG_KERNELS_CUDA_ATTENTION_CUH
#define DG_KERNELS_CUDA_ATTENTION_CUH

#include "kernels/cuda/device.cuh"

/* Number of keys that query i of the segment sees: the first ones. */
static __device__ __forceinline__ uint32_t seen_by(const struct dg_k_seg &s, uint32_t i)
{
    return s.causal ? s.n_k - s.n_q + i + 1 : s.n_k;
}

/* Some queries, or keys, of one head: n of them from `first` on. pairs: offset of the head's
 * [n_q,n_k] in the probabilities and in their gradients. */
struct place {
    struct dg_k_seg seg;
    uint32_t h, first, n;
    size_t pairs;
};

/* rows: queries, or keys, of a full tile. */
static __device__ __forceinline__ struct place place_of(const struct dg_k_attention &a,
    const struct dg_k_tile &at, uint32_t h, bool of_keys, uint32_t rows)
{
    struct place p;
    p.seg = a.segs[at.seg];
    p.h = h;
    p.first = at.first;
    const uint32_t all = of_keys ? p.seg.n_k : p.seg.n_q;
    p.n = all - at.first < rows ? all - at.first : rows;
    p.pairs = p.seg.probs + (size_t)p.h * p.seg.n_q * p.seg.n_k;
    return p;
}

/* A lane's two queries, g and g + 8 of its warp's 16. seen: keys that they see, 0 beyond the last
 * query; key: dropout's; top: the largest score so far; sum: a sum over the keys. */
struct queries {
    uint32_t seen[2], key[2];
    float top[2], sum[2];
};

static __device__ __forceinline__ struct queries queries_of(
    const struct dg_k_attention &a, const struct place &p)
{
    struct queries m;
#pragma unroll
    for (uint32_t r = 0; r < 2; r++) {
        const uint32_t at = threadIdx.x / DG_WARP * 16 + threadIdx.x % DG_WARP / 4 + r * 8;
        m.seen[r] = at < p.n ? seen_by(p.seg, p.first + at) : 0;
        m.key[r] = at < p.n ? dg_drop_key(a.drop, (size_t)p.seg.q0 + p.first + at) : 0;
        m.top[r] = -INFINITY;
        m.sum[r] = 0;
    }
    return m;
}

/* n keys from `first` on, in shared memory. */
struct key_range {
    uint32_t first, n;
};

/* The key of a lane's element c in block b of the range. */
static __device__ __forceinline__ uint32_t key_of(
    const struct key_range &at, uint32_t b, uint32_t c)
{
    return at.first + b * 8 + threadIdx.x % 4 * 2 + c % 2;
}

#endif
