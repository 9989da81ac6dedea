/* bf16 in plain C: the definition, which no backend runs (plain C is faster on widened weights).
 * dg_bf16_plain: a pair is two fused multiply-adds, the second element's first, each rounded to
 * nearest even. dg_bf16_plain_tiles: in a block of 16 pairs, the first elements form one chain of
 * fused multiply-adds and the second elements another; the sum of the two chains is added to the
 * total of the blocks before. Values below the smallest normal number count as zero, on input (bf16
 * values) and on output (sums). The product of two bf16 values has 16 bits, so it is exact in fp32:
 * fused or not makes a difference only where a product alone would leave fp32's range. */
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/pack.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Pairs of a block. */
enum { BLOCK = 16 };

static float flush(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

static float widen(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return flush(x);
}

static float add_pair(float sum, const uint16_t x[2], const uint16_t w[2])
{
    sum = flush(fmaf(widen(x[1]), widen(w[1]), flush(sum)));
    return flush(fmaf(widen(x[0]), widen(w[0]), sum));
}

static uint16_t nearest(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}

static void round_row(const float *x, size_t K, uint16_t *q)
{
    for (size_t k = 0; k < K; k++)
        q[k] = nearest(x[k]);
    if (K % 2)
        q[K] = 0;
}

static void pair(const float *const rows[2], size_t n, uint16_t *q, size_t apart)
{
    for (size_t i = 0; i < (n + DG_PANEL - 1) / DG_PANEL * DG_PANEL; i++)
        for (size_t r = 0; r < 2; r++)
            q[i / DG_PANEL * apart + i % DG_PANEL * 2 + r] =
                rows[r] && i < n ? nearest(rows[r][i]) : 0;
}

/* Row i of panels of `pairs` pairs. */
static const uint16_t *in_panels(const uint16_t *panels, size_t i, size_t pairs)
{
    return panels + i / DG_PANEL * DG_PANEL * 2 * pairs + i % DG_PANEL * 2;
}

/* Sums one output over all pairs, plus *y unless y is NULL; pairs of x are `apart` elements
 * apart. */
typedef float sum_fn(
    const uint16_t *x, size_t apart, const uint16_t *w, size_t pairs, const float *y);

static float sum_chain(
    const uint16_t *x, size_t apart, const uint16_t *w, size_t pairs, const float *y)
{
    float sum = 0;
    for (size_t k = 0; k < pairs; k++)
        sum = add_pair(sum, x + k * apart, w + k * DG_PANEL * 2);
    return y ? *y + sum : sum;
}

static float sum_blocks(
    const uint16_t *x, size_t apart, const uint16_t *w, size_t pairs, const float *y)
{
    float sum = y ? flush(*y) : 0;
    for (size_t k0 = 0; k0 < pairs; k0 += BLOCK) {
        float half[2] = {0, 0};
        for (size_t k = k0; k < pairs && k < k0 + BLOCK; k++)
            for (size_t i = 0; i < 2; i++)
                half[i] =
                    flush(fmaf(widen(x[k * apart + i]), widen(w[k * DG_PANEL * 2 + i]), half[i]));
        sum = flush(sum + flush(half[0] + half[1]));
    }
    return sum;
}

/* turned: the left matrix is in panels, too. */
static void multiply(const struct dg_bf16_gemm *g, bool turned, sum_fn *sum)
{
    const size_t apart = turned ? (size_t)DG_PANEL * 2 : 2;
    for (size_t m = 0; m < g->M; m++) {
        const uint16_t *x = turned ? in_panels(g->x, m, g->pairs) : g->x + m * g->ldx;
        for (size_t n = 0; n < g->n; n++) {
            float *y = g->y + m * g->ldy + n;
            *y = sum(x, apart, in_panels(g->w, n, g->pairs), g->pairs, g->add ? y : NULL);
        }
    }
}

static void gemm(const struct dg_bf16_gemm *g)
{
    multiply(g, false, sum_chain);
}

static void gemm_turned(const struct dg_bf16_gemm *g)
{
    multiply(g, true, sum_chain);
}

static void gemm_tiles(const struct dg_bf16_gemm *g)
{
    multiply(g, false, sum_blocks);
}

static void gemm_tiles_turned(const struct dg_bf16_gemm *g)
{
    multiply(g, true, sum_blocks);
}

static void exps(struct dg_bf16_exps *e)
{
    for (size_t r = 0; r < 2; r++) {
        e->sum[r] = 0;
        e->most[r] = -INFINITY;
        for (size_t i = 0; i < (e->n + 31) / 32 * 32; i++) {
            const float x = i < e->n ? e->x[r][i] + (e->bias ? e->bias[i] : 0) : -INFINITY,
                        y = expf(x - e->from[r]);
            e->sum[r] += y;
            e->most[r] = x > e->most[r] ? x : e->most[r];
            if (!e->rows[r])
                continue;
            e->rows[r][i] = nearest(y);
            if (i < (e->n + DG_PANEL - 1) / DG_PANEL * DG_PANEL)
                e->pairs[i / DG_PANEL * e->apart + i % DG_PANEL * 2 + r] = nearest(y);
        }
    }
}

static void turn(const uint32_t *from, size_t ld, size_t n, uint32_t *to, size_t ldt)
{
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < DG_PANEL; r++)
            to[i * ldt + r] = from[r * ld + i];
}

const struct dg_cpu_bf16 dg_bf16_plain = {.round = round_row,
    .gemm = gemm,
    .gemm_turned = gemm_turned,
    .exps = exps,
    .pair = pair,
    .turn = turn};

const struct dg_cpu_bf16 dg_bf16_plain_tiles = {.round = round_row,
    .gemm = gemm_tiles,
    .gemm_turned = gemm_tiles_turned,
    .exps = exps,
    .pair = pair,
    .turn = turn};
