/* Backward of attention over packed rows. With A = drop(P), P = softmax(S), S = q k^T scale:
 * dA = dO v^T, dP = drop(dA), dS = P (dP - sum_j P dP) scale, dq = dS k, dk = dS^T q, dv = A^T dO.
 * Guided heads add their guide's gradient to dP (struct dg_guide).
 * Two kernels, so that every sum has one owner and one order: `attention_bwd_dq` takes a tile of
 * queries of one head, writes dS to scratch and dq; `attention_bwd_dkv` takes a tile of keys and
 * sums dk and dv over the queries. Chunks of the other side go through shared memory, CHUNK rows at
 * a time.
 *
 * Expected on an H200 at 3.6 TB/s, base, fp32, M = 25,000 in sentences of 27 (calculated, not
 * measured): dq and dkv each 4 (4 M D + 2 H M 27) = 248 MB, 69 us by memory; what they load from
 * shared memory for each multiplication makes it several times as long. */
#include "kernels/cuda/attention_bwd.cuh"

#include <math.h>

static const uint32_t THREADS = 128, WARPS = THREADS / DG_WARP, ITEMS = 8, MOST = 16, CHUNK = 32;

/* Rows of a tile, ITEMS results a thread; wider heads take fewer rows. */
extern "C" uint32_t dg_attention_bwd_rows(uint32_t width)
{
    const uint32_t n = THREADS * ITEMS / width;
    return n < 1 ? 1 : n < MOST ? n : MOST;
}

/* to[n,width|1]: rows row0 .. row0+n-1 of one head. */
static __device__ void load(
    const struct dg_k_rows &from, size_t row0, uint32_t n, size_t column, uint32_t width, float *to)
{
    for (uint32_t j = threadIdx.x / DG_WARP; j < n; j += WARPS)
        for (uint32_t d = threadIdx.x % DG_WARP; d < width; d += DG_WARP)
            to[j * (width | 1) + d] = dg_load(from.p, from.type, (row0 + j) * from.ld + column + d);
}

/* dP of query i and key j after dropout; p: what dropout multiplied. */
static __device__ __forceinline__ float masked(
    const struct dg_k_attention &a, const struct place &p, uint32_t i, uint32_t j, float x)
{
    if (!a.drop.row_key)
        return x;
    return dg_drop(a.drop, a.drop.row_key[p.seg.q0 + i] ^ a.drop.site, p.h * 2048 + j, x);
}

/* The guide's share of query i's dP, link after link, and of its sum of P dP; its loss once. */
static __device__ void guide_query(
    const struct dg_k_attention_bwd &g, const struct place &p, uint32_t i, float *row_sum)
{
    const struct dg_k_links l = g.guide.rows[p.seg.q0 + i];
    double loss = 0;
    for (uint32_t n = l.first; n < l.first + l.n; n++) {
        const uint32_t j = g.guide.keys[n];
        const float mean = dg_guided_mean(g, p.seg, i, j);
        const size_t pair = p.pairs + (size_t)i * p.seg.n_k + j;
        loss -= log((double)mean);
        if (j >= seen_by(p.seg, i))
            continue;
        const float add = dg_guided_gradient(g.guide, l.n, mean);
        g.ds[pair] += add;
        *row_sum = fmaf(add, dg_load(g.a.probs.p, g.a.probs.type, pair), *row_sum);
    }
    if (l.n && p.h == g.guide.head)
        g.guide.loss[p.seg.q0 + i] = loss / l.n;
}

static __global__ void __launch_bounds__(THREADS) attention_bwd_dq(struct dg_k_attention_bwd g)
{
    DG_SHARED_BYTES(bytes);
    __shared__ float row_sum[MOST];
    const struct dg_k_attention a = g.a;
    const struct place p = place_of(a, a.tiles, false, a.tile_rows);
    const uint32_t wv = a.Dv | 1, wk = a.Dk | 1;
    float *dout = (float *)bytes;                   /* [n,Dv|1] */
    float *other = dout + (size_t)a.tile_rows * wv; /* [CHUNK,max(Dk,Dv)|1]: values, then keys */
    float *s = other + (size_t)CHUNK * (wv > wk ? wv : wk); /* [n,CHUNK] */
    const uint32_t most = seen_by(p.seg, p.first + p.n - 1);
    load(g.dout, (size_t)p.seg.q0 + p.first, p.n, (size_t)p.h * a.Dv, a.Dv, dout);
    for (uint32_t i = threadIdx.x; i < p.n; i += THREADS)
        row_sum[i] = 0;
    /* dP to scratch, and each query's sum of P dP. */
    for (uint32_t j0 = 0; j0 < most; j0 += CHUNK) {
        const uint32_t n = most - j0 < CHUNK ? most - j0 : CHUNK;
        __syncthreads();
        load(a.v, (size_t)p.seg.k0 + j0, n, (size_t)p.h * a.Dv, a.Dv, other);
        __syncthreads();
        for (uint32_t i = threadIdx.x / DG_WARP; i < p.n; i += WARPS) {
            const uint32_t j = threadIdx.x % DG_WARP, q = p.first + i;
            float part = 0;
            if (j < n && j0 + j < seen_by(p.seg, q)) {
                const size_t pair = p.pairs + (size_t)q * p.seg.n_k + j0 + j;
                float dp = 0;
                for (uint32_t e = 0; e < a.Dv; e++)
                    dp = fmaf(dout[i * wv + e], other[j * wv + e], dp);
                dp = masked(a, p, q, j0 + j, dp);
                g.ds[pair] = dp;
                part = dp * dg_load(a.probs.p, a.probs.type, pair);
            }
            part = dg_warp_sum(part);
            if (j == 0)
                row_sum[i] += part;
        }
    }
    if (dg_guided(g.guide, p.h)) {
        __syncthreads(); /* every dP of the tile is there */
        for (uint32_t i = threadIdx.x; i < p.n; i += THREADS)
            guide_query(g, p, p.first + i, &row_sum[i]);
    }
    float acc[ITEMS] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t j0 = 0; j0 < p.seg.n_k; j0 += CHUNK) {
        const uint32_t n = p.seg.n_k - j0 < CHUNK ? p.seg.n_k - j0 : CHUNK;
        __syncthreads();
        load(a.k, (size_t)p.seg.k0 + j0, n, (size_t)p.h * a.Dk, a.Dk, other);
        for (uint32_t at = threadIdx.x; at < p.n * CHUNK; at += THREADS) {
            const uint32_t i = at / CHUNK, j = at % CHUNK, q = p.first + i;
            if (j >= n)
                continue;
            const size_t pair = p.pairs + (size_t)q * p.seg.n_k + j0 + j;
            float x = 0;
            if (j0 + j < seen_by(p.seg, q))
                x = dg_load(a.probs.p, a.probs.type, pair) * (g.ds[pair] - row_sum[i]) * a.scale;
            g.ds[pair] = x;
            s[at] = x;
        }
        __syncthreads();
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++) {
            const uint32_t at = threadIdx.x + item * THREADS;
            for (uint32_t j = 0; at < p.n * a.Dk && j < n; j++)
                acc[item] = fmaf(s[at / a.Dk * CHUNK + j], other[j * wk + at % a.Dk], acc[item]);
        }
    }
