/* Attention as attention_fwd.cu has it, for heads of 64 elements, the base and big models'.
 * A chunk of 32 keys and its values come together, 16 bytes a load, while the chunk before them is
 * worked on; they wait in registers and go to shared memory as fp32. All four warps share whatever
 * number of queries there is, one in a cached step: a warp makes the scores' sums over a quarter of
 * Dk, a lane a key; and a warp adds the values of a quarter of a chunk's keys, a lane two elements.
 * Order, and so bits, depend on the query's own keys alone, not on the number of queries: a score
 * is four quarters of four chains each, an output four sums over keys 8w .. 8w+7 of all chunks,
 * and quarters meet as (0 + 1) + (2 + 3). fp32 throughout.
 * Rows that do not lie at multiples of 16 bytes are read by the element, with the same result. */
#include "kernels/cuda/attention_fwd.cuh"

static const uint32_t D = 64, KEYS = DG_WARP, PARTS = WARPS;
static const uint32_t DIMS = D / PARTS, /* of a warp's part of a score */
    SHARE = KEYS / PARTS,               /* keys of a warp's part of an output */
    STRIDE = D + 4,       /* floats between rows in shared memory: quads of 8 keys in all banks */
    PACK = 16,            /* bytes of a load */
    NEWEST = 0xFFFFFFFFu; /* in place of a row: not in the cache yet */

static_assert(DIMS == 16 && SHARE == 8, "score() and weigh() name them one by one");
static_assert(PARTS * MOST_QUERIES <= 2 * KEYS, "parts of outputs fit where keys and values were");

/* A thread's PACKS loads of a chunk: ACROSS threads have a row. */
template <typename T> struct share {
    static const uint32_t EACH = PACK / sizeof(T), ACROSS = D / EACH, ROWS = THREADS / ACROSS,
                          PACKS = KEYS / ROWS;
};

static __device__ __forceinline__ uint32_t two(__half a, __half b)
{
    return (uint32_t)__half_as_ushort(a) | (uint32_t)__half_as_ushort(b) << 16;
}

static __device__ __forceinline__ uint32_t two(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return (uint32_t)__bfloat16_as_ushort(a) | (uint32_t)__bfloat16_as_ushort(b) << 16;
}

static __device__ __forceinline__ uint4 by_element(const float *p)
{
    return make_uint4(
        __float_as_uint(p[0]), __float_as_uint(p[1]), __float_as_uint(p[2]), __float_as_uint(p[3]));
}

template <typename T> static __device__ __forceinline__ uint4 by_element(const T *p)
{
    return make_uint4(two(p[0], p[1]), two(p[2], p[3]), two(p[4], p[5]), two(p[6], p[7]));
}

/* Elements of a load to shared memory; p is there for its type. */
static __device__ __forceinline__ void unpack(const float *, uint4 u, float *to)
{
    *(float4 *)to = make_float4(
        __uint_as_float(u.x), __uint_as_float(u.y), __uint_as_float(u.z), __uint_as_float(u.w));
}

static __device__ __forceinline__ float low(const __half *, uint32_t u)
{
    return __half2float(__ushort_as_half((unsigned short)u));
}

static __device__ __forceinline__ float low(const __nv_bfloat16 *, uint32_t u)
{
    return __uint_as_float(u << 16);
}

template <typename T> static __device__ __forceinline__ void unpack(const T *p, uint4 u, float *to)
{
    ((float4 *)to)[0] = make_float4(low(p, u.x), low(p, u.x >> 16), low(p, u.y), low(p, u.y >> 16));
    ((float4 *)to)[1] = make_float4(low(p, u.z), low(p, u.z >> 16), low(p, u.w), low(p, u.w >> 16));
}

/* Where a thread's rows of the chunk at j0 lie, of n; slots are asked for together. */
template <typename T>
static __device__ __forceinline__ void find_rows(const struct dg_k_attention &a,
    const struct tile &t, uint32_t j0, uint32_t n, uint32_t (&row)[share<T>::PACKS])
{
    typedef struct share<T> S;
    const uint32_t first = threadIdx.x / S::ACROSS;
#pragma unroll
    for (uint32_t r = 0; r < S::PACKS; r++)
        row[r] = t.seg.k0 + j0 + first + r * S::ROWS;
    if (t.seg.slots < 0)
        return;
    const int32_t *slots = a.slots + t.seg.slots + j0;
    const uint32_t newest = newest_of(a, t) - j0;
#pragma unroll
    for (uint32_t r = 0; r < S::PACKS; r++) {
        const uint32_t j = first + r * S::ROWS;
        row[r] = j < n && j != newest ? (uint32_t)slots[j] : NEWEST;
    }
}

