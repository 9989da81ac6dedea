/* Training's attention on tensor cores: heads of D in 16 bits, packed rows, the probabilities kept
 * for backward. A block takes ROWS queries of one head, 16 per warp; KEYS keys at a time go through
 * shared memory. Scores stay in registers: a segment of up to KEYS keys is walked once, a longer
 * one twice, first for the largest score and the sum, then for the probabilities themselves.
 * Everything is fp32 except the products' operands; probabilities are divided by their sum, stored,
 * dropped, and rounded before they are multiplied by the values. The order of sums depends on the
 * query's own keys alone.
 * Calculated for an H200, bf16, 25,000 pieces in sentences of 27, 8 heads of 64: q, k, v and out
 * are 102 MB, probabilities 11 MB; 32 us. Limits: attention.c chooses the calls; others go to
 * attention_fwd.cu. */
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/mma.cuh"

static const uint32_t ROWS = DG_MMA_ROWS, WARPS = ROWS / 16, THREADS = WARPS * DG_WARP, KEYS = 64;

/* Scores of the keys; -infinity where a query does not see the key. */
template <typename T, uint32_t D>
static __device__ __forceinline__ void score(float (&s)[KEYS / 8][4],
    const uint32_t (&q)[D / 16][4], const T *keys, const struct queries &m,
    const struct key_range &at, float scale)
{
#pragma unroll
    for (uint32_t b = 0; b < KEYS / 8; b++) {
        float x[4] = {0, 0, 0, 0};
        if (b * 8 < at.n)
            dg_score<T, D>(x, q, keys + b * 8 * (D + DG_PAD));
#pragma unroll
        for (uint32_t c = 0; c < 4; c++)
            s[b][c] = key_of(at, b, c) < m.seen[c / 2] ? __fmul_rn(x[c], scale) : -INFINITY;
    }
}

/* Turns the scores of n keys into exp(score - top); if `add`, adds these to the queries' sums. A
 * query's scores are on four lanes. */
static __device__ __forceinline__ void online_softmax(
    float (&s)[KEYS / 8][4], struct queries *m, uint32_t n, bool add)
{
#pragma unroll
    for (uint32_t r = 0; r < 2; r++) {
        float top = m->top[r], sum = 0;
#pragma unroll
        for (uint32_t b = 0; b < KEYS / 8; b++)
            top = fmaxf(top, fmaxf(s[b][2 * r], s[b][2 * r + 1]));
        top = fmaxf(top, __shfl_xor_sync(0xFFFFFFFFu, top, 1));
        top = fmaxf(top, __shfl_xor_sync(0xFFFFFFFFu, top, 2));
        const float base = top == -INFINITY ? 0.0f : top; /* nothing seen so far */
#pragma unroll
        for (uint32_t b = 0; b < KEYS / 8; b++)
            if (b * 8 < n)
#pragma unroll
                for (uint32_t c = 2 * r; c < 2 * r + 2; c++) {
                    s[b][c] = expf(s[b][c] - base);
                    sum += s[b][c];
                }
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
        if (add)
            m->sum[r] = fmaf(m->sum[r], expf(m->top[r] - base), sum);
        m->top[r] = top;
    }
}

/* Turns the results of online_softmax into head h's probabilities, own[16,KEYS], and, after
 * dropout, into weights in the form of operands: w[b][r] is a pair of block b of keys for query
 * r. */
template <typename T>
static __device__ __forceinline__ void weights(uint32_t (&w)[KEYS / 8][2],
    const float (&s)[KEYS / 8][4], const struct dg_k_drop &drop, uint32_t h,
    const struct queries &m, const struct key_range &at, T *own)
{
#pragma unroll
    for (uint32_t r = 0; r < 2; r++) {
        const float part = m.seen[r] ? 1 / m.sum[r] : 0.0f;
#pragma unroll
        for (uint32_t b = 0; b < KEYS / 8; b++) {
            w[b][r] = 0;
            if (b * 8 < at.n) {
                float x = s[b][2 * r] * part, y = s[b][2 * r + 1] * part;
                w[b][r] = dg_pair<T>(x, y);
                *dg_pair_at<KEYS>(own, b, r) = w[b][r];
                if (drop.row_key) {
                    x = dg_drop(drop, m.key[r], h * 2048 + key_of(at, b, 0), x);
                    y = dg_drop(drop, m.key[r], h * 2048 + key_of(at, b, 1), y);
                    w[b][r] = dg_pair<T>(x, y);
                }
            }
        }
    }
}

