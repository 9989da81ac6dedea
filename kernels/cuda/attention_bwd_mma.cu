/* Backward of attention on tensor cores, for the calls that attention.c chooses. The formulas and
 * the two kernels are those of attention_bwd.cu: `attention_bwd_dq` takes ROWS queries of one head,
 * 16 per warp, and writes dS to scratch and dq; `attention_bwd_dkv` takes ROWS keys and sums dk and
 * dv over the queries. Every sum has one owner and one order. Operands have 16 bits: probabilities
 * as they were stored, rounded again after dropout, and dS multiplied by LIFT and without
 * attention's scale; dq and dk are corrected for both at the end, in fp32. So fp16 does not lose
 * more of a small dS than it has lost of dO. Sums are fp32. `attention_bwd_dq` walks a segment of
 * up to KEYS keys once, a longer one twice, first for the sums of P dP.
 *
 * Expected on an H200 at 3.6 TB/s, base, bf16, M = 25,000 in sentences of 27 (calculated, not
 * measured): dq reads dO, k, v and P and writes dS and dq, 2 (4 M D + 2 H M 27) = 124 MB, 34 us;
 * dkv reads q, dO, P and dS and writes dk and dv, as much; 1.4 GFLOP each. */
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/launch_train.h"
#include "kernels/cuda/mma.cuh"

static const uint32_t ROWS = DG_MMA_ROWS, WARPS = ROWS / 16, THREADS = WARPS * DG_WARP, KEYS = 64,
                      QUERIES = 32,
                      WIDE = ROWS + DG_PAD; /* a row of weights in `attention_bwd_dkv` */
static const float LIFT = 16;

/* Loads own[16,KEYS]: probabilities of the warp's n queries from i0 on and of the chunk's keys from
 * j0 on, 0 where a query does not see the key. */
template <typename T>
static __device__ __forceinline__ void load_probs(T *own, const struct dg_k_attention &a,
    const struct place &p, uint32_t i0, uint32_t n, uint32_t j0)
{
    const uint32_t lane = threadIdx.x % DG_WARP, PARTS = KEYS / DG_WARP, BATCH = 8;
    const T *probs = (const T *)a.probs.p + p.pairs + (size_t)i0 * p.seg.n_k;
#pragma unroll 1 /* loads in flight take registers */
    for (uint32_t r0 = 0; r0 < 16; r0 += BATCH) {
        T x[BATCH][PARTS];
#pragma unroll
        for (uint32_t r = 0; r < BATCH; r++)
#pragma unroll
            for (uint32_t part = 0; part < PARTS; part++) {
                const uint32_t j = j0 + part * DG_WARP + lane;
                dg_put(&x[r][part], 0.0f);
                if (r0 + r < n && j < seen_by(p.seg, i0 + r0 + r))
                    x[r][part] = probs[(r0 + r) * p.seg.n_k + j];
            }
#pragma unroll
        for (uint32_t r = 0; r < BATCH; r++)
#pragma unroll
            for (uint32_t part = 0; part < PARTS; part++)
                own[(r0 + r) * (KEYS + DG_PAD) + part * DG_WARP + lane] = x[r][part];
    }
}

/* dP of head h, before the guide. */
template <typename T, uint32_t D>
static __device__ __forceinline__ void weight_grads(float (&dp)[KEYS / 8][4],
    const uint32_t (&dout)[D / 16][4], const T *values, const struct dg_k_drop &drop, uint32_t h,
    const struct queries &m, const struct key_range &at)
{
#pragma unroll
    for (uint32_t b = 0; b < KEYS / 8; b++) {
#pragma unroll
        for (uint32_t c = 0; c < 4; c++)
            dp[b][c] = 0;
        if (b * 8 >= at.n)
            continue;
        dg_score<T, D>(dp[b], dout, values + b * 8 * (D + DG_PAD));
#pragma unroll
        for (uint32_t c = 0; c < 4; c++)
            dp[b][c] = dg_drop(drop, m.key[c / 2], h * 2048 + key_of(at, b, c), dp[b][c]);
    }
}

/* Writes the guide's gradients of the warp's n queries from i0 on to extra[16,KEYS], which is the
 * warp's own; links are added in their order. */