/* The thread's part of n rows on its way; beyond them zeroes. */
template <typename T>
static __device__ __forceinline__ void fetch_rows(const struct tile &t, const struct source &from,
    const uint32_t (&row)[share<T>::PACKS], uint32_t n, bool wide, uint4 (&to)[share<T>::PACKS])
{
    typedef struct share<T> S;
    const size_t column = t.h * D + threadIdx.x % S::ACROSS * S::EACH;
    const T *rows = (const T *)from.rows.p + column, *newest = rows, *p[S::PACKS];
    if (from.fresh.p)
        newest = (const T *)from.fresh.p + t.seg.q0 * from.fresh.ld + column;
#pragma unroll
    for (uint32_t r = 0; r < S::PACKS; r++)
        to[r] = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (uint32_t r = 0; r < S::PACKS; r++)
        p[r] = row[r] == NEWEST ? newest : rows + row[r] * from.rows.ld;
    if (wide) {
#pragma unroll
        for (uint32_t r = 0; r < S::PACKS; r++)
            if (threadIdx.x / S::ACROSS + r * S::ROWS < n)
                to[r] = *(const uint4 *)p[r];
    } else {
#pragma unroll
        for (uint32_t r = 0; r < S::PACKS; r++)
            if (threadIdx.x / S::ACROSS + r * S::ROWS < n)
                to[r] = by_element(p[r]);
    }
}

template <typename T>
static __device__ __forceinline__ void keep_rows(const uint4 (&from)[share<T>::PACKS], float *to)
{
    typedef struct share<T> S;
    to += threadIdx.x / S::ACROSS * STRIDE + threadIdx.x % S::ACROSS * S::EACH;
#pragma unroll
    for (uint32_t r = 0; r < S::PACKS; r++)
        unpack((const T *)nullptr, from[r], to + r * S::ROWS * STRIDE);
}

template <typename T, uint32_t QUERIES>
static __device__ __forceinline__ void load_queries(
    const struct dg_k_attention &a, const struct tile &t, bool wide, float *q)
{
    typedef struct share<T> S;
#pragma unroll
    for (uint32_t first = 0; first < QUERIES * S::ACROSS; first += THREADS) {
        const uint32_t at = first + threadIdx.x, i = at / S::ACROSS, d = at % S::ACROSS * S::EACH;
        const T *row = (const T *)a.q.p + (size_t)(t.seg.q0 + t.i0 + i) * a.q.ld + t.h * D + d;
        if (i < t.n)
            unpack(row, wide ? *(const uint4 *)row : by_element(row), q + i * D + d);
    }
}

/* The warp's part of the chunk's scores: s[part,i,key]. */
static __device__ __forceinline__ void score(const struct dg_k_attention &a, const struct tile &t,
    const float *q, const float *keys, float *s)
{
    const uint32_t lane = threadIdx.x % DG_WARP, part = threadIdx.x / DG_WARP;
    const float4 *k = (const float4 *)(keys + lane * STRIDE + part * DIMS);
    const float4 k0 = k[0], k1 = k[1], k2 = k[2], k3 = k[3];
#pragma unroll 4
    for (uint32_t i = 0; i < t.n; i++) {
        const float4 *x = (const float4 *)(q + i * D + part * DIMS);
        const float4 x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
        const float s0 = fmaf(x3.x, k3.x, fmaf(x2.x, k2.x, fmaf(x1.x, k1.x, x0.x * k0.x)));
        const float s1 = fmaf(x3.y, k3.y, fmaf(x2.y, k2.y, fmaf(x1.y, k1.y, x0.y * k0.y)));
        const float s2 = fmaf(x3.z, k3.z, fmaf(x2.z, k2.z, fmaf(x1.z, k1.z, x0.z * k0.z)));
        const float s3 = fmaf(x3.w, k3.w, fmaf(x2.w, k2.w, fmaf(x1.w, k1.w, x0.w * k0.w)));
        s[(part * a.tile_rows + i) * KEYS + lane] = (s0 + s1) + (s2 + s3);
    }
}

