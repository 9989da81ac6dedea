/* Log-softmax and the best candidates of rows of logits, in two kernels. topk_partial: a warp reads
 * a segment of a row once into registers and writes its largest logit, the sum of exp(x - largest),
 * and the best of each of its runs. A row has so many warps that a few rows fill a device.
 * topk_merge: one warp per row adds up the segments, then draws the best candidates one by one: the
 * run with the best head gives one, and is read again (512 bytes, from the L2 cache) to find its
 * next head. Whatever k is, the k runs with the best heads hold the k best elements, so that
 * scratch does not depend on k. Order: by value, then by smaller id; NaN is never drawn. Sums: four
 * chains in fp32 a lane, in double from there; their order depends on V alone. */
#include "kernels/cuda/device.cuh"

enum { RUN = 4 * DG_WARP, RUNS = 8, SEGMENT = RUNS * RUN };

static const unsigned ALL = 0xFFFFFFFFu, NONE = 0xFFFFFFFFu;

/* For each run, the key of its best element that was not drawn yet; 0: it has none. */
struct alignas(16) heads {
    uint32_t key[RUNS];
};

/* sum: of exp(x - top); of exp(x) where top is -inf */
struct segment {
    struct heads heads;
    double sum;
    float top;
    uint32_t pad;
};

/* A key in the order of the values, the same for -0 and 0; 0 only for NaN. */
static __device__ __forceinline__ uint32_t key_of(float x)
{
    const uint32_t bits = __float_as_uint(x + 0.0f);
    return !(x == x) ? 0 : bits >> 31 ? ~bits : bits | 0x80000000u;
}

static __device__ __forceinline__ float value_of(uint32_t key)
{
    return __uint_as_float(key >> 31 ? key ^ 0x80000000u : ~key);
}

/* Finds the best key of each run, on every lane. -inf is a candidate; NaN, and what is beyond the
 * row's `left` elements, are not. */
static __device__ __forceinline__ void find_heads(const float (*x)[4], size_t left, uint32_t *key)
{
#pragma unroll
    for (size_t r = 0; r < RUNS; r++) {
        key[r] = 0;
#pragma unroll
        for (size_t e = 0; e < 4; e++)
            if (r * RUN + e < left && key_of(x[r][e]) > key[r])
                key[r] = key_of(x[r][e]);
        key[r] = __reduce_max_sync(ALL, key[r]);
    }
}

template <typename T, bool WIDE>
static __global__ void __launch_bounds__(DG_WARP) topk_partial(struct dg_k_topk k)
{
    DG_AFTER_THE_LAST();
    const size_t m = blockIdx.x, first = (size_t)blockIdx.y * SEGMENT, at = first + threadIdx.x * 4;
    const T *row = (const T *)k.logits.p + m * k.logits.ld + at;
    const size_t left = at < k.V ? k.V - at : 0;
    float x[RUNS][4], sum[4] = {0, 0, 0, 0};
    struct segment s;
    uint32_t best = 0;
    if (k.k[m] == 0)
        return;
#pragma unroll
    for (size_t r = 0; r < RUNS; r++)
        dg_get_four<T, WIDE>(row + r * RUN, left > r * RUN ? left - r * RUN : 0, -INFINITY, x[r]);
    find_heads(x, left, s.heads.key);
#pragma unroll
    for (int r = 0; r < RUNS; r++)
        best = s.heads.key[r] > best ? s.heads.key[r] : best;
    s.top = best ? value_of(best) : -INFINITY;
    const float from = s.top > -INFINITY ? s.top : 0;
#pragma unroll
    for (int r = 0; r < RUNS; r++)
        for (int e = 0; e < 4; e++)
            sum[e] += expf(x[r][e] - from);
    s.sum = dg_warp_sum(((double)sum[0] + sum[1]) + ((double)sum[2] + sum[3]));
    s.pad = 0;
    if (threadIdx.x == 0)
        ((struct segment *)k.parts)[m * gridDim.y + blockIdx.y] = s;
}

/* The best run of a lane's segments. */
struct head {
    uint32_t key, run;
};

static __device__ __forceinline__ void best_of_segment(
    const struct segment *segments, uint32_t s, struct head *best)
{
    const struct heads h = segments[s].heads;
#pragma unroll
    for (uint32_t r = 0; r < RUNS; r++)
        if (h.key[r] > best->key) {
            best->key = h.key[r];
            best->run = s * RUNS + r;
        }
}

