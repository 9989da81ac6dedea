/* Scaled dot-product attention (paper, eq. 1) of query rows over packed rows or cache slots, for
 * heads of any size. A warp owns one query of one head and COLUMNS of its outputs; it walks the
 * query's keys in chunks of 32: four lanes compute a key's score, the online softmax has one lane
 * per key, and 16 lanes add up the values of every second key. Warps share nothing and never wait
 * at a barrier. Queries of a segment are neighbours in a block, so that what they read in common
 * comes from the L1 cache.
 * The order of sums, and so the bits, depend on the query's own keys alone: a score is the sum of
 * four lanes of four chains each, an output the sum over even keys plus the sum over odd ones. fp32
 * throughout. Rows aligned to four elements are read by fours, others by the element, with the same
 * result. */
#include "kernels/cuda/attention.cuh"

static const uint32_t WARPS = 4, THREADS = WARPS * DG_WARP, KEYS = DG_WARP, COLUMNS = 64,
                      LANES = 4, /* of a key's score */
    NEWEST = 0xFFFFFFFFu;        /* instead of a row: not in the cache yet */

/* What a warp has in shared memory. */
struct chunk {
    uint32_t row[KEYS];
    float weight[KEYS];
};

/* Query i of its segment, in head h. seen: number of keys that it sees; row: its row; key:
 * dropout's. */
struct query {
    struct dg_k_seg seg;
    uint32_t h, i, seen, key;
    size_t row;
};

/* Query number `at` of all heads. */
static __device__ __forceinline__ struct query query_of(const struct dg_k_attention &a, uint32_t at)
{
    const uint32_t tile = at % a.n_tiles;
    struct query q;
    q.h = at / a.n_tiles;
    q.seg = a.segs[a.tiles ? a.tiles[tile].seg : tile];
    q.i = a.tiles ? a.tiles[tile].first : 0;
    q.seen = seen_by(q.seg, q.i);
    q.row = (size_t)q.seg.q0 + q.i;
    q.key = dg_drop_key(a.drop, q.row);
    return q;
}

/* Key or value `row`; NEWEST: the cached step's own. */
template <typename T>
static __device__ __forceinline__ const T *row_of(const struct dg_k_rows &rows,
    const struct dg_k_rows &newest, const struct query &q, uint32_t row)
{
    return row == NEWEST ? (const T *)newest.p + q.seg.q0 * newest.ld
                         : (const T *)rows.p + row * rows.ld;
}

/* Writes a cached step's own key or value to its slot, which no other warp reads in this launch. */
template <typename T>
static __device__ void keep_newest(const struct dg_k_attention &a, const struct query &q,
    const struct dg_k_rows &rows, const struct dg_k_rows &newest, uint32_t width)
{
    const size_t slot = (size_t)a.slots[q.seg.slots + q.seg.n_k - 1], first = (size_t)q.h * width;
    for (uint32_t d = threadIdx.x % DG_WARP; d < width; d += DG_WARP)
        ((T *)rows.p)[slot * rows.ld + first + d] =
            ((const T *)newest.p)[q.seg.q0 * newest.ld + first + d];
}

