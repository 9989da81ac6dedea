/* Attention's and log-softmax's bodies at the vector width of the file that includes this (after simd_rows.h).
 * A score is one chain per lane over Dk, then v_sum8; a weighted sum is one chain per element over the keys; sums of
 * exponentials go to the lane of the key. None depends on how many queries or keys are handled together. */

static inline const float *kv_row(const struct dg_kv *kv, size_t j)
{
    return kv->data + (kv->slots ? (size_t)kv->slots[j] : kv->k0 + j) * kv->ld;
}

/* out[8] = q key[0..7], not scaled. */
static inline void score8(const float *q, const float *const key[8], size_t dim, float out[8])
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
            sum[u] = v_fma(x, v_load(key[u] + d), sum[u]);
    }
    if (d < dim) {
        vec_mask m = v_first(dim - d);
        vec x = v_load_part(q + d, m);
#pragma GCC unroll 8
        for (int u = 0; u < 8; u++)
            sum[u] = v_fma(x, v_load_part(key[u] + d, m), sum[u]);
    }
    v_sum8(sum, out);
}

static void scores(const struct dg_attn_tile *t, const struct dg_kv *k, size_t j0, size_t n)
{
    for (size_t j = 0; j < n; j += 8) {
        size_t some = n - j < 8 ? n - j : 8;
        const float *key[8]; /* [8] of [Dk]; past the end the last one again */
        for (size_t u = 0; u < 8; u++)
            key[u] = kv_row(k, j0 + j + (u < some ? u : some - 1));
        for (size_t i = 0; i < t->n_q; i++) {
            float out[8], *s = t->s + i * t->lds + j;
            score8(t->q + i * t->ldq, key, k->dim, out);
            for (size_t u = 0; u < some; u++)
                s[u] = out[u] * t->scale;
        }
    }
}

/* out[nv*VL] += sum_j s[j] v_j, elements d .. of the values; nv is a constant where it is called. */
static inline __attribute__((always_inline)) void weigh_columns(const int nv, const float *s, const struct dg_kv *v,
    size_t j0, size_t n, size_t d, float *out)
{
    vec sum[8];
#pragma GCC unroll 8
    for (int u = 0; u < nv; u++)
        sum[u] = v_load(out + d + u * VL);
    for (size_t j = 0; j < n; j++) {
        const float *value = kv_row(v, j0 + j) + d;
        vec p = v_all(s[j]);
#pragma GCC unroll 8
        for (int u = 0; u < nv; u++)
            sum[u] = v_fma(p, v_load(value + u * VL), sum[u]);
    }
#pragma GCC unroll 8
    for (int u = 0; u < nv; u++)
        v_store(out + d + u * VL, sum[u]);
}

static void weigh_query(const float *s, const struct dg_kv *v, size_t j0, size_t n, float *out)
{
    size_t d = 0;
    for (; d + 64 <= v->dim; d += 64)
        weigh_columns(64 / VL, s, v, j0, n, d, out);
    for (; d + 2 * VL <= v->dim; d += 2 * VL)
        weigh_columns(2, s, v, j0, n, d, out);
    for (; d + VL <= v->dim; d += VL)
        weigh_columns(1, s, v, j0, n, d, out);
    if (d < v->dim) {
        vec_mask m = v_first(v->dim - d);
        vec sum = v_load_part(out + d, m);
        for (size_t j = 0; j < n; j++)
            sum = v_fma(v_all(s[j]), v_load_part(kv_row(v, j0 + j) + d, m), sum);
        v_store_part(out + d, m, sum);
    }
}

/* 64 values at a time: they stay in the first-level cache while the queries pass. */
static void weigh(const struct dg_attn_tile *t, const struct dg_kv *v, size_t j0, size_t n)
{
    for (size_t j = 0; j < n; j += 64)
        for (size_t i = 0; i < t->n_q; i++)
            weigh_query(t->s + i * t->lds + j, v, j0 + j, n - j < 64 ? n - j : 64, t->out + i * t->ldo);
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

static void exp_sum(float *s, size_t n, float max, float *sum)
{
    const vec top = v_all(max);
    for (size_t lane = 0; lane < 16; lane += VL) {
        vec total = v_load(sum + lane);
        size_t i = lane;
        for (; i + VL <= n; i += 16) {
            vec e = v_exp(v_sub(v_load(s + i), top));
            v_store(s + i, e);
            total = v_add(total, e);
        }
        if (i < n) {
            vec_mask m = v_first(n - i);
            vec e = v_select(m, v_exp(v_sub(v_load_part(s + i, m), top)), v_zero());
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

/* Lanes hold at most 1024 / VL terms each before they are added in double. */
static double sum_exp(const float *x, size_t n, float max)
{
    const vec top = v_all(max);
    double sum = 0;
    size_t i = 0;
    while (i + VL <= n) {
        size_t end = n - i < 1024 ? n : i + 1024;
        vec part = v_zero();
        for (; i + VL <= end; i += VL)
            part = v_add(part, v_exp(v_sub(v_load(x + i), top)));
        sum += v_sum_double(part);
    }
    if (i < n) {
        vec_mask m = v_first(n - i);
        sum += v_sum_double(v_select(m, v_exp(v_sub(v_load_part(x + i, m), top)), v_zero()));
    }
    return sum;
}
