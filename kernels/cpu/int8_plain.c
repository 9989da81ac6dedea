/* int8 in plain C: the definition. Sums are exact; the other implementations repeat the float
 * operations in the same order. */
#include "kernels/cpu/int8.h"
#include "kernels/cpu/pack.h"

#include <math.h>
#include <string.h>

/* Below this range a row counts as zero, since steps / range might not be finite. */
static const float SMALLEST = 1e-30f;

/* Quantises to `steps` steps over the row's range, extended to include 0. Rounding is to nearest
 * even; the two roundings together can exceed `steps` by one, hence the clamp. */
static struct dg_int8_act quantize(const float *x, size_t K, int steps, uint8_t *q)
{
    struct dg_int8_act act = {0, 0};
    float min = 0, max = 0;
    bool finite = true;
    memset(q, 0, (K + 63) / 64 * 64);
    for (size_t k = 0; k < K; k++) {
        finite = finite && isfinite(x[k]);
        min = x[k] < min ? x[k] : min;
        max = x[k] > max ? x[k] : max;
    }
    float range = max - min;
    if (!finite) {
        act.scale = NAN;
        return act;
    }
    if (!(range >= SMALLEST))
        return act;
    float inverse = (float)steps / range;
    act.scale = range / (float)steps;
    act.zero = (int32_t)rintf(-min * inverse);
    for (size_t k = 0; k < K; k++) {
        int32_t v = (int32_t)rintf(x[k] * inverse) + act.zero;
        q[k] = (uint8_t)(v < 0 ? 0 : v > steps ? steps : v);
    }
    return act;
}

/* One row against one panel. */
static void gemm_row(const struct dg_int8_gemm *g, size_t m, size_t n0)
{
    const int8_t *panel = g->w + n0 / DG_PANEL * dg_int8_panel(g->groups);
    const uint8_t *x = g->x + m * g->ldx;
    int32_t sum[DG_PANEL] = {0}, totals[DG_PANEL];
    memcpy(totals, panel + g->groups * 64, sizeof totals);
    for (size_t k = 0; k < g->groups * 4; k += 4)
        for (size_t i = 0; i < DG_PANEL; i++)
            for (size_t j = 0; j < 4; j++)
                sum[i] += x[k + j] * panel[k * DG_PANEL + i * 4 + j];
    for (size_t i = 0; i < DG_PANEL && n0 + i < g->n; i++) {
        float y =
            (float)(int32_t)((uint32_t)sum[i] - (uint32_t)g->acts[m].zero * (uint32_t)totals[i]) *
            (g->acts[m].scale * g->scales[n0 + i]);
        if (g->bias)
            y = y + g->bias[n0 + i];
        g->y[m * g->ldy + n0 + i] = g->relu && y < 0 ? 0 : y;
    }
}

static void gemm(const struct dg_int8_gemm *g)
{
    for (size_t n0 = 0; n0 < g->n; n0 += DG_PANEL)
        for (size_t m = 0; m < g->M; m++)
            gemm_row(g, m, n0);
}

const struct dg_cpu_int8 dg_int8_plain = {.quantize = quantize, .gemm = gemm};