/* max + log sum exp(x - max) over a row's segments; also finds the best run of each lane's
 * segments. */
static __device__ double log_sum(const struct segment *segments, uint32_t n, struct head *mine)
{
    float top = -INFINITY;
    double sum = 0;
    for (uint32_t s = threadIdx.x; s < n; s += DG_WARP) {
        top = fmaxf(top, segments[s].top);
        best_of_segment(segments, s, mine);
    }
    top = dg_warp_max(top);
    for (uint32_t s = threadIdx.x; s < n; s += DG_WARP)
        sum += segments[s].sum * (double)expf(segments[s].top - top);
    return (double)top + log(dg_warp_sum(sum));
}

/* The keys of a lane's part of a run. */
static __device__ __forceinline__ void load_keys(
    const struct dg_k_topk &k, size_t m, uint32_t first, uint32_t *key)
{
    for (uint32_t e = 0; e < 4; e++)
        key[e] = first + e < k.V
                     ? key_of(dg_load(k.logits.p, k.logits.type, m * k.logits.ld + first + e))
                     : 0;
}

static __global__ void __launch_bounds__(DG_WARP) topk_merge(struct dg_k_topk k, uint32_t n)
{
    DG_AFTER_THE_LAST();
    const size_t m = blockIdx.x;
    const uint32_t lane = threadIdx.x, wanted = k.k[m];
    struct segment *segments = (struct segment *)k.parts + m * n;
    if (wanted == 0)
        return;
    struct head mine = {0, NONE};
    const double base = log_sum(segments, n, &mine);
    const size_t stride = *k.stride;
    float *logprob = k.candidates + m * 2 * stride;
    int32_t *ids = (int32_t *)(void *)(logprob + stride);
    if (k.force && k.force[m] >= 0) {
        const size_t at = m * k.logits.ld + (size_t)k.force[m];
        if (lane == 0) {
            ids[0] = k.force[m];
            logprob[0] = (float)(dg_load(k.logits.p, k.logits.type, at) + 0.0f - base);
        }
        return;
    }
    uint32_t drawn = 0, last_key = NONE, last_id = 0, key;
    for (; drawn < wanted && (key = __reduce_max_sync(ALL, mine.key)) != 0; drawn++) {
        const uint32_t run = __reduce_min_sync(ALL, mine.key == key ? mine.run : NONE),
                       first = run * RUN + lane * 4;
        uint32_t keys[4], id = NONE, next = 0;
        load_keys(k, m, first, keys);
        for (uint32_t e = 4; e-- > 0;)
            if (keys[e] == key && (key != last_key || first + e > last_id))
                id = first + e;
        id = __reduce_min_sync(ALL, id);
        for (uint32_t e = 0; e < 4; e++)
            if (keys[e] > next && (keys[e] < key || (keys[e] == key && first + e > id)))
                next = keys[e];
        next = __reduce_max_sync(ALL, next);
        if (lane == 0) {
            ids[drawn] = (int32_t)id;
            logprob[drawn] = (float)(value_of(key) - base);
        }
        if (mine.run == run) {
            segments[run / RUNS].heads.key[run % RUNS] = next;
            mine.key = 0;
            for (uint32_t s = lane; s < n; s += DG_WARP)
                best_of_segment(segments, s, &mine);
        }
        last_key = key;
        last_id = id;
    }
    for (uint32_t r = drawn + lane; r < wanted; r += DG_WARP) {
        ids[r] = -1;
        logprob[r] = -INFINITY;
    }
}

static unsigned segments_of(size_t V)
{
    return (unsigned)((V + SEGMENT - 1) / SEGMENT);
}

extern "C" size_t dg_topk_parts(size_t M, size_t V)
{
    return M * segments_of(V) * sizeof(struct segment);
}

extern "C" void dg_launch_topk(struct dg_cuda *cu, const struct dg_k_topk *k)
{
    const unsigned n = segments_of(k->V);
    const dim3 grid((unsigned)k->M, n);
    if (dg_in_fours(k->logits))
        DG_TYPED(
            k->logits.type, DG_LAUNCH_EARLY(cu, (topk_partial<T, true>), grid, DG_WARP, 0, *k));
    else
        DG_TYPED(
            k->logits.type, DG_LAUNCH_EARLY(cu, (topk_partial<T, false>), grid, DG_WARP, 0, *k));
    DG_LAUNCH_EARLY(cu, topk_merge, (unsigned)k->M, DG_WARP, 0, *k, n);
}
