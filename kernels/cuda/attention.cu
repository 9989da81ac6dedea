/* Scaled dot-product attention (paper, eq. 1) of query rows over packed rows or cache slots.
 * A block owns one tile of a piece's queries for one head: it walks the keys once for all of them,
 * which for a sentence's beams over its memory means that keys and values are read once. KEYS keys
 * at a time go through shared memory; a thread owns query-key pairs for the scores, a warp a query
 * for the running softmax, and a thread up to ITEMS output elements for the weighted sum.
 * Order, and so bits, depend on the query's own keys alone: chunks begin at key 0, scores are four
 * chains over Dk, values are added in the order of the keys. fp32 throughout.
 * Limits: the shared memory of a block, which heads of up to about 5,000 elements fit. */
#include "kernels/cuda/device.cuh"

static const uint32_t THREADS = 128, WARPS = THREADS / DG_WARP, ITEMS = 8, MOST_QUERIES = 16,
                      COLUMNS = THREADS * ITEMS;

/* What a block knows about its tile. */
struct tile {
    struct dg_k_seg seg;
    uint32_t h, i0, n;    /* head; first query, queries */
    uint32_t most;        /* keys that its last query sees */
    uint32_t e0, columns; /* part of Dv */
    uint32_t stride;      /* floats between key rows in shared memory */
};

static __device__ __forceinline__ size_t key_row(
    const struct dg_k_attention &a, const struct dg_k_seg &s, uint32_t j)
{
    return s.slots >= 0 ? (size_t)a.slots[s.slots + j] : (size_t)s.k0 + j;
}

/* Keys that query i of the tile may see of the chunk at j0, at most n. */
static __device__ __forceinline__ uint32_t seen_of(
    const struct tile &t, uint32_t i, uint32_t j0, uint32_t n)
{
    uint32_t seen = t.seg.causal ? t.seg.n_k - t.seg.n_q + t.i0 + i + 1 : t.seg.n_k;
    if (seen <= j0)
        return 0;
    return seen - j0 < n ? seen - j0 : n;
}

/* n rows of keys or values, `width` elements from `first`, into shared memory: a warp a row. */
template <typename T>
static __device__ void load_rows(const struct dg_k_attention &a, const struct tile &t,
    const struct dg_k_rows &from, size_t first, uint32_t width, uint32_t j0, uint32_t n, float *to)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
#pragma unroll 4
    for (uint32_t j = threadIdx.x / DG_WARP; j < n; j += WARPS) {
        const T *row = (const T *)from.p + key_row(a, t.seg, j0 + j) * from.ld + first;
        for (uint32_t d = lane; d < width; d += DG_WARP)
            to[j * t.stride + d] = dg_float(row[d]);
    }
}

static __device__ __forceinline__ float dot(const float *a, const float *b, uint32_t n)
{
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    uint32_t d = 0;
    for (; d + 4 <= n; d += 4) {
        s0 = fmaf(a[d], b[d], s0);
        s1 = fmaf(a[d + 1], b[d + 1], s1);
        s2 = fmaf(a[d + 2], b[d + 2], s2);
        s3 = fmaf(a[d + 3], b[d + 3], s3);
    }
    for (; d < n; d++)
        s0 = fmaf(a[d], b[d], s0);
    return (s0 + s1) + (s2 + s3);
}

/* Scores of the chunk: s[n,KEYS]. */
template <uint32_t KEYS>
static __device__ void score(const struct dg_k_attention &a, const struct tile &t, const float *q,
    const float *keys, uint32_t n_keys, float *s)
{
    for (uint32_t pair = threadIdx.x; pair < t.n * KEYS; pair += THREADS) {
        uint32_t i = pair / KEYS, j = pair % KEYS;
        if (j < n_keys)
            s[pair] = __fmul_rn(dot(q + i * a.Dk, keys + j * t.stride, a.Dk), a.scale);
    }
}

/* Where the running softmax of each query stands: all sums so far are to be multiplied by fix. */
struct running {
    float max[MOST_QUERIES], sum[MOST_QUERIES], fix[MOST_QUERIES];
};