/* The warp's keys of the chunk, weighted, into its part of the outputs. */
template <uint32_t QUERIES>
static __device__ __forceinline__ void weigh(const struct tile &t, uint32_t j0, uint32_t n_keys,
    const float *s, const float *values, const struct running *run, float2 (&acc)[QUERIES])
{
    const uint32_t lane = threadIdx.x % DG_WARP, first = threadIdx.x / DG_WARP * SHARE;
    float2 v[SHARE];
#pragma unroll
    for (uint32_t j = 0; j < SHARE; j++)
        v[j] = *(const float2 *)(values + (first + j) * STRIDE + 2 * lane);
#pragma unroll
    for (uint32_t i = 0; i < QUERIES; i++) {
        if (i >= t.n)
            continue;
        const uint32_t seen = seen_of(t, i, j0, n_keys);
        const float4 *w = (const float4 *)(s + i * KEYS + first);
        const float4 w0 = w[0], w1 = w[1];
        const float p[SHARE] = {w0.x, w0.y, w0.z, w0.w, w1.x, w1.y, w1.z, w1.w}, fix = run->fix[i];
        float2 sum = make_float2(__fmul_rn(acc[i].x, fix), __fmul_rn(acc[i].y, fix));
#pragma unroll
        for (uint32_t j = 0; j < SHARE; j++)
            if (first + j < seen) { /* another's key may hold anything, infinities too */
                sum.x = fmaf(p[j], v[j].x, sum.x);
                sum.y = fmaf(p[j], v[j].y, sum.y);
            }
        acc[i] = sum;
    }
}

/* The warps' parts meet in shared memory, parts[PARTS,n,D], and go out. */
template <typename T, uint32_t QUERIES>
static __device__ __forceinline__ void put_outputs(const struct dg_k_attention &a,
    const struct tile &t, const float2 (&acc)[QUERIES], const struct running *run, float *parts)
{
    const uint32_t lane = threadIdx.x % DG_WARP, part = threadIdx.x / DG_WARP, next = t.n * D;
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < QUERIES; i++)
        if (i < t.n)
            *(float2 *)(parts + part * next + i * D + 2 * lane) = acc[i];
    __syncthreads();
    for (uint32_t at = threadIdx.x; at < next; at += THREADS) {
        const uint32_t i = at / D, e = at % D;
        const float *x = parts + at, sum = (x[0] + x[next]) + (x[2 * next] + x[3 * next]);
        dg_put((T *)a.out.p + (size_t)(t.seg.q0 + t.i0 + i) * a.out.ld + t.h * D + e,
            sum / run->sum[i]);
    }
}

template <typename T>
static __device__ void write_probs(const struct dg_k_attention &a, const struct tile &t, bool wide,
    const float *q, float *keys, float *s, const struct running *run)
{
    uint4 mine[share<T>::PACKS];
    uint32_t row[share<T>::PACKS];
    if (weights_remain<KEYS>(a, t)) {
        put_probs<KEYS, PARTS>(a, t, 0, t.seg.n_k, s, run, true);
        return;
    }
    for (uint32_t j0 = 0; j0 < t.seg.n_k; j0 += KEYS) {
        const uint32_t n_keys = t.seg.n_k - j0 < KEYS ? t.seg.n_k - j0 : KEYS;
        find_rows<T>(a, t, j0, n_keys, row);
        fetch_rows<T>(t, keys_of(a), row, n_keys, wide, mine);
        __syncthreads();
        keep_rows<T>(mine, keys);
        __syncthreads();
        score(a, t, q, keys, s);
        __syncthreads();
        put_probs<KEYS, PARTS>(a, t, j0, n_keys, s, run, false);
    }
}

/* Blocks side by side, as many as registers allow without spilling. */
template <typename T> static constexpr uint32_t blocks(uint32_t queries)
{
    return sizeof(T) == 4 ? (queries == 1 ? 5 : 4) : queries == 1 ? 8 : 5;
}

