/* What all of attention's kernels share: a piece's causal mask, and the tile of queries that a
 * block of a forward kernel has. */
#ifndef DG_KERNELS_CUDA_ATTENTION_TILE_CUH
#define DG_KERNELS_CUDA_ATTENTION_TILE_CUH

#include "kernels/cuda/device.cuh"

/* Keys that query i of the piece sees: the first ones. */
static __device__ __forceinline__ uint32_t seen_by(const struct dg_k_seg &s, uint32_t i)
{
    return s.causal ? s.n_k - s.n_q + i + 1 : s.n_k;
}

struct tile {
    struct dg_k_seg seg;
    uint32_t h, i0, n; /* head; first query, queries */
    uint32_t most;     /* keys that its last query sees */
};

static __device__ __forceinline__ struct tile tile_of(const struct dg_k_attention &a)
{
    struct tile t;
    t.seg = a.segs[a.tiles ? a.tiles[blockIdx.x].seg : blockIdx.x];
    t.h = blockIdx.y;
    t.i0 = a.tiles ? a.tiles[blockIdx.x].first : 0;
    t.n = t.seg.n_q - t.i0 < a.tile_rows ? t.seg.n_q - t.i0 : a.tile_rows;
    t.most = seen_by(t.seg, t.i0 + t.n - 1);
    return t;
}

#endif
