/* The rest of the gradients after the walk, when every row's Z is known (output_bf16.c has the
 * formulas): dx is scaled, and dw sums the e that the walk kept, times a x. */
#include "kernels/cpu/train/output_bf16_internal.h"

#include <string.h>

/* Keeps the upper half of the bits: a bf16. */
static float cut(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0xFFFF0000;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

static void finish_dx(const struct dg_output_walk *w)
{
    const struct dg_output_rows *r = w->r;
    const struct dg_output_bf16 *o = w->o;
    const float b = dg_output_share(w), c = r->scale * (1 - r->epsilon);
    for (size_t m = 0; m < r->M; m++) {
        const float a = (float)(r->scale / o->sum[m]);
        const float *to = r->w + (size_t)r->target[m] * r->D;
        float *dx = r->dx + m * r->lddx;
        for (size_t d = 0; d < r->D; d++)
            dx[d] = a * dx[d] - b * o->sum_w[d] - c * to[d];
    }
}

/* Returns row m of the scaled rows: a x; for rows M and M+1 the sum of x times -b, in two parts;
 * NULL beyond. */
static const float *scaled_row(const struct dg_output_walk *w, size_t m, float *out)
{
    const struct dg_output_rows *r = w->r;
    const struct dg_output_bf16 *o = w->o;
    const float b = dg_output_share(w);
    if (m >= r->M + DG_OUTPUT_EXTRA)
        return NULL;
    const float a = m < r->M ? (float)(r->scale / o->sum[m]) : 0;
    for (size_t d = 0; d < r->D; d++) {
        const float all = -b * o->sum_x[d];
        out[d] = m < r->M ? a * r->x[m * r->ldx + d] : m == r->M ? cut(all) : all - cut(all);
    }
    return out;
}

static void scale_rows(const struct dg_output_walk *w)
{
    const struct dg_output_rows *r = w->r;
    const struct dg_output_bf16 *o = w->o;
    memset(o->sum_x, 0, r->D * sizeof *o->sum_x);
    o->loops->column_sum(o->sum_x, r->x, r->ldx, r->M, r->D);
    for (size_t m = 0; m < w->rows; m += 2) {
        const size_t band = m / DG_OUTPUT_BAND * DG_OUTPUT_BAND,
                     rows = dg_output_least(w->rows - band, DG_OUTPUT_BAND);
        const float *const two[2] = {
            scaled_row(w, m, o->scaled_rows), scaled_row(w, m + 1, o->scaled_rows + r->D)};
        o->ops->pair(two, r->D,
            o->scaled + band * dg_output_round_up(r->D, DG_PANEL) + (m - band) / 2 * DG_PANEL * 2,
            rows * DG_PANEL);
    }
}

/* Fills the rows of factors: a, by which a bias's gradient multiplies e. */
static void round_factors(const struct dg_output_walk *w)
{
    const struct dg_output_bf16 *o = w->o;
    for (size_t m = 0; m < w->rows; m += 2) {
        float high[2] = {0}, low[2] = {0};
        for (size_t i = 0; i < 2 && m + i < w->r->M; i++) {
            const float a = (float)(w->r->scale / o->sum[m + i]);
            high[i] = cut(a);
            low[i] = a - high[i];
        }
        o->ops->round(high, 2, o->factors + m);
        o->ops->round(low, 2, o->factors + w->rows + m);
    }
}

/* Adds the bias's gradient of n tokens from v on: from the same e once more, while they are in
 * cache. */
static void add_dbias(
    const struct dg_output_walk *w, size_t v, size_t n, size_t m, const uint16_t *e)
{
    const struct dg_output_rows *r = w->r;
    struct dg_output_bf16 *o = w->o;
    o->ops->gemm(&(struct dg_bf16_gemm){.M = 2,
        .n = n,
        .pairs = dg_output_least(w->rows - m, DG_OUTPUT_BAND) / 2,
        .x = o->factors + m,
        .ldx = w->rows,
        .w = e,
        .y = o->bias_sums,
        .ldy = DG_OUTPUT_BLOCK});
    const float b = m ? 0 : dg_output_share(w) * (float)r->M; /* once, with the first band */
    for (size_t i = 0; i < n; i++)
        if (!dg_output_impossible(r, v + i))
            r->dbias[v + i] += o->bias_sums[i] + o->bias_sums[DG_OUTPUT_BLOCK + i] - b;
}

static void add_targets(const struct dg_output_walk *w)
{
    const struct dg_output_rows *r = w->r;
    const float c = r->scale * (1 - r->epsilon);
    for (size_t m = 0; m < r->M; m++) {
        const size_t target = (size_t)r->target[m];
        w->o->loops->axpy(r->dw + target * r->D, r->x + m * r->ldx, -c, r->D);
        if (r->dbias)
            r->dbias[target] -= c;
    }
}

static void add_dw(const struct dg_output_walk *w)
{
    const struct dg_output_rows *r = w->r;
    const struct dg_output_bf16 *o = w->o;
    for (size_t v = 0; v < r->V; v += DG_OUTPUT_BLOCK)
        for (size_t m = 0; m < w->rows; m += DG_OUTPUT_BAND) {
            size_t apart;
            const uint16_t *e = dg_output_band(w, m, v / DG_PANEL, &apart);
            o->ops->gemm_turned(
                &(struct dg_bf16_gemm){.M = dg_output_least(r->V - v, DG_OUTPUT_BLOCK),
                    .n = r->D,
                    .pairs = dg_output_least(w->rows - m, DG_OUTPUT_BAND) / 2,
                    .x = e,
                    .w = o->scaled + m * dg_output_round_up(r->D, DG_PANEL),
                    .y = r->dw + v * r->D,
                    .ldy = r->D,
                    .add = true});
            if (r->dbias)
                add_dbias(w, v, dg_output_least(r->V - v, DG_OUTPUT_BLOCK), m, e);
        }
    add_targets(w);
}

void dg_output_bf16_grads(const struct dg_output_walk *w)
{
    finish_dx(w);
    scale_rows(w);
    round_factors(w);
    add_dw(w);
}