template <typename T, uint32_t QUERIES>
static __global__ void __launch_bounds__(THREADS, blocks<T>(QUERIES))
    attend64(struct dg_k_attention a, bool wide)
{
    DG_SHARED_BYTES(bytes);
    __shared__ struct running run;
    struct tile t = tile_of(a);
    float *q = (float *)bytes;                    /* [tile_rows,D] */
    float *s = q + a.tile_rows * D;               /* [PARTS,tile_rows,KEYS] */
    float *keys = s + PARTS * a.tile_rows * KEYS; /* [KEYS,STRIDE] */
    float *values = keys + KEYS * STRIDE;         /* the same */
    uint4 my_keys[share<T>::PACKS], my_values[share<T>::PACKS];
    uint32_t row[share<T>::PACKS];
    float2 acc[QUERIES];
    if (t.n == 0) /* a piece without queries pads a step */
        return;
    if (QUERIES == 1)
        t.n = 1; /* the compiler is not to think of more */

    uint32_t n_keys = t.most < KEYS ? t.most : KEYS;
    find_rows<T>(a, t, 0, n_keys, row);
    fetch_rows<T>(t, keys_of(a), row, n_keys, wide, my_keys);
    fetch_rows<T>(t, values_of(a), row, n_keys, wide, my_values);
    load_queries<T, QUERIES>(a, t, wide, q);
    begin_softmax(t, &run);
    if (QUERIES == 1) {
        keep_newest<T>(a, t, keys_of(a), t.h * D, D);
        keep_newest<T>(a, t, values_of(a), t.h * D, D);
    }
#pragma unroll
    for (uint32_t i = 0; i < QUERIES; i++)
        acc[i] = make_float2(0, 0);
    for (uint32_t j0 = 0; j0 < t.most; j0 += KEYS) {
        const uint32_t left = t.most - j0;
        n_keys = left < KEYS ? left : KEYS;
        __syncthreads();
        keep_rows<T>(my_keys, keys);
        keep_rows<T>(my_values, values);
        __syncthreads();
        if (left > KEYS) {
            const uint32_t n = left - KEYS < KEYS ? left - KEYS : KEYS;
            find_rows<T>(a, t, j0 + KEYS, n, row);
            fetch_rows<T>(t, keys_of(a), row, n, wide, my_keys);
            fetch_rows<T>(t, values_of(a), row, n, wide, my_values);
        }
        score(a, t, q, keys, s);
        __syncthreads();
        online_softmax<KEYS, PARTS>(a, t, j0, n_keys, s, &run);
        __syncthreads();
        weigh<QUERIES>(t, j0, n_keys, s, values, &run, acc);
    }
    put_outputs<T, QUERIES>(a, t, acc, &run, keys);
    if (a.probs.p)
        write_probs<T>(a, t, wide, q, keys, s, &run);
}

static bool aligned(const struct dg_k_rows *r, size_t element)
{
    return (uintptr_t)r->p % PACK == 0 && r->ld * element % PACK == 0;
}

template <typename T, uint32_t QUERIES>
static int launch(cudaStream_t stream, const struct dg_k_attention *k)
{
    const size_t floats = (size_t)k->tile_rows * (D + PARTS * KEYS) + 2 * KEYS * STRIDE;
    const bool wide = aligned(&k->q, sizeof(T)) && aligned(&k->k, sizeof(T)) &&
                      aligned(&k->v, sizeof(T)) && aligned(&k->new_k, sizeof(T)) &&
                      aligned(&k->new_v, sizeof(T));
    DG_LAUNCH((attend64<T, QUERIES>), dim3(k->n_tiles, k->H), THREADS, floats * sizeof(float),
        stream, *k, wide);
    return cudaGetLastError();
}

extern "C" int dg_launch_attention64(cudaStream_t stream, const struct dg_k_attention *k)
{
    int rc = cudaErrorInvalidValue;
    if (k->tile_rows == 1)
        DG_TYPED(k->q.type, rc = (launch<T, 1>(stream, k)));
    else if (k->tile_rows <= MOST_QUERIES)
        DG_TYPED(k->q.type, rc = (launch<T, MOST_QUERIES>(stream, k)));
    return rc;
}
