/* What both of attention's backwards share, the plain one (attention_bwd.cu) and tensor cores'
 * (attention_bwd_mma.cu): where a block or a warp is, and which heads have a guide. */
#ifndef DG_KERNELS_CUDA_ATTENTION_BWD_CUH
#define DG_KERNELS_CUDA_ATTENTION_BWD_CUH

#include "kernels/cuda/attention_tile.cuh"
#include "kernels/cuda/launch_train.h"

struct place {
    struct dg_k_seg seg;
    uint32_t h, first, n; /* head; rows of the tile */
    size_t pairs;         /* of its [n_q,n_k] in probabilities and ds */
};

/* rows: of a whole tile, of queries or of keys. */
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

static __device__ __forceinline__ bool dg_guided(const struct dg_k_guide &guide, uint32_t h)
{
    return guide.rows && h - guide.head < guide.n_heads;
}

#endif
