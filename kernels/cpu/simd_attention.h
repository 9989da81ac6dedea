/* Attention's bodies at the vector width of the file that includes this (after
 * simd_rows.h). A score is one chain per lane over Dk, then v_sum8; a weighted sum is one chain per
 * element over the keys; sums of exponentials go to the lane of the key. None depends on how many
 * queries or keys are handled together. Any thread. */
#include <string.h>

enum {
    RUN = 64,                /* values whose addresses are held at once */
    WEIGH_VECTORS = 64 / VL, /* vectors of a tile of a lone query: 64 columns */
};

/* Returns row j, of floats or halves; kv_load reads from element d of it. */
static inline const void *kv_row(const struct dg_kv *kv, size_t j)
{
    size_t at = (kv->slots ? (size_t)kv->slots[j] : kv->k0 + j) * kv->ld;
    return kv->halves ? (const void *)(kv->halves + at) : (const void *)(kv->data + at);
}

static inline __attribute__((always_inline)) vec kv_load(const bool half, const void *row, size_t d)
{
    return half ? v_load_half((const uint16_t *)row + d) : v_load((const float *)row + d);
}

/* Loads the last n < VL elements of a row, from element d on; zero beyond. */
static inline vec kv_load_part(const bool half, const void *row, size_t d, size_t n)
{
    uint16_t rest[VL] = {0};
    if (!half)
        return v_load_part((const float *)row + d, v_first(n));
    memcpy(rest, (const uint16_t *)row + d, n * sizeof *rest);
    return v_load_half(rest);
}

/* Prefetches the next head's part of the same row, which follows this one's: heads are processed
 * one after the other, and the hardware does not prefetch rows that are far apart. */
static inline __attribute__((always_inline)) void fetch_next_head(
    const bool half, const void *row, size_t dim)
{
    size_t bytes = dim * (half ? sizeof(uint16_t) : sizeof(float));
    for (size_t i = 0; i < bytes; i += 64)
        v_prefetch((uintptr_t)row + bytes + i);
}

/* s[8] = q key[0..7] */
static inline __attribute__((always_inline)) void score8(
    const bool half, const float *q, const void *const key[8], size_t dim, float *s)
{
    vec sum[8];
#pragma GCC unroll 8
    for (int u = 0; u < 8; u++)
        sum[u] = v_zero();
    size_t d = 0;
    for (; d + VL <= dim; d += VL) {
        vec x = v_load(q + d);
#pragma GCC unroll 8
        for (int u = 0; u < 8; u++)
            sum[u] = v_fma(x, kv_load(half, key[u], d), sum[u]);
    }
    if (d < dim) {
        vec x = v_load_part(q + d, v_first(dim - d));
#pragma GCC unroll 8
        for (int u = 0; u < 8; u++)
            sum[u] = v_fma(x, kv_load_part(half, key[u], d, dim - d), sum[u]);
    }
    v_sum8(sum, s);
}

/* Scores eight keys at a time; past the end it repeats the last key, into the row's spare
 * places. */
static inline __attribute__((always_inline)) void score_keys(
    const bool half, const struct dg_attn_tile *t, const struct dg_kv *k, size_t j0, size_t n)
{
    for (size_t j = 0; j < n; j += 8) {
        const void *key[8]; /* of [Dk] */
        for (size_t u = 0; u < 8; u++) {
            key[u] = kv_row(k, j0 + (j + u < n ? j + u : n - 1));
            if (k->ld > k->dim)
                fetch_next_head(half, key[u], k->dim);
        }
        for (size_t i = 0; i < t->n_q; i++)
            score8(half, t->q + i * t->ldq, key, k->dim, t->s + i * t->lds + j);
    }
}

static void scores(const struct dg_attn_tile *t, const struct dg_kv *k, size_t j0, size_t n)
{
    if (k->halves)
        score_keys(true, t, k, j0, n);
    else
        score_keys(false, t, k, j0, n);
}

/* out_i[d .. d + nv*VL) += sum_j s[i,j] v_j for nq queries; nq and nv are constants where this is
 * called. */