static __device__ void guide_chunk(const struct dg_k_attention_bwd &g, const struct place &p,
    uint32_t i0, uint32_t n, uint32_t j0, float *extra)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    __syncwarp();
    for (uint32_t at = lane; at < 16 * KEYS; at += DG_WARP)
        extra[at] = 0;
    __syncwarp();
    if (lane < n) {
        const struct dg_k_links l = g.guide.rows[p.seg.q0 + i0 + lane];
        for (uint32_t at = l.first; at < l.first + l.n; at++) {
            const uint32_t j = g.guide.keys[at];
            if (j - j0 < KEYS && j < seen_by(p.seg, i0 + lane))
                extra[lane * KEYS + j - j0] += g.guide.adds[at];
        }
    }
    __syncwarp();
}

static __device__ __forceinline__ void add_guide(float (&dp)[KEYS / 8][4], const float *extra)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
#pragma unroll
    for (uint32_t b = 0; b < KEYS / 8; b++)
#pragma unroll
        for (uint32_t c = 0; c < 4; c++)
            dp[b][c] += extra[(lane / 4 + c / 2 * 8) * KEYS + key_of({0, KEYS}, b, c)];
}

/* Adds n keys to the queries' sums of P dP. */
template <typename T>
static __device__ __forceinline__ void add_sums(
    struct queries *m, const float (&dp)[KEYS / 8][4], T *own, uint32_t n)
{
#pragma unroll
    for (uint32_t r = 0; r < 2; r++) {
        float sum = 0, prob[2];
#pragma unroll
        for (uint32_t b = 0; b < KEYS / 8; b++)
            if (b * 8 < n) {
                dg_unpair<T>(prob, *dg_pair_at<KEYS>(own, b, r));
                sum = fmaf(prob[0], dp[b][2 * r], sum);
                sum = fmaf(prob[1], dp[b][2 * r + 1], sum);
            }
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
        m->sum[r] += sum;
    }
}

/* Adds the share of n keys to dq; in `own`, LIFT dS replaces their probabilities. */
template <typename T, uint32_t D>
static __device__ __forceinline__ void add_keys(float (&dq)[D / 8][4],
    const float (&dp)[KEYS / 8][4], T *own, const T *keys, const struct queries &m, uint32_t n)
{
#pragma unroll
    for (uint32_t k = 0; k < KEYS / 16; k++) {
        if (k * 16 >= n)
            break;
        uint32_t w[4];
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) { /* blocks 2k and 2k + 1, both queries of each */
            const uint32_t b = 2 * k + i / 2, r = i % 2;
            float prob[2];
            dg_unpair<T>(prob, *dg_pair_at<KEYS>(own, b, r));
            w[i] = dg_pair<T>(LIFT * prob[0] * (dp[b][2 * r] - m.sum[r]),
                LIFT * prob[1] * (dp[b][2 * r + 1] - m.sum[r]));
            *dg_pair_at<KEYS>(own, b, r) = w[i];
        }
        dg_weigh<T, D>(dq, w, keys + k * 16 * (D + DG_PAD));
    }
}

