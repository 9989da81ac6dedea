/* Row-wise bodies at the vector width of the file that includes this (vec_*.h first): exponential,
 * bias and activation, dropout, LayerNorm, dot product. Sums: one chain per lane, lanes added in
 * v_sum's order, so the order depends on the row's length alone. Any thread. */
#include "kernels/cpu/isa.h"

#include <math.h>

/* e^x, about 1 ulp: Cody-Waite reduction and Cephes' polynomial. Below -87.33 (the smallest normal)
 * it is 0, above 88.37 it stays e^88.37, NaN propagates. */
static inline vec v_exp(vec x)
{
    const vec low = v_all(-87.33654f);
    vec c = v_min(v_all(88.37f), v_max(low, x));
    vec n = v_round(v_mul(c, v_all(1.44269504088896341f)));
    vec r = v_fnma(n, v_all(0.693359375f), c);
    r = v_fnma(n, v_all(-2.12194440e-4f), r);
    vec p = v_all(1.9875691500e-4f);
    p = v_fma(p, r, v_all(1.3981999507e-3f));
    p = v_fma(p, r, v_all(8.3334519073e-3f));
    p = v_fma(p, r, v_all(4.1665795894e-2f));
    p = v_fma(p, r, v_all(1.6666665459e-1f));
    p = v_fma(p, r, v_all(5.0000001201e-1f));
    p = v_add(v_fma(p, v_mul(r, r), r), v_all(1.0f));
    return v_zero_below(x, low, v_scale(p, n));
}

static inline vec activate(vec x, enum dg_act act)
{
    if (act == DG_ACT_RELU)
        return v_max(v_zero(), x);
    if (act == DG_ACT_SWISH)
        return v_div(x, v_add(v_all(1.0f), v_exp(v_sub(v_zero(), x))));
    if (act == DG_ACT_GELU) {
        float lane[VL];
        v_store(lane, x);
        for (int i = 0; i < VL; i++)
            lane[i] = 0.5f * lane[i] * (1.0f + erff(lane[i] * 0.70710678118654752f));
        return v_load(lane);
    }
    return x;
}

static void finish(float *y, float *pre, const float *bias, size_t n, enum dg_act act)
{
    size_t i = 0;
    for (; i + VL <= n; i += VL) {
        vec v = v_load(y + i);
        v = bias ? v_add(v, v_load(bias + i)) : v;
        if (pre)
            v_store(pre + i, v);
        v_store(y + i, activate(v, act));
    }
    if (i < n) {
        vec_mask m = v_first(n - i);
        vec v = v_load_part(y + i, m);
        v = bias ? v_add(v, v_load_part(bias + i, m)) : v;
        if (pre)
            v_store_part(pre + i, m, v);
        v_store_part(y + i, m, activate(v, act));
    }
}

/* 1/(1-p) or 0 for elements first .. first + VL - 1: dg_dropout_keep, VL at a time. */
static inline vec keep_factor(uint32_t key, uint32_t first, vec_int threshold, vec factor)
{
    vec_int x = v_int_add(v_int_mul(v_count(first), v_int(0x9E3779B9u)), v_int(key));
    x = v_int_xor(x, v_int_shift(x, 16));
    x = v_int_mul(x, v_int(0x7FEB352Du));
    x = v_int_xor(x, v_int_shift(x, 15));
    x = v_int_mul(x, v_int(0x846CA68Bu));
    x = v_int_xor(x, v_int_shift(x, 16));
    return v_keep(v_int_shift(x, 8), threshold, factor);
}

static void dropout(float *y, size_t n, struct dg_mask mask)
{
    const vec_int threshold = v_int((uint32_t)(mask.p * 16777216.0f));
    const vec factor = v_all(1.0f / (1.0f - mask.p));
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store(y + i, v_mul(v_load(y + i),
                           keep_factor(mask.key, mask.first + (uint32_t)i, threshold, factor)));
    if (i < n) {
        vec_mask m = v_first(n - i);
        vec keep = keep_factor(mask.key, mask.first + (uint32_t)i, threshold, factor);
        v_store_part(y + i, m, v_mul(v_load_part(y + i, m), keep));
    }
}

/* Elements i .. of r + drop(x); part: the mask of the row's last elements, fewer than VL. */
static inline vec residual(const struct dg_norm_row *row, size_t i, const vec_mask *part)
{
    vec x = part ? v_load_part(row->x + i, *part) : v_load(row->x + i);
    if (row->drop.p > 0)
        x = v_mul(x,
            keep_factor(row->drop.key, row->drop.first + (uint32_t)i,
                v_int((uint32_t)(row->drop.p * 16777216.0f)), v_all(1.0f / (1.0f - row->drop.p))));
    if (!row->r)
        return x;
    return v_add(part ? v_load_part(row->r + i, *part) : v_load(row->r + i), x);
}