/* Scores become weights; dropped ones count in the sum, as they do in the softmax. */
template <uint32_t KEYS>
static __device__ void soften(const struct dg_k_attention &a, const struct tile &t, uint32_t j0,
    uint32_t n_keys, float *s, struct running *run)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    for (uint32_t i = threadIdx.x / DG_WARP; i < t.n; i += WARPS) {
        const uint32_t seen = seen_of(t, i, j0, n_keys);
        const float x = lane < seen ? s[i * KEYS + lane] : -INFINITY;
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

/* The finished softmax, before dropout, to memory: scores are made a second time. */
template <typename T, uint32_t KEYS>
static __device__ void write_probs(const struct dg_k_attention &a, const struct tile &t,
    const float *q, float *keys, float *s, const struct running *run)
{
    for (uint32_t j0 = 0; j0 < t.seg.n_k; j0 += KEYS) {
        const uint32_t n_keys = t.seg.n_k - j0 < KEYS ? t.seg.n_k - j0 : KEYS;
        __syncthreads();
        load_rows<T>(a, t, a.k, (size_t)t.h * a.Dk, a.Dk, j0, n_keys, keys);
        __syncthreads();
        score<KEYS>(a, t, q, keys, n_keys, s);
        __syncthreads();
        for (uint32_t pair = threadIdx.x; pair < t.n * KEYS; pair += THREADS) {
            const uint32_t i = pair / KEYS, j = pair % KEYS;
            if (j >= n_keys)
                continue;
            const float p =
                j < seen_of(t, i, j0, n_keys) ? expf(s[pair] - run->max[i]) / run->sum[i] : 0.0f;
            const size_t row = (size_t)t.h * t.seg.n_q + t.i0 + i;
            dg_store(a.probs.p, a.probs.type, t.seg.probs + row * t.seg.n_k + j0 + j, p);
        }
    }
}

static __device__ __forceinline__ struct tile tile_of(const struct dg_k_attention &a)
{
    const struct dg_k_tile at = a.tiles[blockIdx.x];
    struct tile t;
    t.seg = a.segs[at.seg];
    t.h = blockIdx.y;
    t.i0 = at.first;
    t.n = t.seg.n_q - at.first < a.tile_rows ? t.seg.n_q - at.first : a.tile_rows;
    t.most = t.seg.causal ? t.seg.n_k - t.seg.n_q + t.i0 + t.n : t.seg.n_k;
    t.e0 = blockIdx.z * COLUMNS;
    t.columns = a.Dv - t.e0 < COLUMNS ? a.Dv - t.e0 : COLUMNS;
    t.stride =
        (a.Dk > t.columns ? a.Dk : t.columns) | 1; /* odd: neighbouring keys in different banks */
    return t;
}

template <typename T, uint32_t KEYS>
static __global__ void __launch_bounds__(THREADS) attend(struct dg_k_attention a)
{
    DG_SHARED_BYTES(bytes);
    __shared__ struct running run;
    const struct tile t = tile_of(a);
    float *q = (float *)bytes;                    /* [n,Dk] */
    float *s = q + (size_t)a.tile_rows * a.Dk;    /* [n,KEYS] */
    float *keys = s + (size_t)a.tile_rows * KEYS; /* [KEYS,stride]: keys, then values */
    float acc[ITEMS] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (t.n == 0) /* a piece without queries pads a step */
        return;

    for (uint32_t at = threadIdx.x; at < t.n * a.Dk; at += THREADS) {
        const uint32_t i = at / a.Dk, d = at % a.Dk;
        q[at] =
            dg_float(((const T *)a.q.p)[(t.seg.q0 + t.i0 + i) * a.q.ld + (size_t)t.h * a.Dk + d]);
    }
    for (uint32_t i = threadIdx.x; i < t.n; i += THREADS) {
        run.max[i] = -INFINITY;
        run.sum[i] = 0;
    }
    for (uint32_t j0 = 0; j0 < t.most; j0 += KEYS) {
        const uint32_t n_keys = t.most - j0 < KEYS ? t.most - j0 : KEYS;
        __syncthreads();
        load_rows<T>(a, t, a.k, (size_t)t.h * a.Dk, a.Dk, j0, n_keys, keys);
        __syncthreads();
        score<KEYS>(a, t, q, keys, n_keys, s);
        __syncthreads();
        load_rows<T>(a, t, a.v, (size_t)t.h * a.Dv + t.e0, t.columns, j0, n_keys, keys);
        soften<KEYS>(a, t, j0, n_keys, s, &run);
        __syncthreads();
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++) {
            const uint32_t at = threadIdx.x + item * THREADS;
            if (at >= t.n * t.columns)
                continue;
            const uint32_t i = at / t.columns, e = at % t.columns, seen = seen_of(t, i, j0, n_keys);
            float sum = acc[item] * run.fix[i];
            for (uint32_t j = 0; j < seen; j++)
                sum = fmaf(s[i * KEYS + j], keys[j * t.stride + e], sum);
            acc[item] = seen ? sum : acc[item];
        }
    }
#pragma unroll
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t at = threadIdx.x + item * THREADS;
        if (at >= t.n * t.columns)
            continue;
        const uint32_t i = at / t.columns, e = at % t.columns;
        dg_put((T *)a.out.p + (t.seg.q0 + t.i0 + i) * a.out.ld + (size_t)t.h * a.Dv + t.e0 + e,
            acc[item] / run.sum[i]);
    }
    if (a.probs.p && blockIdx.z == 0)
        write_probs<T, KEYS>(a, t, q, keys, s, &run);
}

extern "C" uint32_t dg_attention_tile_rows(uint32_t Dv)
{
    const uint32_t columns = Dv < COLUMNS ? Dv : COLUMNS, n = COLUMNS / columns;
    return n < MOST_QUERIES ? n : MOST_QUERIES;
}

template <typename T, uint32_t KEYS>
static int launch(cudaStream_t stream, const struct dg_k_attention *k, size_t bytes)
{
    const dim3 grid(k->n_tiles, k->H, (k->Dv + COLUMNS - 1) / COLUMNS);
    const int rc = dg_allow_shared((const void *)attend<T, KEYS>, bytes);
    if (rc != cudaSuccess)
        return rc;
    DG_LAUNCH((attend<T, KEYS>), grid, THREADS, bytes, stream, *k);
    return cudaGetLastError();
}

/* Fewer keys at a time for wide heads, so that a chunk fits. The choice depends on the model alone.
 */
extern "C" int dg_launch_attention(cudaStream_t stream, const struct dg_k_attention *k)
{
    const uint32_t columns = k->Dv < COLUMNS ? k->Dv : COLUMNS,
                   width = (k->Dk > columns ? k->Dk : columns) | 1;
    const uint32_t keys = width <= 256 ? 32 : width <= 1025 ? 8 : 1;
    const size_t bytes =
        sizeof(float) * ((size_t)k->tile_rows * (k->Dk + keys) + (size_t)keys * width);
    int rc = cudaErrorInvalidValue;
    if (keys == 32)
        DG_TYPED(k->q.type, rc = (launch<T, 32>(stream, k, bytes)));
    else if (keys == 8)
        DG_TYPED(k->q.type, rc = (launch<T, 8>(stream, k, bytes)));
    else
        DG_TYPED(k->q.type, rc = (launch<T, 1>(stream, k, bytes)));
    return rc;
}