static inline __attribute__((always_inline)) void weigh_tile(const bool half, const int nq,
    const int nv, const struct dg_attn_tile *t, const void *const row[RUN], size_t n, size_t d)
{
    vec sum[4][WEIGH_VECTORS];
#pragma GCC unroll 4
    for (int i = 0; i < nq; i++)
#pragma GCC unroll 16
        for (int u = 0; u < nv; u++)
            sum[i][u] = v_load(t->out + (size_t)i * t->ldo + d + (size_t)(u * VL));
    for (size_t j = 0; j < n; j++) {
        vec x[WEIGH_VECTORS];
#pragma GCC unroll 16
        for (int u = 0; u < nv; u++)
            x[u] = kv_load(half, row[j], d + (size_t)(u * VL));
#pragma GCC unroll 4
        for (int i = 0; i < nq; i++) {
            vec p = v_all(t->s[(size_t)i * t->lds + j]);
#pragma GCC unroll 16
            for (int u = 0; u < nv; u++)
                sum[i][u] = v_fma(p, x[u], sum[i][u]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < nq; i++)
#pragma GCC unroll 16
        for (int u = 0; u < nv; u++)
            v_store(t->out + (size_t)i * t->ldo + d + (size_t)(u * VL), sum[i][u]);
}

/* nq queries over n values, all columns: nv vectors at a time, then one, then the rest. */
static inline __attribute__((always_inline)) void weigh_rows(const bool half, const int nq,
    const int nv, const struct dg_attn_tile *t, const void *const row[RUN], size_t n, size_t dim)
{
    size_t d = 0;
    for (; d + (size_t)(nv * VL) <= dim; d += (size_t)(nv * VL))
        weigh_tile(half, nq, nv, t, row, n, d);
    for (; d + VL <= dim; d += VL)
        weigh_tile(half, nq, 1, t, row, n, d);
    if (d == dim)
        return;
    vec_mask m = v_first(dim - d);
    for (int i = 0; i < nq; i++) {
        float *out = t->out + (size_t)i * t->ldo + d;
        vec sum = v_load_part(out, m);
        for (size_t j = 0; j < n; j++)
            sum = v_fma(
                v_all(t->s[(size_t)i * t->lds + j]), kv_load_part(half, row[j], d, dim - d), sum);
        v_store_part(out, m, sum);
    }
}

/* Four queries share each load of a value: rows a power of two apart do not stay in the first-level
 * cache. */
static inline __attribute__((always_inline)) void weigh_values(
    const bool half, const struct dg_attn_tile *t, const struct dg_kv *v, size_t j0, size_t n)
{
    const void *row[RUN]; /* of [Dv] */
    for (size_t j = 0; j < n; j += RUN) {
        struct dg_attn_tile at = *t;
        size_t some = n - j < RUN ? n - j : RUN, i = 0;
        for (size_t u = 0; u < some; u++) {
            row[u] = kv_row(v, j0 + j + u);
            if (v->ld > v->dim)
                fetch_next_head(half, row[u], v->dim);
        }
        for (at.s += j; i + 4 <= t->n_q; i += 4, at.s += 4 * t->lds, at.out += 4 * t->ldo)
            weigh_rows(half, 4, 2, &at, row, some, v->dim);
        for (; i < t->n_q; i++, at.s += t->lds, at.out += t->ldo)
            weigh_rows(half, 1, 64 / VL, &at, row, some, v->dim);
    }
}

static void weigh(const struct dg_attn_tile *t, const struct dg_kv *v, size_t j0, size_t n)
{
    if (v->halves)
        weigh_values(true, t, v, j0, n);
    else
        weigh_values(false, t, v, j0, n);
}

static void widen(float *y, const uint16_t *x, size_t n)
{
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store(y + i, v_load_half(x + i));
    if (i < n)
        v_store_part(y + i, v_first(n - i), kv_load_part(true, x, i, n - i));
}

/* Clamps to fp16's range; NaN stays NaN. */
static void narrow(uint16_t *y, const float *x, size_t n)
{
    const vec most = v_all(65504.0f), least = v_all(-65504.0f);
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store_half(y + i, v_min(most, v_max(least, v_load(x + i))));
    if (i < n) {
        uint16_t rest[VL];
        v_store_half(rest, v_min(most, v_max(least, v_load_part(x + i, v_first(n - i)))));
        memcpy(y + i, rest, (n - i) * sizeof *rest);
    }
}

static float max_of(const float *x, size_t n)
{
    vec most[4];
    for (size_t u = 0; u < 4; u++)
        most[u] = v_all(-INFINITY);
    size_t i = 0;
    for (; i + 4 * VL <= n; i += 4 * VL)
        for (size_t u = 0; u < 4; u++)
            most[u] = v_max(most[u], v_load(x + i + u * VL));
    for (; i + VL <= n; i += VL)
        most[0] = v_max(most[0], v_load(x + i));
    if (i < n) {
        vec_mask m = v_first(n - i);
        most[1] = v_max(most[1], v_select(m, v_load_part(x + i, m), v_all(-INFINITY)));
    }
    return v_largest(v_max(v_max(most[0], most[1]), v_max(most[2], most[3])));
}

static void exp_sum(float *s, size_t n, float max, float scale, float *sum)
{
    const vec top = v_all(max), factor = v_all(scale);
    for (size_t lane = 0; lane < 16; lane += VL) {
        vec total = v_load(sum + lane);
        size_t i = lane;
        for (; i + VL <= n; i += 16) {
            vec e = v_exp(v_mul(factor, v_sub(v_load(s + i), top)));
            v_store(s + i, e);
            total = v_add(total, e);
        }
        if (i < n) {
            vec_mask m = v_first(n - i);
            vec e = v_select(m, v_exp(v_mul(factor, v_sub(v_load_part(s + i, m), top))), v_zero());
            v_store_part(s + i, m, e);
            total = v_add(total, e);
        }
        v_store(sum + lane, total);
    }
}

static void scale_by(float *s, size_t n, float a)
{
    const vec factor = v_all(a);
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store(s + i, v_mul(v_load(s + i), factor));
    for (; i < n; i++)
        s[i] *= a;
}
