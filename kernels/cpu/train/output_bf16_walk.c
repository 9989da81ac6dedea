/* The walk over the vocabulary that output_bf16.c describes: a block's weights are packed once,
 * then each block of rows has its logits, their e and its part of dx while they are in cache. */
#include "kernels/cpu/train/output_bf16_internal.h"

#include <math.h>
#include <string.h>

static const float FAR = 60;

/* Packs the weights of n tokens from v on for both products, and adds up those that can occur in
 * sum_w. */
static void pack_weights(const struct dg_output_walk *w, size_t v, size_t n)
{
    struct dg_output_bf16 *o = w->o;
    const size_t D = w->r->D;
    const float *rows = w->r->w + v * D;
    dg_operand_panels(
        o->ops, &(struct dg_operand){rows, D, true}, n, D, w->depth, o->forward, o->strip);
    if (w->r->dx)
        dg_operand_panels(o->ops, &(struct dg_operand){rows, D, false}, D, n,
            dg_output_round_up(n, 2), o->back, o->strip);
    memset(o->part_w, 0, D * sizeof *o->part_w);
    o->loops->column_sum(o->part_w, rows, D, n, D);
    o->loops->axpy(o->sum_w, o->part_w, 1, D);
    for (size_t i = 0; i < n; i++)
        if (dg_output_impossible(w->r, v + i))
            o->loops->axpy(o->sum_w, rows + i * D, -1, D);
}

/* Returns the largest logit with its bias; 0 if no token can occur. */
static float largest(const float *x, const float *bias, size_t n)
{
    float most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const float y = bias ? x[i] + bias[i] : x[i];
        most = y > most ? y : most;
    }
    return most < -FLT_MAX ? 0 : most;
}

/* Computes e of rows m0+i and m0+i+1, of n tokens from v on. */
static void take_exps(const struct dg_output_walk *w, size_t m0, size_t i, size_t v, size_t n)
{
    struct dg_output_bf16 *o = w->o;
    const size_t m = m0 + i, M = w->r->M;
    const float *bias = w->r->bias ? w->r->bias + v : NULL;
    struct dg_bf16_exps e = {.n = n, .bias = bias};
    for (size_t r = 0; r < 2; r++) {
        e.x[r] = o->logits + (i + r) * DG_OUTPUT_BLOCK;
        e.rows[r] = w->r->dx ? o->exps + (i + r) * DG_OUTPUT_BLOCK : NULL;
        if (m + r >= M)
            continue;
        /* Any number near the largest does; the first block's is known soonest. */
        if (!v && !w->from_known)
            o->from[m + r] = largest(e.x[r], bias, n);
        e.from[r] = o->from[m + r];
        const size_t target = (size_t)w->r->target[m + r];
        if (target - v < n)
            o->at_target[m + r] = e.x[r][target - v] + (bias ? bias[target - v] : 0);
    }
    /* The pairs stay until dw reads them; e.rows are read once, by this block's part of dx. */
    if (w->r->dx)
        e.pairs = dg_output_band(w, m, v / DG_PANEL, &e.apart);
    o->ops->exps(&e);
    for (size_t r = 0; r < 2 && m + r < M; r++) {
        o->sum[m + r] += (double)e.sum[r];
        o->most[m + r] = e.most[r] > o->most[m + r] ? e.most[r] : o->most[m + r];
    }
}

/* Fills a row beyond M: with the bias its logits are 0, or -inf. */
static void blank_row(const struct dg_output_walk *w, size_t v, size_t n, float *logits)
{
    for (size_t i = 0; i < n; i++)
        logits[i] = w->r->bias && !dg_output_impossible(w->r, v + i) ? -w->r->bias[v + i] : 0;
}

/* Does rows m0 .. m0+rows-1 against the block of n tokens from v on. */
static void walk_block(const struct dg_output_walk *w, size_t m0, size_t rows, size_t v, size_t n)
{
    struct dg_output_bf16 *o = w->o;
    const struct dg_output_rows *r = w->r;
    const size_t real = m0 < r->M ? dg_output_least(r->M - m0, rows) : 0;
    if (real)
        o->ops->gemm(&(struct dg_bf16_gemm){.M = real,
            .n = n,
            .pairs = w->depth / 2,
            .x = o->x + m0 * w->depth,
            .ldx = w->depth,
            .w = o->forward,
            .y = o->logits,
            .ldy = DG_OUTPUT_BLOCK});
    /* Rows beyond M make whole pairs; the two that carry the sum of x have e = 1. */
    for (size_t i = real; i < rows; i++)
        blank_row(w, v, n, o->logits + i * DG_OUTPUT_BLOCK);
    for (size_t i = 0; i < rows; i += 2)
        take_exps(w, m0, i, v, n);
    if (r->dx && real)
        o->ops->gemm(&(struct dg_bf16_gemm){.M = real,
            .n = r->D,
            .pairs = dg_output_round_up(n, 2) / 2,
            .x = o->exps,
            .ldx = DG_OUTPUT_BLOCK,
            .w = o->back,
            .y = r->dx + m0 * r->lddx,
            .ldy = r->lddx,
            .add = v > 0});
}

static void walk(const struct dg_output_walk *w)
{
    struct dg_output_bf16 *o = w->o;
    memset(o->sum_w, 0, w->r->D * sizeof *o->sum_w);
    for (size_t m = 0; m < w->r->M; m++) {
        o->sum[m] = 0;
        o->most[m] = -INFINITY;
    }
    for (size_t v = 0; v < w->r->V; v += DG_OUTPUT_BLOCK) {
        const size_t n = dg_output_least(w->r->V - v, DG_OUTPUT_BLOCK);
        pack_weights(w, v, n);
        for (size_t m = 0; m < w->rows; m += DG_OUTPUT_ROWS)
            walk_block(w, m, dg_output_least(w->rows - m, DG_OUTPUT_ROWS), v, n);
    }
}

/* Returns whether a row rose so far above its `from` that its e may have left fp32's range; if so,
 * sets every row's `from` to its largest logit. */
static bool rise(const struct dg_output_walk *w)
{
    struct dg_output_bf16 *o = w->o;
    bool far = false;
    for (size_t m = 0; m < w->r->M; m++)
        far |= o->most[m] - o->from[m] > FAR;
    for (size_t m = 0; far && m < w->r->M; m++)
        o->from[m] = o->most[m];
    return far;
}

void dg_output_bf16_walk(struct dg_output_walk *w)
{
    walk(w);
    if (rise(w)) {
        w->from_known = true;
        walk(w);
    }
}