/* The lane's part of a key's score. x: the query [Dk], then zeros up to a multiple of four. */
template <typename T, bool WIDE>
static __device__ __forceinline__ float dot_part(const T *key, const float *x, uint32_t Dk)
{
    float sum[4] = {0, 0, 0, 0};
#pragma unroll 4
    for (uint32_t d = threadIdx.x % LANES * 4; d < Dk; d += LANES * 4) {
        float k[4];
        dg_get_four<T, WIDE>(key + d, Dk - d, 0, k);
#pragma unroll
        for (int e = 0; e < 4; e++)
            sum[e] = fmaf(x[d + e], k[e], sum[e]);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The score of key j0 + lane, of n in the chunk. Also stores the rows of all n keys in c->row. */
template <typename T, bool WIDE>
static __device__ float score(const struct dg_k_attention &a, const struct query &q, const float *x,
    uint32_t j0, uint32_t n, struct chunk *c)
{
    const uint32_t lane = threadIdx.x % DG_WARP, j = j0 + lane;
    uint32_t row = q.seg.k0 + j;
    if (lane < n && q.seg.slots >= 0)
        row = a.new_k.p && j + 1 == q.seg.n_k ? NEWEST : (uint32_t)a.slots[q.seg.slots + j];
    __syncwarp();
    c->row[lane] = row;
    __syncwarp();
    for (uint32_t first = 0; first < n; first += DG_WARP / LANES) {
        const uint32_t key = first + lane / LANES;
        float sum = 0;
        if (key < n)
            sum = dot_part<T, WIDE>(
                row_of<T>(a.k, a.new_k, q, c->row[key]) + (size_t)q.h * a.Dk, x, a.Dk);
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
        if (lane % LANES == 0)
            c->weight[key] = __fmul_rn(sum, a.scale);
    }
    __syncwarp();
    return lane < n ? c->weight[lane] : -INFINITY;
}

/* Stores the finished softmax, before dropout; scores are computed again. */
template <typename T, bool WIDE>
static __device__ void put_probs(const struct dg_k_attention &a, const struct query &q,
    const float *x, float most, float sum, struct chunk *c)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    for (uint32_t j0 = 0; j0 < q.seg.n_k; j0 += KEYS) {
        const uint32_t left = q.seen > j0 ? q.seen - j0 : 0, n = left < KEYS ? left : KEYS;
        const float s = score<T, WIDE>(a, q, x, j0, n, c);
        const size_t to = q.seg.probs + ((size_t)q.h * q.seg.n_q + q.i) * q.seg.n_k + j0 + lane;
        if (j0 + lane < q.seg.n_k)
            dg_store(a.probs.p, a.probs.type, to, lane < n ? expf(s - most) / sum : 0.0f);
    }
}

template <typename T, bool WIDE>
static __global__ void __launch_bounds__(THREADS) attention_fwd(struct dg_k_attention a)
{
    DG_SHARED_BYTES(bytes);
    DG_AFTER_THE_LAST();
    const uint32_t lane = threadIdx.x % DG_WARP, warp = threadIdx.x / DG_WARP,
                   column = blockIdx.y * COLUMNS + lane % 16 * 4, padded = (a.Dk + 3) / 4 * 4;
    if (blockIdx.x * WARPS + warp >= a.n_tiles * a.H)
        return;
    const struct query q = query_of(a, blockIdx.x * WARPS + warp);
    struct chunk *chunks = (struct chunk *)(void *)bytes, *c = chunks + warp;
    float *x = (float *)(void *)(chunks + WARPS) + warp * padded;
    if (q.seg.n_q == 0) /* a segment without queries pads a step */
        return;
    for (uint32_t d = lane; d < padded; d += DG_WARP)
        x[d] = d < a.Dk ? dg_float(((const T *)a.q.p)[q.row * a.q.ld + (size_t)q.h * a.Dk + d]) : 0;
    if (a.new_k.p && blockIdx.y == 0) {
        keep_newest<T>(a, q, a.k, a.new_k, a.Dk);
        keep_newest<T>(a, q, a.v, a.new_v, a.Dv);
    }

    /* Online softmax: sums so far are multiplied by `fix` whenever a larger score is met. Dropped
     * weights count in the sum, as they do in the softmax. */
    float most = -INFINITY, sum = 0, out[4] = {0, 0, 0, 0};
    for (uint32_t j0 = 0; j0 < q.seen; j0 += KEYS) {
        const uint32_t n = q.seen - j0 < KEYS ? q.seen - j0 : KEYS;
        const float s = score<T, WIDE>(a, q, x, j0, n, c), top = fmaxf(most, dg_warp_max(s)),
                    base = top == -INFINITY ? 0.0f : top, fix = expf(most - base),
                    p = expf(s - base);
        sum = fmaf(sum, fix, dg_warp_sum(p));
        most = top;
        __syncwarp();
        c->weight[lane] = dg_drop(a.drop, q.key, q.h * 2048 + j0 + lane, p);
        __syncwarp();
#pragma unroll
        for (int e = 0; e < 4; e++)
            out[e] = __fmul_rn(out[e], fix);
#pragma unroll 8
        for (uint32_t j = lane / 16; j < n; j += 2) {
            float v[4];
            const T *value = row_of<T>(a.v, a.new_v, q, c->row[j]) + (size_t)q.h * a.Dv + column;
            dg_get_four<T, WIDE>(value, column < a.Dv ? a.Dv - column : 0, 0, v);
#pragma unroll
            for (int e = 0; e < 4; e++)
                out[e] = fmaf(c->weight[j], v[e], out[e]);
        }
    }
#pragma unroll
    for (uint32_t e = 0; e < 4; e++) {
        out[e] += __shfl_xor_sync(0xFFFFFFFFu, out[e], 16);
        if (lane < 16 && column + e < a.Dv)
            dg_put((T *)a.out.p + q.row * a.out.ld + (size_t)q.h * a.Dv + column + e, out[e] / sum);
    }
    if (a.probs.p && blockIdx.y == 0)
        put_probs<T, WIDE>(a, q, x, most, sum, c);
}

template <typename T> static void launch(struct dg_cuda *cu, const struct dg_k_attention *k)
{
    const size_t bytes = WARPS * (sizeof(struct chunk) + (k->Dk + 3) / 4 * 4 * sizeof(float));
    const bool wide = k->Dk % 4 == 0 && k->Dv % 4 == 0 && dg_in_fours(k->q) && dg_in_fours(k->k) &&
                      dg_in_fours(k->v) && dg_in_fours(k->new_k) && dg_in_fours(k->new_v);
    void (*const kernel)(struct dg_k_attention) =
        wide ? attention_fwd<T, true> : attention_fwd<T, false>;
    const dim3 grid((k->n_tiles * k->H + WARPS - 1) / WARPS, (k->Dv + COLUMNS - 1) / COLUMNS);
    if (dg_cuda_ok(cu, dg_allow_shared((const void *)kernel, bytes), "attention's shared memory"))
        DG_LAUNCH_EARLY(cu, kernel, grid, THREADS, bytes, *k);
}

extern "C" void dg_launch_attention(struct dg_cuda *cu, const struct dg_k_attention *k)
{
    DG_TYPED(k->q.type, launch<T>(cu, k));
}
