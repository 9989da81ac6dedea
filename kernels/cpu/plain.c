/* The inner kernels in plain C: the definition that the others are tested against. Every sum runs
 * in the order of its index, without fused multiply-adds. */
#include "kernels/cpu/isa.h"
#include "kernels/cpu/pack.h"

#include <math.h>
#include <string.h>

/* One row against one panel: 16 chains side by side. */
static void gemm_row(const float *x, const float *panel, size_t K, float *y, size_t n)
{
    float sum[DG_PANEL] = {0};
    for (size_t k = 0; k < K; k++)
        for (size_t i = 0; i < DG_PANEL; i++)
            sum[i] += x[k] * panel[k * DG_PANEL + i];
    for (size_t i = 0; i < n; i++)
        y[i] = sum[i];
}

static void gemm(const struct dg_gemm *g)
{
    for (size_t n0 = 0; n0 < g->n; n0 += DG_PANEL)
        for (size_t m = 0; m < g->M; m++)
            gemm_row(g->x + m * g->ldx, g->w + n0 * g->K, g->K, g->y + m * g->ldy + n0,
                g->n - n0 < DG_PANEL ? g->n - n0 : DG_PANEL);
}

static float dot(const float *a, const float *b, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static float activate(float x, enum dg_act act)
{
    switch (act) {
    case DG_ACT_NONE: return x;
    case DG_ACT_RELU: return x < 0 ? 0 : x;
    case DG_ACT_SWISH: return x / (1.0f + expf(-x));
    case DG_ACT_GELU: return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    }
    return x;
}

static void finish(float *y, float *pre, const float *bias, size_t n, enum dg_act act)
{
    for (size_t i = 0; i < n; i++) {
        float v = bias ? y[i] + bias[i] : y[i];
        if (pre)
            pre[i] = v;
        y[i] = activate(v, act);
    }
}

static float dropped(float x, struct dg_mask mask, size_t i)
{
    return dg_dropout_keep(mask.key, mask.first + (uint32_t)i, mask.p)
               ? x * (1.0f / (1.0f - mask.p))
               : 0;
}

static void dropout(float *y, size_t n, struct dg_mask mask)
{
    for (size_t i = 0; i < n; i++)
        y[i] = dropped(y[i], mask, i);
}

static void norm(const struct dg_norm_row *row, size_t D)
{
    float sum = 0, squares = 0;
    for (size_t i = 0; i < D; i++) {
        float x = row->drop.p > 0 ? dropped(row->x[i], row->drop, i) : row->x[i];
        row->y[i] = row->r ? row->r[i] + x : x;
        sum += row->y[i];
    }
    float mean = sum / (float)D;
    for (size_t i = 0; i < D; i++)
        squares += (row->y[i] - mean) * (row->y[i] - mean);
    float rstd = 1.0f / sqrtf(squares / (float)D + row->eps);
    for (size_t i = 0; i < D; i++) {
        float xhat = (row->y[i] - mean) * rstd;
        if (row->xhat)
            row->xhat[i] = xhat;
        row->y[i] = xhat * row->gain[i] + row->bias[i];
    }
    if (row->rstd)
        *row->rstd = rstd;
}

static void ssru(const struct dg_ssru_row *row, size_t D)
{
    for (size_t i = 0; i < D; i++) {
        float keep = 1.0f / (1.0f + expf(-row->f[i])), before = row->before ? row->before[i] : 0;
        float c = keep * before + (1.0f - keep) * row->x[i];
        row->after[i] = c;
        row->y[i] = c < 0 ? 0 : c;
    }
}

/* ---- attention and log-softmax ---- */

/* Element d of row j. */
static float element(const struct dg_kv *kv, size_t j, size_t d)
{
    size_t at = (kv->slots ? (size_t)kv->slots[j] : kv->k0 + j) * kv->ld + d;
    float x;
    if (!kv->halves)
        return kv->data[at];
    dg_convert_floats(kv->halves, DG_F16, at, 1, &x);
    return x;
}

static void scores(const struct dg_attn_tile *t, const struct dg_kv *k, size_t j0, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < t->n_q; i++) {
            float sum = 0;
            for (size_t d = 0; d < k->dim; d++)
                sum += t->q[i * t->ldq + d] * element(k, j0 + j, d);
            t->s[i * t->lds + j] = sum;
        }
}

static void weigh(const struct dg_attn_tile *t, const struct dg_kv *v, size_t j0, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < t->n_q; i++) {
            float p = t->s[i * t->lds + j], *out = t->out + i * t->ldo;
            for (size_t d = 0; d < v->dim; d++)
                out[d] += p * element(v, j0 + j, d);
        }
}

static float max_of(const float *x, size_t n)
{
    float max = -INFINITY;
    for (size_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return max;
}

static void exp_sum(float *s, size_t n, float max, float scale, float *sum)
{
    for (size_t i = 0; i < n; i++) {
        s[i] = expf(scale * (s[i] - max));
        sum[i % 16] += s[i];
    }
}

static void scale_by(float *s, size_t n, float a)
{
    for (size_t i = 0; i < n; i++)
        s[i] *= a;
}

static double sum_exp(const float *x, size_t n, float max, const float *next)
{
    (void)next;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)expf(x[i] - max);
    return sum;
}

static void run_max(const float *x, size_t n, size_t length, float *most)
{
    for (size_t i = 0; i < n; i += length)
        most[i / length] = max_of(x + i, n - i < length ? n - i : length);
}

static size_t at_least(const float *x, size_t n, float low, uint32_t *at)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] >= low)
            at[found++] = (uint32_t)i;
    return found;
}

static void widen(float *y, const uint16_t *x, size_t n)
{
    dg_convert_floats(x, DG_F16, 0, n, y);
}

/* Rounds to the nearest fp16, ties to even, at most 65504. The value is counted in units of the
 * last of fp16's 11 bits; below 2^-14 the unit stays 2^-24. The leading bit of the units, or their
 * carry to 2048, adds itself to the exponent. */
static uint16_t half_of(float x)
{
    uint32_t bits;
    float size = fabsf(x) > 65504.0f ? 65504.0f : fabsf(x);
    memcpy(&bits, &x, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    if (x != x)
        return sign | 0x7E00u;
    int exponent;
    frexpf(size, &exponent); /* size < 2^exponent */
    exponent = size <= 0 || exponent < -13 ? -13 : exponent;
    float units = rintf(ldexpf(size, 11 - exponent)); /* 0 .. 2048 of 2^(exponent - 11) */
    return (uint16_t)(sign | (((uint32_t)(exponent + 13) << 10) + (uint32_t)units));
}

static void narrow(uint16_t *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = half_of(x[i]);
}

const struct dg_cpu_isa dg_cpu_plain = {
    .name = "generic",
    .gemm = gemm,
    .dot = dot,
    .finish = finish,
    .dropout = dropout,
    .norm = norm,
    .ssru = ssru,
    .scores = scores,
    .weigh = weigh,
    .max = max_of,
    .exp_sum = exp_sum,
    .scale = scale_by,
    .widen = widen,
    .narrow = narrow,
    .sum_exp = sum_exp,
    .run_max = run_max,
    .at_least = at_least,
};
