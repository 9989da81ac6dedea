/* Elementwise and reducing loops of training. One source, built per instruction set: DG_LOOPS names
 * the table and -DDG_LOOPS_ISA its label. The simd pragmas allow reassociation of the sums they
 * name, nothing else. */
#include "kernels/cpu/train/loops_build.h"

#include <math.h>

static void drop(float *y, size_t n, struct dg_mask mask)
{
    const uint32_t floor_ = (uint32_t)(mask.p * 16777216.0f);
    const float scale = 1.0f / (1.0f - mask.p);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = (dg_dropout_hash(mask.key, mask.first + (uint32_t)i) >> 8) >= floor_ ? y[i] * scale
                                                                                    : 0.0f;
}

/* y shows the masks of both ReLU and its dropout: elements that were cut or dropped are 0. */
static void relu(float *dy, const float *y, size_t n, float scale)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        dy[i] = y[i] > 0.0f ? dy[i] * scale : 0.0f;
}

/* swish(x) = x σ(x); swish' = σ (1 + x (1 - σ)) */
static void swish(float *dy, const float *pre, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        float s = 1.0f / (1.0f + loop_exp(-pre[i]));
        dy[i] *= s * (1.0f + pre[i] * (1.0f - s));
    }
}

/* gelu(x) = x Φ(x); gelu' = Φ(x) + x φ(x) */
static void gelu(float *dy, const float *pre, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float x = pre[i];
        float cdf = 0.5f * (1.0f + erff(x * 0.70710678118654752f));
        dy[i] *= cdf + x * 0.39894228040143268f * loop_exp(-0.5f * x * x);
    }
}

/* Four rows at a time: out is loaded and stored a quarter as often. */
static void column_sum(float *restrict out, const float *x, size_t ldx, size_t M, size_t N)
{
    size_t m = 0;
    for (; m + 4 <= M; m += 4) {
        const float *a = x + m * ldx, *b = a + ldx, *c = b + ldx, *d = c + ldx;
#pragma omp simd
        for (size_t i = 0; i < N; i++)
            out[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
    for (; m < M; m++) {
        const float *a = x + m * ldx;
#pragma omp simd
        for (size_t i = 0; i < N; i++)
            out[i] += a[i];
    }
}

static void axpy(float *restrict y, const float *restrict x, float a, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* With g = gain dy: dv = (g - mean(g) - x̂ mean(g x̂)) / σ + dsum, v = r + drop(x). */
static void norm(const struct dg_loop_norm *row, size_t D)
{
    const float *dy = row->dy, *xhat = row->xhat, *gain = row->gain, *dsum = row->dsum;
    float *dgain = row->dgain, *dbias = row->dbias, *dx = row->dx, *dr = row->dr;
    float a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
    for (size_t i = 0; i < D; i++) {
        float g = gain[i] * dy[i];
        a += g;
        b += g * xhat[i];
    }
    a /= (float)D;
    b /= (float)D;
#pragma omp simd
    for (size_t i = 0; i < D; i++) {
        dgain[i] += dy[i] * xhat[i];
        dbias[i] += dy[i];
        float v = (gain[i] * dy[i] - a - xhat[i] * b) * row->rstd;
        v += dsum ? dsum[i] : 0.0f;
        dr[i] = v;
        dx[i] = v;
    }
    if (row->drop.p > 0)
        drop(dx, D, row->drop);
}

static void ssru(const struct dg_loop_ssru *row, size_t D)
{
    const float *c = row->c, *before = row->before, *f = row->f, *dy = row->dy;
    float *dx = row->dx, *df = row->df, *earlier = row->earlier;
#pragma omp simd
    for (size_t i = 0; i < D; i++) {
        float keep = 1.0f / (1.0f + loop_exp(-f[i]));
        float dc = dx[i] + (c[i] > 0.0f ? dy[i] : 0.0f);
        df[i] = keep * dc * ((before ? before[i] : 0.0f) - c[i]);
        dx[i] = (1.0f - keep) * dc;
        if (earlier)
            earlier[i] = keep * dc;
    }
}

static void sum(const float *const *parts, size_t n_parts, float *out, size_t n)
{
    const float *first = parts[0];
    if (n_parts == 1 && first != out)
        memcpy(out, first, n * sizeof *out);
    /* Blocks that stay in the first-level cache while further parts are added. */
    for (size_t at = 0; n_parts > 1 && at < n; at += 2048) {
        float acc[2048];
        size_t end = n - at < 2048 ? n - at : 2048;
        const float *a = first + at, *b = parts[1] + at;
#pragma omp simd
        for (size_t i = 0; i < end; i++)
            acc[i] = a[i] + b[i];
        for (size_t p = 2; p < n_parts; p++) {
            const float *c = parts[p] + at;
#pragma omp simd
            for (size_t i = 0; i < end; i++)
                acc[i] += c[i];
        }
        memcpy(out + at, acc, end * sizeof *acc);
    }
}

static double square_sum(const float *x, size_t n)
{
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (size_t i = 0; i < n; i++)
        total += (double)x[i] * x[i];
    return total;
}

static void adam(const struct dg_adam *op, size_t n)
{
    const float *restrict g = op->g;
    float *restrict p = op->p, *restrict m = op->m, *restrict v = op->v, *restrict ema = op->ema;
    const float b1 = op->beta1, b2 = op->beta2, eps = op->eps, gs = op->grad_scale;
    const float keep = 1.0f - op->lr * op->decay, decay = op->ema_decay;
    /* p -= lr * m̂ / (sqrt(v̂) + ε), m̂ = m / (1 - β1^t), v̂ = v / (1 - β2^t) */
    const float step = (float)(op->lr / (1.0 - pow(b1, (double)op->step)));
    const float root = (float)(1.0 / sqrt(1.0 - pow(b2, (double)op->step)));
    const float c1 = 1.0f - b1, c2 = 1.0f - b2;
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        float gi = g[i] * gs;
        float mi = b1 * m[i] + c1 * gi;
        float vi = b2 * v[i] + c2 * gi * gi;
        m[i] = mi;
        v[i] = vi;
        p[i] = p[i] * keep - step * mi / (sqrtf(vi) * root + eps);
    }
    if (!ema)
        return;
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        ema[i] = decay * ema[i] + (1.0f - decay) * p[i];
}

const struct dg_loops DG_LOOPS = {.isa = DG_LOOPS_ISA,
    .drop = drop,
    .relu = relu,
    .swish = swish,
    .gelu = gelu,
    .column_sum = column_sum,
    .axpy = axpy,
    .norm = norm,
    .ssru = ssru,
    .loss = DG_LOOPS_NAME(loss),
    .head = DG_LOOPS_NAME(head),
    .sum = sum,
    .square_sum = square_sum,
    .adam = adam};