/* GUIDED: some head has a guide. Calls without one need fewer registers. */
template <typename T, uint32_t D, bool GUIDED>
static __global__ void __launch_bounds__(THREADS, GUIDED ? 6 : 8)
    attention_bwd_dq(struct dg_k_attention_bwd g)
{
    DG_SHARED_BYTES(bytes);
    const struct dg_k_attention &a = g.a;
    const struct place p = place_of(a, a.tiles[blockIdx.x], blockIdx.y, false, ROWS);
    const uint32_t warp = dg_warp_first(), mine = dg_warp_rows(p.n), i0 = p.first + warp,
                   most = seen_by(p.seg, p.first + p.n - 1), chunks = (most + KEYS - 1) / KEYS;
    const bool guided = GUIDED && p.h - g.guide.head < g.guide.n_heads;
    T *rows = (T *)bytes;                      /* dO [ROWS,D + DG_PAD] */
    T *keys = rows + ROWS * (D + DG_PAD);      /* [KEYS,D + DG_PAD] */
    T *values = keys + KEYS * (D + DG_PAD);    /* [KEYS,D + DG_PAD] */
    T *weights = values + KEYS * (D + DG_PAD); /* [ROWS,KEYS + DG_PAD] */
    T *own = weights + warp * (KEYS + DG_PAD);
    float *extra = (float *)(void *)(weights + ROWS * (KEYS + DG_PAD)) + warp * KEYS; /* guided */
    T *ds = (T *)(void *)g.ds + p.pairs + (size_t)i0 * p.seg.n_k;
    struct queries m = queries_of(a, p);
    uint32_t dout[D / 16][4];
    float dp[KEYS / 8][4], dq[D / 8][4] = {};

    dg_fetch_rows<T, D, THREADS>(rows, g.dout, (size_t)p.seg.q0 + p.first, p.h, p.n, ROWS);
    /* Round `at` walks chunk at % chunks; with one chunk there is no first walk. */
    for (uint32_t at = chunks > 1 ? 0 : chunks; at < 2 * chunks; at++) {
        const bool last = at >= chunks;
        const uint32_t j0 = at % chunks * KEYS, n = most - j0 < KEYS ? most - j0 : KEYS,
                       all = (n + 15) / 16 * 16;
        dg_fetch_rows<T, D, THREADS>(values, a.v, (size_t)p.seg.k0 + j0, p.h, n, all);
        if (last)
            dg_fetch_rows<T, D, THREADS>(keys, a.k, (size_t)p.seg.k0 + j0, p.h, n, all);
        if (mine)
            load_probs(own, a, p, i0, mine, j0);
        dg_copies_done();
        __syncthreads();
        if (mine) {
            __syncwarp();
            dg_left<T, D>(dout, rows + warp * (D + DG_PAD));
            weight_grads<T, D>(dp, dout, values, a.drop, p.h, m, {j0, n});
            if (guided) {
                guide_chunk(g, p, i0, mine, j0, extra);
                add_guide(dp, extra);
            }
            if (!last || chunks == 1)
                add_sums(&m, dp, own, n);
            if (last) {
                add_keys<T, D>(dq, dp, own, keys, m, n);
                dg_put_lines<T, KEYS>(own, ds + j0, p.seg.n_k, mine, n);
            }
        }
        __syncthreads();
    }
    if (mine)
        dg_put_rows<T, D>(
            dq, a.scale / LIFT, rows + warp * (D + DG_PAD), g.dq, (size_t)p.seg.q0 + i0, p.h, mine);
}

/* Loads for QUERIES queries from i0 on, of which n exist, and the tile's keys: the probabilities
 * after dropout, and dS, [QUERIES,WIDE] each. */
template <typename T>
static __device__ __forceinline__ void load_weights(const struct dg_k_attention_bwd &g,
    const struct place &p, uint32_t i0, uint32_t n, T *kept, T *ds)
{
    const uint32_t lane = threadIdx.x % DG_WARP, j = p.first + lane, BATCH = 4;
    for (uint32_t at = threadIdx.x / DG_WARP; at < QUERIES; at += BATCH * WARPS) {
        T x[BATCH], y[BATCH];
#pragma unroll
        for (uint32_t b = 0; b < BATCH; b++) {
            const uint32_t i = at + b * WARPS;
            dg_put(&x[b], 0.0f), dg_put(&y[b], 0.0f);
            if (i < n && lane < p.n && j < seen_by(p.seg, i0 + i)) {
                const size_t pair = p.pairs + (size_t)(i0 + i) * p.seg.n_k + j;
                x[b] = ((const T *)g.a.probs.p)[pair];
                y[b] = ((const T *)(const void *)g.ds)[pair];
            }
        }
#pragma unroll
        for (uint32_t b = 0; b < BATCH; b++) {
            const uint32_t i = at + b * WARPS;
            if (g.a.drop.row_key && i < n)
                dg_put(&x[b], dg_drop(g.a.drop, dg_drop_key(g.a.drop, p.seg.q0 + i0 + i),
                                  p.h * 2048 + j, dg_float(x[b])));
            kept[i * WIDE + lane] = x[b];
            ds[i * WIDE + lane] = y[b];
        }
    }
}

/* out[16,D] += weights[16 queries,16 keys]^T rows[16,D] */
template <typename T, uint32_t D>
static __device__ __forceinline__ void add_rows(
    float (&out)[D / 8][4], const T *weights, const T *rows)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    uint32_t w[4];
    dg_matrices_turned(w, weights + (lane / 16 * 8 + lane % 8) * WIDE + lane / 8 % 2 * 8);
    dg_weigh<T, D>(out, w, rows);
}