template <typename T, uint32_t D>
static __device__ __forceinline__ void add_values(
    float (&out)[D / 8][4], const uint32_t (&w)[KEYS / 8][2], const T *values, uint32_t n)
{
#pragma unroll
    for (uint32_t k = 0; k < KEYS / 16; k++) {
        if (k * 16 >= n)
            break;
        const uint32_t a[4] = {w[2 * k][0], w[2 * k][1], w[2 * k + 1][0], w[2 * k + 1][1]};
        dg_weigh<T, D>(out, a, values + k * 16 * (D + DG_PAD));
    }
}

/* Clears the probabilities of keys from j0 on, which no query of the tile sees. */
template <typename T>
static __device__ void clear_probs(
    const struct dg_k_attention &a, const struct place &p, uint32_t j0)
{
    T *probs = (T *)a.probs.p + p.pairs + (size_t)p.first * p.seg.n_k;
    for (uint32_t i = threadIdx.x / DG_WARP; i < p.n; i += WARPS)
        for (uint32_t j = j0 + threadIdx.x % DG_WARP; j < p.seg.n_k; j += DG_WARP)
            dg_put(probs + (size_t)i * p.seg.n_k + j, 0.0f);
}

template <typename T, uint32_t D>
static __global__ void __launch_bounds__(THREADS, 8) attend(struct dg_k_attention a)
{
    DG_SHARED_BYTES(bytes);
    const struct place p = place_of(a, a.tiles[blockIdx.x], blockIdx.y, false, ROWS);
    const uint32_t warp = dg_warp_first(), mine = dg_warp_rows(p.n), i0 = p.first + warp,
                   most = seen_by(p.seg, p.first + p.n - 1), chunks = (most + KEYS - 1) / KEYS;
    T *queries = (T *)bytes;                                        /* [ROWS,D + DG_PAD] */
    T *keys = queries + ROWS * (D + DG_PAD);                        /* [KEYS,D + DG_PAD] */
    T *values = keys + KEYS * (D + DG_PAD);                         /* [KEYS,D + DG_PAD] */
    T *own = values + KEYS * (D + DG_PAD) + warp * (KEYS + DG_PAD); /* [ROWS,KEYS + DG_PAD] */
    T *probs = (T *)a.probs.p + p.pairs + (size_t)i0 * p.seg.n_k;
    struct queries m = queries_of(a, p);
    uint32_t q[D / 16][4], w[KEYS / 8][2];
    float s[KEYS / 8][4], out[D / 8][4] = {};

    dg_fetch_rows<T, D, THREADS>(queries, a.q, (size_t)p.seg.q0 + p.first, p.h, p.n, ROWS);
    /* Round `at` walks chunk at % chunks; with one chunk there is no first walk. */
    for (uint32_t at = chunks > 1 ? 0 : chunks; at < 2 * chunks; at++) {
        const bool last = at >= chunks;
        const uint32_t j0 = at % chunks * KEYS, n = most - j0 < KEYS ? most - j0 : KEYS,
                       rows = (n + 15) / 16 * 16;
        dg_fetch_rows<T, D, THREADS>(keys, a.k, (size_t)p.seg.k0 + j0, p.h, n, rows);
        if (last)
            dg_fetch_rows<T, D, THREADS>(values, a.v, (size_t)p.seg.k0 + j0, p.h, n, rows);
        dg_copies_done();
        __syncthreads();
        if (mine) {
            __syncwarp();
            dg_left<T, D>(q, queries + warp * (D + DG_PAD));
            score<T, D>(s, q, keys, m, {j0, n}, a.scale);
            online_softmax(s, &m, n, !last || chunks == 1);
            if (last) {
                weights<T>(w, s, a.drop, p.h, m, {j0, n}, own);
                add_values<T, D>(out, w, values, n);
                dg_put_lines<T, KEYS>(own, probs + j0, p.seg.n_k, mine, n);
            }
        }
        __syncthreads();
    }
    if (mine)
        dg_put_rows<T, D>(
            out, 1, queries + warp * (D + DG_PAD), a.out, (size_t)p.seg.q0 + i0, p.h, mine);
    clear_probs<T>(a, p, most);
}

template <typename T, uint32_t D>
static void launch(struct dg_cuda *cu, const struct dg_k_attention *k)
{
    const size_t bytes = ((ROWS + 2 * KEYS) * (D + DG_PAD) + ROWS * (KEYS + DG_PAD)) * sizeof(T);
    DG_LAUNCH(cu, (attend<T, D>), dim3(k->n_tiles, k->H), THREADS, bytes, *k);
}

extern "C" void dg_launch_attention_mma(struct dg_cuda *cu, const struct dg_k_attention *k)
{
    void (*const launches[2][2])(struct dg_cuda *, const struct dg_k_attention *) = {
        {launch<__half, 32>, launch<__half, 64>},
        {launch<__nv_bfloat16, 32>, launch<__nv_bfloat16, 64>}};
    launches[k->q.type == DG_BF16][k->Dk == 64](cu, k);
}
