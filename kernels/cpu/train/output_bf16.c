/* DESIGN. With e = exp(x w_v - from), Z = the sum of e over v, and gradient
 * g = scale (e / Z - eps / V - [v = target] (1 - eps)) of a row's logits:
 *
 *     dx   = a (sum over v of e w_v) - b (sum of w_v) - c w_target     a = scale / Z
 *     dw_v = sum over rows of e (a x)  - b (sum of x)  - c (sum of x whose target is v)
 *                                                       b = scale eps / V, c = scale (1 - eps)
 *
 * (a bias: as dw, with 1 for x; tokens that cannot occur have e = 0, no b and do not count in V),
 * so both products use e as it was when its block of logits was in cache, before Z was known.
 *
 * The walk: for each block of the vocabulary its weights are packed for both products; for each
 * block of rows: logits, e (as rows, and in panels of bands of rows, which are kept), dx += e w.
 * Afterwards a is computed, dx finished, the rows a x packed, and dw += e^T (a x), a block of the
 * vocabulary and a band at a time. The sum of x enters as two more rows, whose e is 1: its value
 * cut to bf16, and the remainder.
 *
 * `from` is the largest logit of the first block. The formulas are exact for any `from` that keeps
 * e within fp32's range; if a row's logits rise FAR above it, the walk is repeated with the largest
 * logits, which are known by then. */
#include "kernels/cpu/train/output_bf16.h"
#include "base/error.h"
#include "kernels/cpu/train/output_bf16_internal.h"

#include <math.h>
#include <stdlib.h>

/* Returns the next `bytes` bytes of o->memory; without memory it only counts them. */
static void *part(const struct dg_output_bf16 *o, size_t *at, size_t bytes)
{
    void *p = o->memory ? o->memory + *at : NULL;
    *at += dg_output_round_up(bytes, 64);
    return p;
}

static size_t lay_out(struct dg_output_bf16 *o, const struct dg_output_walk *w)
{
    const size_t M = w->r->M + 1, D = w->r->D, wide = dg_output_round_up(D, DG_PANEL),
                 h = sizeof(uint16_t);
    const bool grad = w->r->dx;
    size_t at = 0;
    o->logits = part(o, &at, sizeof(float) * DG_OUTPUT_ROWS * DG_OUTPUT_BLOCK);
    o->exps = part(o, &at, h * DG_OUTPUT_ROWS * DG_OUTPUT_BLOCK);
    o->forward = part(o, &at, h * DG_OUTPUT_BLOCK * w->depth);
    o->back = part(o, &at, h * DG_OUTPUT_BLOCK * wide);
    o->strip = part(o, &at, h * DG_PANEL * w->depth);
    o->x = part(o, &at, h * M * w->depth);
    o->from = part(o, &at, sizeof(float) * M);
    o->most = part(o, &at, sizeof(float) * M);
    o->at_target = part(o, &at, sizeof(float) * M);
    o->sum = part(o, &at, sizeof(double) * M);
    o->sum_w = part(o, &at, sizeof(float) * D);
    o->part_w = part(o, &at, sizeof(float) * D);
    o->sum_x = part(o, &at, sizeof(float) * D);
    o->scaled_rows = part(o, &at, sizeof(float) * 2 * D);
    o->factors = part(o, &at, h * 2 * w->rows);
    o->bias_sums = part(o, &at, sizeof(float) * 2 * DG_OUTPUT_BLOCK);
    o->bands = part(o, &at, grad ? h * w->rows * w->panels_v * DG_PANEL : 0);
    o->scaled = part(o, &at, grad ? h * w->rows * wide : 0);
    return at;
}

/* Grows memory where these rows need more than any before them. */
static int fit(struct dg_output_walk *w, struct dg_error *err)
{
    struct dg_output_bf16 *o = w->o;
    char *before = o->memory;
    o->memory = NULL;
    const size_t need = lay_out(o, w);
    o->memory = before;
    if (need > o->bytes) {
        free(o->memory);
        /* The next batch may be a little larger. */
        o->bytes = dg_output_round_up(need + need / 16, 64);
        o->memory = aligned_alloc(64, o->bytes);
        if (!o->memory) {
            o->bytes = 0;
            return dg_error_set(
                err, DG_ENOMEM, "no memory for the output layer of %zu rows", w->r->M);
        }
    }
    lay_out(o, w);
    return 0;
}

static void add_losses(const struct dg_output_walk *w, struct dg_loss_sums *sums)
{
    const struct dg_output_rows *r = w->r;
    const struct dg_output_bf16 *o = w->o;
    const double eps = r->epsilon;
    for (size_t m = 0; m < r->M; m++) {
        const double log_z = (double)o->from[m] + log(o->sum[m]), at = o->at_target[m];
        double sum_x = w->sum_bias;
        for (size_t d = 0; d < r->D; d++)
            sum_x += (double)r->x[m * r->ldx + d] * o->sum_w[d];
        sums->nll += log_z - at;
        sums->smoothed += log_z - (1 - eps) * at - eps / (double)w->possible * sum_x;
        sums->correct += o->at_target[m] == o->most[m];
    }
    sums->n += r->M;
}

/* Runs rows, as many as have their e within DG_OUTPUT_BYTES. */
static int run_rows(struct dg_output_bf16 *o, const struct dg_output_rows *r,
    struct dg_loss_sums *sums, struct dg_error *err)
{
    struct dg_output_walk w = {.o = o,
        .r = r,
        .depth = dg_operand_depth(r->D, true),
        .rows = dg_output_round_up(r->M + (r->dx ? DG_OUTPUT_EXTRA : 0), 2),
        .panels_v = dg_output_round_up(r->V, DG_PANEL) / DG_PANEL};
    for (size_t v = 0; v < r->V; v++)
        if (!dg_output_impossible(r, v)) {
            w.possible++;
            w.sum_bias += r->bias ? (double)r->bias[v] : 0;
        }
    int rc = fit(&w, err);
    if (rc)
        return rc;
    dg_operand_rows(o->ops, &(struct dg_operand){r->x, r->ldx, true}, r->M, r->D, w.depth, o->x);
    dg_output_bf16_walk(&w);
    add_losses(&w, sums);
    if (r->dx)
        dg_output_bf16_grads(&w);
    return 0;
}

int dg_output_bf16_run(struct dg_output_bf16 *o, const struct dg_output_rows *rows,
    struct dg_loss_sums *sums, struct dg_error *err)
{
    size_t most = DG_OUTPUT_BYTES / sizeof(uint16_t) / rows->V;
    int rc = 0;
    most = most < DG_OUTPUT_ROWS ? DG_OUTPUT_ROWS : most;
    for (size_t m = 0; m < rows->M && !rc; m += most) {
        struct dg_output_rows some = *rows;
        some.M = dg_output_least(rows->M - m, most);
        some.x += m * rows->ldx;
        some.target += m;
        if (some.dx)
            some.dx += m * rows->lddx;
        rc = run_rows(o, &some, sums, err);
    }
    return rc;
}

int dg_output_bf16_open(const struct dg_cpu_bf16 *bf16, const struct dg_loops *loops,
    struct dg_output_bf16 **out, struct dg_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return dg_error_set(err, DG_ENOMEM, "no memory for the output layer's products");
    (*out)->ops = bf16;
    (*out)->loops = loops;
    return 0;
}

void dg_output_bf16_close(struct dg_output_bf16 *o)
{
    if (!o)
        return;
    free(o->memory);
    free(o);
}