/* y = r + drop(x); returns the mean. */
static inline float norm_mean(const struct dg_norm_row *row, size_t D)
{
    vec sum = v_zero();
    size_t i = 0;
    for (; i + VL <= D; i += VL) {
        vec v = residual(row, i, NULL);
        v_store(row->y + i, v);
        sum = v_add(sum, v);
    }
    if (i < D) {
        vec_mask m = v_first(D - i);
        vec v = residual(row, i, &m); /* zero beyond the row */
        v_store_part(row->y + i, m, v);
        sum = v_add(sum, v);
    }
    return v_sum(sum) / (float)D;
}

/* 1/σ of y around its mean. */
static inline float norm_rstd(const float *y, size_t D, float mean, float eps)
{
    const vec centre = v_all(mean);
    vec sum = v_zero();
    size_t i = 0;
    for (; i + VL <= D; i += VL) {
        vec d = v_sub(v_load(y + i), centre);
        sum = v_fma(d, d, sum);
    }
    if (i < D) {
        vec_mask m = v_first(D - i);
        vec d = v_select(m, v_sub(v_load_part(y + i, m), centre), v_zero());
        sum = v_fma(d, d, sum);
    }
    return 1.0f / sqrtf(v_sum(sum) / (float)D + eps);
}

static void norm(const struct dg_norm_row *row, size_t D)
{
    float mean = norm_mean(row, D), rstd = norm_rstd(row->y, D, mean, row->eps);
    const vec centre = v_all(mean), factor = v_all(rstd);
    size_t i = 0;
    for (; i + VL <= D; i += VL) {
        vec xhat = v_mul(v_sub(v_load(row->y + i), centre), factor);
        if (row->xhat)
            v_store(row->xhat + i, xhat);
        v_store(row->y + i, v_fma(xhat, v_load(row->gain + i), v_load(row->bias + i)));
    }
    if (i < D) {
        vec_mask m = v_first(D - i);
        vec xhat = v_mul(v_sub(v_load_part(row->y + i, m), centre), factor);
        if (row->xhat)
            v_store_part(row->xhat + i, m, xhat);
        v_store_part(row->y + i, m,
            v_fma(xhat, v_load_part(row->gain + i, m), v_load_part(row->bias + i, m)));
    }
    if (row->rstd)
        *row->rstd = rstd;
}

/* The state after a step: keep c + (1 - keep) x. */
static inline vec ssru_state(vec x, vec f, vec before)
{
    vec keep = v_div(v_all(1.0f), v_add(v_all(1.0f), v_exp(v_sub(v_zero(), f))));
    return v_fma(keep, before, v_mul(v_sub(v_all(1.0f), keep), x));
}

static void ssru(const struct dg_ssru_row *row, size_t D)
{
    size_t i = 0;
    for (; i + VL <= D; i += VL) {
        vec before = row->before ? v_load(row->before + i) : v_zero();
        vec c = ssru_state(v_load(row->x + i), v_load(row->f + i), before);
        v_store(row->after + i, c);
        v_store(row->y + i, v_max(v_zero(), c));
    }
    if (i < D) {
        vec_mask m = v_first(D - i);
        vec before = row->before ? v_load_part(row->before + i, m) : v_zero();
        vec c = ssru_state(v_load_part(row->x + i, m), v_load_part(row->f + i, m), before);
        v_store_part(row->after + i, m, c);
        v_store_part(row->y + i, m, v_max(v_zero(), c));
    }
}

static float dot(const float *a, const float *b, size_t n)
{
    vec sum[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
    size_t i = 0;
    for (; i + 4 * VL <= n; i += 4 * VL)
        for (size_t u = 0; u < 4; u++)
            sum[u] = v_fma(v_load(a + i + u * VL), v_load(b + i + u * VL), sum[u]);
    for (; i + VL <= n; i += VL)
        sum[0] = v_fma(v_load(a + i), v_load(b + i), sum[0]);
    if (i < n) {
        vec_mask m = v_first(n - i);
        sum[1] = v_fma(v_load_part(a + i, m), v_load_part(b + i, m), sum[1]);
    }
    return v_sum(v_add(v_add(sum[0], sum[1]), v_add(sum[2], sum[3])));
}