#pragma unroll
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t at = threadIdx.x + item * THREADS;
        if (at < p.n * a.Dk)
            dg_store(g.dq.p, g.dq.type,
                ((size_t)p.seg.q0 + p.first + at / a.Dk) * g.dq.ld + (size_t)p.h * a.Dk + at % a.Dk,
                acc[item]);
    }
}

/* One of dk (weights dS, rows q) and dv (weights A, rows dO): out[j,:] = sum_i w[i,j] x[i,:]. */
static __device__ void gather(const struct dg_k_attention_bwd &g, const struct place &p,
    const struct dg_k_rows &x, uint32_t width, bool values, const struct dg_k_rows &out,
    float *rows, float *w)
{
    const struct dg_k_attention &a = g.a;
    const uint32_t stride = width | 1;
    float acc[ITEMS] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t i0 = 0; i0 < p.seg.n_q; i0 += CHUNK) {
        const uint32_t n = p.seg.n_q - i0 < CHUNK ? p.seg.n_q - i0 : CHUNK;
        __syncthreads();
        load(x, (size_t)p.seg.q0 + i0, n, (size_t)p.h * width, width, rows);
        for (uint32_t at = threadIdx.x; at < n * p.n; at += THREADS) {
            const uint32_t i = i0 + at / p.n, j = p.first + at % p.n;
            const size_t pair = p.pairs + (size_t)i * p.seg.n_k + j;
            float weight = 0;
            if (j < seen_by(p.seg, i))
                weight = values ? masked(a, p, i, j, dg_load(a.probs.p, a.probs.type, pair))
                                : g.ds[pair];
            w[at / p.n * MOST + at % p.n] = weight;
        }
        __syncthreads();
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++) {
            const uint32_t at = threadIdx.x + item * THREADS;
            for (uint32_t i = 0; at < p.n * width && i < n; i++)
                acc[item] =
                    fmaf(w[i * MOST + at / width], rows[i * stride + at % width], acc[item]);
        }
    }
#pragma unroll
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t at = threadIdx.x + item * THREADS;
        if (at < p.n * width)
            dg_store(out.p, out.type,
                ((size_t)p.seg.k0 + p.first + at / width) * out.ld + (size_t)p.h * width +
                    at % width,
                acc[item]);
    }
}

static __global__ void __launch_bounds__(THREADS) attention_bwd_dkv(struct dg_k_attention_bwd g)
{
    DG_SHARED_BYTES(bytes);
    const struct dg_k_attention a = g.a;
    const struct place p = place_of(a, g.key_tiles, true, a.tile_rows);
    const uint32_t wide = (a.Dk > a.Dv ? a.Dk : a.Dv) | 1;
    float *rows = (float *)bytes;           /* [CHUNK,wide] */
    float *w = rows + (size_t)CHUNK * wide; /* [CHUNK,MOST] */
    gather(g, p, a.q, a.Dk, false, g.dk, rows, w);
    gather(g, p, g.dout, a.Dv, true, g.dv, rows, w);
}

extern "C" int dg_launch_attention_bwd(cudaStream_t stream, const struct dg_k_attention_bwd *k)
{
    const struct dg_k_attention *a = &k->a;
    const uint32_t wide = (a->Dk > a->Dv ? a->Dk : a->Dv) | 1;
    const size_t floats =
        (size_t)a->tile_rows * (a->Dv | 1) + (size_t)CHUNK * wide + (size_t)a->tile_rows * CHUNK;
    const size_t bytes = floats * sizeof(float),
                 bytes2 = ((size_t)CHUNK * wide + CHUNK * MOST) * sizeof(float);
    if (wide > THREADS * ITEMS)
        return cudaErrorInvalidValue;
    int rc = dg_allow_shared((const void *)attention_bwd_dq, bytes);
    if (!rc)
        rc = dg_allow_shared((const void *)attention_bwd_dkv, bytes2);
    if (rc)
        return rc;
    DG_LAUNCH(attention_bwd_dq, dim3(a->n_tiles, a->H), THREADS, bytes, stream, *k);
    DG_LAUNCH(attention_bwd_dkv, dim3(k->n_key_tiles, a->H), THREADS, bytes2, stream, *k);
    return cudaGetLastError();
}
