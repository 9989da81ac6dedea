/* Scaled dot-product attention (paper, eq. 1) of query rows over packed rows or cache slots.
 * A block owns one tile of a piece's queries for one head: it walks the keys once for all of them,
 * which for a sentence's beams over its memory means that keys and values are read once. KEYS keys
 * at a time go through shared memory; a thread owns query-key pairs for the scores, a warp a query
 * for the running softmax, and a thread up to ITEMS output elements for the weighted sum.
 * Order, and so bits, depend on the query's own keys alone: chunks begin at key 0, scores are four
 * chains over Dk, values are added in the order of the keys. fp32 throughout.
 * Heads of 64 elements have a kernel of their own, attention_fwd_64.cu.
 * Limits: the shared memory of a block, which heads of up to about 5,000 elements fit. */
#include "kernels/cuda/attention_fwd.cuh"

static const uint32_t ITEMS = 8, COLUMNS = THREADS * ITEMS;

/* The part of Dv that a block has, and how keys and values lie in its shared memory. */
struct part {
    uint32_t e0, columns;
    uint32_t stride; /* floats between rows; odd: neighbouring keys in different banks */
};

static __device__ __forceinline__ struct part part_of(const struct dg_k_attention &a)
{
    struct part p;
    p.e0 = blockIdx.z * COLUMNS;
    p.columns = a.Dv - p.e0 < COLUMNS ? a.Dv - p.e0 : COLUMNS;
    p.stride = (a.Dk > p.columns ? a.Dk : p.columns) | 1;
    return p;
}

/* n rows of keys or values, `width` elements from `first`, into shared memory: a warp a row. */
template <typename T>
static __device__ void load_rows(const struct dg_k_attention &a, const struct tile &t,
    const struct source &from, size_t first, uint32_t width, uint32_t j0, uint32_t n,
    uint32_t stride, float *to)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
#pragma unroll 4
    for (uint32_t j = threadIdx.x / DG_WARP; j < n; j += WARPS) {
        const T *row = row_of<T>(a, t, from, j0 + j) + first;
        for (uint32_t d = lane; d < width; d += DG_WARP)
            to[j * stride + d] = dg_float(row[d]);
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

/* Scores of the chunk, but for the scale: s[n,KEYS]. */
template <uint32_t KEYS>
static __device__ void score(const struct dg_k_attention &a, const struct tile &t, const float *q,
    const float *keys, uint32_t stride, uint32_t n_keys, float *s)
{
    for (uint32_t pair = threadIdx.x; pair < t.n * KEYS; pair += THREADS) {
        uint32_t i = pair / KEYS, j = pair % KEYS;
        if (j < n_keys)
            s[pair] = dot(q + i * a.Dk, keys + j * stride, a.Dk);
    }
}

/* The finished softmax, before dropout, to memory. */
template <typename T, uint32_t KEYS>
static __device__ void write_probs(const struct dg_k_attention &a, const struct tile &t,
    const float *q, float *keys, uint32_t stride, float *s, const struct running *run)
{
    if (weights_remain<KEYS>(a, t)) {
        put_probs<KEYS, 1>(a, t, 0, t.seg.n_k, s, run, true);
        return;
    }
    for (uint32_t j0 = 0; j0 < t.seg.n_k; j0 += KEYS) {
        const uint32_t n_keys = t.seg.n_k - j0 < KEYS ? t.seg.n_k - j0 : KEYS;
        __syncthreads();
        load_rows<T>(a, t, keys_of(a), (size_t)t.h * a.Dk, a.Dk, j0, n_keys, stride, keys);
        __syncthreads();
        score<KEYS>(a, t, q, keys, stride, n_keys, s);
        __syncthreads();
        put_probs<KEYS, 1>(a, t, j0, n_keys, s, run, false);
    }
}

template <typename T, uint32_t KEYS>
static __global__ void __launch_bounds__(THREADS, 5) attend(struct dg_k_attention a)
{
    DG_SHARED_BYTES(bytes);
    __shared__ struct running run;
    const struct tile t = tile_of(a);
    const struct part p = part_of(a);
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
    begin_softmax(t, &run);
    if (blockIdx.z == 0)
        keep_newest<T>(a, t, keys_of(a), (size_t)t.h * a.Dk, a.Dk);
    keep_newest<T>(a, t, values_of(a), (size_t)t.h * a.Dv + p.e0, p.columns);
    for (uint32_t j0 = 0; j0 < t.most; j0 += KEYS) {
        const uint32_t n_keys = t.most - j0 < KEYS ? t.most - j0 : KEYS;
        __syncthreads();
        load_rows<T>(a, t, keys_of(a), (size_t)t.h * a.Dk, a.Dk, j0, n_keys, p.stride, keys);
        __syncthreads();
        score<KEYS>(a, t, q, keys, p.stride, n_keys, s);
        __syncthreads();
        load_rows<T>(
            a, t, values_of(a), (size_t)t.h * a.Dv + p.e0, p.columns, j0, n_keys, p.stride, keys);
        online_softmax<KEYS, 1>(a, t, j0, n_keys, s, &run);
        __syncthreads();
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++) {
            const uint32_t at = threadIdx.x + item * THREADS;
            if (at >= t.n * p.columns)
                continue;
            const uint32_t i = at / p.columns, e = at % p.columns, seen = seen_of(t, i, j0, n_keys);
            float sum = acc[item] * run.fix[i];
            for (uint32_t j = 0; j < seen; j++)
                sum = fmaf(s[i * KEYS + j], keys[j * p.stride + e], sum);
            acc[item] = seen ? sum : acc[item];
        }
    }
#pragma unroll
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t at = threadIdx.x + item * THREADS;
        if (at >= t.n * p.columns)
            continue;
        const uint32_t i = at / p.columns, e = at % p.columns;
        dg_put((T *)a.out.p + (t.seg.q0 + t.i0 + i) * a.out.ld + (size_t)t.h * a.Dv + p.e0 + e,
            acc[item] / run.sum[i]);
    }
    if (a.probs.p && blockIdx.z == 0)
        write_probs<T, KEYS>(a, t, q, keys, p.stride, s, &run);
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

/* Fewer keys at a time for wide heads, so that a chunk fits. The choice depends on the model
 * alone. */
extern "C" int dg_launch_attention(cudaStream_t stream, const struct dg_k_attention *k)
{
    const uint32_t columns = k->Dv < COLUMNS ? k->Dv : COLUMNS,
                   width = (k->Dk > columns ? k->Dk : columns) | 1;
    const uint32_t keys = width <= 256 ? 32 : width <= 1025 ? 8 : 1;
    const size_t bytes =
        sizeof(float) * ((size_t)k->tile_rows * (k->Dk + keys) + (size_t)keys * width);
    int rc = cudaErrorInvalidValue;
    if (k->Dk == 64 && k->Dv == 64)
        return dg_launch_attention64(stream, k);
    if (keys == 32)
        DG_TYPED(k->q.type, rc = (launch<T, 32>(stream, k, bytes)));
    else if (keys == 8)
        DG_TYPED(k->q.type, rc = (launch<T, 8>(stream, k, bytes)));
    else
        DG_TYPED(k->q.type, rc = (launch<T, 1>(stream, k, bytes)));
    return rc;
}
