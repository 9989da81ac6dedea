/* The inner kernels in plain C: the definition that the others are tested against. Every sum runs
 * in the order of its index, without fused multiply-adds. */
#include "kernels/cpu/isa.h"
#include "kernels/cpu/plain_attention.h"

#include <math.h>

enum { PANEL = 16 };

/* One row against one panel: 16 chains side by side. */
static void gemm_row(const float *x, const float *panel, size_t K, float *y, size_t n)
{
    float sum[PANEL] = {0};
    for (size_t k = 0; k < K; k++)
        for (size_t i = 0; i < PANEL; i++)
            sum[i] += x[k] * panel[k * PANEL + i];
    for (size_t i = 0; i < n; i++)
        y[i] = sum[i];
}

static void gemm(const struct dg_gemm *g)
{
    for (size_t n0 = 0; n0 < g->n; n0 += PANEL)
        for (size_t m = 0; m < g->M; m++)
            gemm_row(g->x + m * g->ldx, g->w + n0 * g->K, g->K, g->y + m * g->ldy + n0,
                g->n - n0 < PANEL ? g->n - n0 : PANEL);
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

const struct dg_cpu_isa dg_cpu_plain = {
    .name = "generic",
    .gemm = gemm,
    .dot = dot,
    .finish = finish,
    .dropout = dropout,
    .norm = norm,
    .ssru = ssru,
    .scores = dg_plain_scores,
    .weigh = dg_plain_weigh,
    .max = dg_plain_max,
    .exp_sum = dg_plain_exp_sum,
    .scale = dg_plain_scale,
    .widen = dg_plain_widen,
    .narrow = dg_plain_narrow,
    .sum_exp = dg_plain_sum_exp,
    .run_max = dg_plain_run_max,
    .at_least = dg_plain_at_least,
};