template <typename T, uint32_t D>
static __global__ void __launch_bounds__(THREADS, 8) attention_bwd_dkv(struct dg_k_attention_bwd g)
{
    DG_SHARED_BYTES(bytes);
    const struct dg_k_attention &a = g.a;
    const struct place p = place_of(a, g.key_tiles[blockIdx.x], blockIdx.y, true, ROWS);
    const uint32_t warp = dg_warp_first(), mine = dg_warp_rows(p.n),
                   before = p.seg.n_k - p.seg.n_q; /* causal: keys that all queries see */
    T *queries = (T *)bytes;                       /* [QUERIES,D + DG_PAD] */
    T *douts = queries + QUERIES * (D + DG_PAD);   /* [QUERIES,D + DG_PAD] */
    T *kept = douts + QUERIES * (D + DG_PAD);      /* [QUERIES,WIDE] */
    T *ds = kept + QUERIES * WIDE;                 /* [QUERIES,WIDE] */
    float dk[D / 8][4] = {}, dv[D / 8][4] = {};

    /* Causal: start with the first query that sees a key of the tile. */
    const uint32_t skip = p.seg.causal && p.first > before ? p.first - before : 0;
    for (uint32_t i0 = skip / QUERIES * QUERIES; i0 < p.seg.n_q; i0 += QUERIES) {
        const uint32_t n = p.seg.n_q - i0 < QUERIES ? p.seg.n_q - i0 : QUERIES;
        dg_fetch_rows<T, D, THREADS>(queries, a.q, (size_t)p.seg.q0 + i0, p.h, n, QUERIES);
        dg_fetch_rows<T, D, THREADS>(douts, g.dout, (size_t)p.seg.q0 + i0, p.h, n, QUERIES);
        load_weights(g, p, i0, n, kept, ds);
        dg_copies_done();
        __syncthreads();
        __syncwarp();
#pragma unroll
        for (uint32_t k = 0; k < QUERIES; k += 16)
            if (mine && k < n) {
                add_rows<T, D>(dv, kept + k * WIDE + warp, douts + k * (D + DG_PAD));
                add_rows<T, D>(dk, ds + k * WIDE + warp, queries + k * (D + DG_PAD));
            }
        __syncthreads();
    }
    if (!mine)
        return;
    const size_t row = (size_t)p.seg.k0 + p.first + warp;
    dg_put_rows<T, D>(dk, a.scale / LIFT, queries + warp * (D + DG_PAD), g.dk, row, p.h, mine);
    dg_put_rows<T, D>(dv, 1, douts + warp * (D + DG_PAD), g.dv, row, p.h, mine);
}

template <typename T, uint32_t D>
static void launch(struct dg_cuda *cu, const struct dg_k_attention_bwd *k)
{
    const size_t row = (D + DG_PAD) * sizeof(T), extra = ROWS * KEYS * sizeof(float),
                 bytes = (ROWS + 2 * KEYS) * row + ROWS * (KEYS + DG_PAD) * sizeof(T),
                 bytes2 = 2 * QUERIES * (row + WIDE * sizeof(T));
    const dim3 grid(k->a.n_tiles, k->a.H);
    if (k->guide.rows)
        DG_LAUNCH(cu, (attention_bwd_dq<T, D, true>), grid, THREADS, bytes + extra, *k);
    else
        DG_LAUNCH(cu, (attention_bwd_dq<T, D, false>), grid, THREADS, bytes, *k);
    DG_LAUNCH(cu, (attention_bwd_dkv<T, D>), dim3(k->n_key_tiles, k->a.H), THREADS, bytes2, *k);
}

extern "C" void dg_launch_attention_bwd_mma(struct dg_cuda *cu, const struct dg_k_attention_bwd *k)
{
    void (*const launches[2][2])(struct dg_cuda *, const struct dg_k_attention_bwd *) = {
        {launch<__half, 32>, launch<__half, 64>},
        {launch<__nv_bfloat16, 32>, launch<__nv_bfloat16, 64>}};
    launches[k->a.q.type == DG_BF16][k->a.Dk == 64](cu, k);
}
