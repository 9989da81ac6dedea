/* What both of attention's backwards share, the plain one (attention_bwd.cu) and tensor cores'
 * (attention_bwd_mma.cu): a block's place, and a guide's loss (struct dg_guide). */
#ifndef DG_KERNELS_CUDA_ATTENTION_BWD_CUH
#define DG_KERNELS_CUDA_ATTENTION_BWD_CUH

#include "kernels/cuda/attention_tile.cuh"
#include "kernels/cuda/launch_train.h"

/* What a block works on. */
struct place {
    struct dg_k_seg seg;
    uint32_t h, first, n; /* head; rows of the tile */
    size_t pairs;         /* of its [n_q,n_k] in probabilities and ds */
};

/* rows: of a whole tile, of queries or of keys. */
static __device__ __forceinline__ struct place place_of(
    const struct dg_k_attention &a, const struct dg_k_tile *tiles, bool of_keys, uint32_t rows)
{
    const struct dg_k_tile at = tiles[blockIdx.x];
    struct place p;
    p.seg = a.segs[at.seg];
    p.h = blockIdx.y;
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

/* Mean of the guided heads' probabilities of query i for key j, as kernels/cpu/train/guide.c takes
 * it. */
static __device__ float dg_guided_mean(
    const struct dg_k_attention_bwd &g, const struct dg_k_seg &s, uint32_t i, uint32_t j)
{
    const size_t matrix = (size_t)s.n_q * s.n_k,
                 at = s.probs + g.guide.head * matrix + (size_t)i * s.n_k + j;
    float sum = 0;
    for (uint32_t h = 0; h < g.guide.n_heads; h++)
        sum += dg_load(g.a.probs.p, g.a.probs.type, at + h * matrix);
    return sum / (float)g.guide.n_heads + 1e-9f;
}

/* What a link adds to dP of each guided head, for a query that has so many. */
static __device__ __forceinline__ float dg_guided_gradient(
    const struct dg_k_guide &guide, uint32_t links, float mean)
{
    return -guide.scale / (float)links / (mean * (float)guide.n_heads);
}

#endif
