/* DESIGN. With e = exp(x w_v - from), Z = the sum of e over v, and gradient
 * g = scale (e / Z - eps / V - [v = target] (1 - eps)) of a row's logits:
 *
 *     dx   = a (sum over v of e w_v) - b (sum of w_v) - c w_target     a = scale / Z
 *     dw_v = sum over rows of e (a x)  - b (sum of x)  - c (sum of x whose target is v)
 *                                                       b = scale eps / V, c = scale (1 - eps)
 *
 * (a bias: as dw, with 1 for x; pieces that cannot come have e = 0, no b and no place in V),
 * so both products take e as it was when its block of logits was in cache, before Z was known. The
 * walk: for each block of the vocabulary its weights are packed for both products; for each block
 * of rows: logits, e (as rows, and into panels of bands of rows, which stay), dx += e w. Then a, dx
 * finished, rows a x packed, and dw += e^T (a x), a block of the vocabulary and a band at a time.
 * The sum of x goes in as two rows more, its rounded value and what is left of it, whose e is 1.
 *
 * `from` is the largest logit of the first block. What is exact for it is any number that keeps e
 * within fp32's range; a row that rises FAR above it makes the walk begin again with the largest
 * logits, which are known by then. */
#include "kernels/cpu/train/output_bf16.h"
#include "base/error.h"
#include "kernels/cpu/train/operands_bf16.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ACROSS = DG_OPERAND_ACROSS,
    BLOCK = 256, /* pieces of the vocabulary, */
    ROWS = 128,  /* and rows: with their weights half a second-level cache */
    /* Rows of a band, whose e are summed over at a time: so many that its panels do not begin at
       the same lines of a cache. */
    BAND = 254,
    EXTRA = 2, /* rows for the sum of x */
    MOST_BYTES = DG_OUTPUT_BYTES
};
static const float FAR = 60;

struct dg_output_bf16 {
    const struct dg_cpu_bf16 *ops;
    const struct dg_loops *loops;
    char *memory;
    size_t bytes;
    /* parts of memory */
    float *logits;        /* [ROWS,BLOCK] */
    uint16_t *exps;       /* [ROWS,BLOCK] */
    uint16_t *forward;    /* [BLOCK/16][depth/2][16][2] of w */
    uint16_t *back;       /* [D/16][BLOCK/2][16][2] of w */
    uint16_t *strip;      /* [16,depth] */
    uint16_t *x;          /* [M,depth] */
    uint16_t *bands;      /* [bands][V/16][BAND/2][16][2] of e, each band as long as it is */
    uint16_t *scaled;     /* [bands][D/16][BAND/2][16][2] of a x */
    float *scaled_rows;   /* [2,D] */
    uint16_t *factors;    /* [2,rows]: a, rounded and what is left of it */
    float *bias_sums;     /* [2,BLOCK] */
    float *from, *most;   /* [M+1] */
    float *at_target;     /* [M+1] */
    double *sum;          /* [M+1] */
    float *sum_w, *sum_x; /* [D] */
    float *part_w;        /* [D] */
};

struct walk {
    struct dg_output_bf16 *o;
    const struct dg_output_rows *r;
    size_t depth;    /* D padded */
    size_t rows;     /* M and what is extra, whole pairs */
    size_t panels_v; /* of the vocabulary */
    size_t possible; /* pieces of it that can come, */
    double sum_bias; /* and the sum of their biases */
    bool from_known;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* The next n bytes; with no memory it only counts. */
static void *part(const struct dg_output_bf16 *o, size_t *at, size_t bytes)
{
    void *p = o->memory ? o->memory + *at : NULL;
    *at += up(bytes, 64);
    return p;
}

static size_t lay_out(struct dg_output_bf16 *o, const struct walk *w)
{
    const size_t M = w->r->M + 1, D = w->r->D, wide = up(D, ACROSS), h = sizeof(uint16_t);
    const bool grad = w->r->dx;
    size_t at = 0;
    o->logits = part(o, &at, sizeof(float) * ROWS * BLOCK);
    o->exps = part(o, &at, h * ROWS * BLOCK);
    o->forward = part(o, &at, h * BLOCK * w->depth);
    o->back = part(o, &at, h * BLOCK * wide);
    o->strip = part(o, &at, h * ACROSS * w->depth);
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
    o->bias_sums = part(o, &at, sizeof(float) * 2 * BLOCK);
    o->bands = part(o, &at, grad ? h * w->rows * w->panels_v * ACROSS : 0);
    o->scaled = part(o, &at, grad ? h * w->rows * wide : 0);
    return at;
}

static int fit(struct walk *w, struct dg_error *err)
{
    struct dg_output_bf16 *o = w->o;
    char *before = o->memory;
    o->memory = NULL;
    const size_t need = lay_out(o, w);
    o->memory = before;
    if (need > o->bytes) {
        free(o->memory);
        o->bytes = up(need + need / 16, 64); /* the next batch may be a little larger */
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

static bool impossible(const struct dg_output_rows *r, size_t v)
{
    return r->bias && r->bias[v] < -FLT_MAX;
}

/* Weights of n pieces from v on, for both products, and their sum. */
static void pack_weights(const struct walk *w, size_t v, size_t n)
{
    struct dg_output_bf16 *o = w->o;
    const size_t D = w->r->D;
    const float *rows = w->r->w + v * D;
    dg_operand_panels(
        o->ops, &(struct dg_operand){rows, D, true}, n, D, w->depth, o->forward, o->strip);
    if (w->r->dx)
        dg_operand_panels(
            o->ops, &(struct dg_operand){rows, D, false}, D, n, up(n, 2), o->back, o->strip);
    memset(o->part_w, 0, D * sizeof *o->part_w);
    o->loops->column_sum(o->part_w, rows, D, n, D);
    o->loops->axpy(o->sum_w, o->part_w, 1, D);
    for (size_t i = 0; i < n; i++)
        if (impossible(w->r, v + i))
            o->loops->axpy(o->sum_w, rows + i * D, -1, D);
}

/* Where the pairs of rows m and m+1 are, of panel p; and how far panels are apart. */
static uint16_t *band_at(const struct walk *w, size_t m, size_t p, size_t *apart)
{
    const size_t band = m / BAND * BAND, rows = least(w->rows - band, BAND);
    *apart = rows * ACROSS;
    return w->o->bands + band * w->panels_v * ACROSS + p * *apart + (m - band) / 2 * ACROSS * 2;
}

/* 0 where nothing can come. */
static float largest(const float *x, const float *bias, size_t n)
{
    float most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const float y = bias ? x[i] + bias[i] : x[i];
        most = y > most ? y : most;
    }
    return most < -FLT_MAX ? 0 : most;
}

/* e of rows m0+i and m0+i+1, of n pieces from v on. */
static void take_exps(const struct walk *w, size_t m0, size_t i, size_t v, size_t n)
{
    struct dg_output_bf16 *o = w->o;
    const size_t m = m0 + i, M = w->r->M;
    const float *bias = w->r->bias ? w->r->bias + v : NULL;
    struct dg_bf16_exps e = {.n = n, .bias = bias};
    for (size_t r = 0; r < 2; r++) {
        e.x[r] = o->logits + (i + r) * BLOCK;
        e.rows[r] = w->r->dx ? o->exps + (i + r) * BLOCK : NULL;
        if (m + r >= M)
            continue;
        if (!v && !w->from_known)
            o->from[m + r] = largest(e.x[r], bias, n);
        e.from[r] = o->from[m + r];
        const size_t target = (size_t)w->r->target[m + r];
        if (target - v < n)
            o->at_target[m + r] = e.x[r][target - v] + (bias ? bias[target - v] : 0);
    }
    if (w->r->dx)
        e.pairs = band_at(w, m, v / ACROSS, &e.apart);
    o->ops->exps(&e);
    for (size_t r = 0; r < 2 && m + r < M; r++) {
        o->sum[m + r] += (double)e.sum[r];
        o->most[m + r] = e.most[r] > o->most[m + r] ? e.most[r] : o->most[m + r];
    }
}

/* A row beyond M: with the bias its logits are 0, or -inf. */
static void blank_row(const struct walk *w, size_t v, size_t n, float *logits)
{
    for (size_t i = 0; i < n; i++)
        logits[i] = w->r->bias && !impossible(w->r, v + i) ? -w->r->bias[v + i] : 0;
}

/* Rows m0 .. m0+rows-1 against the block of n pieces from v on. */
static void walk_block(const struct walk *w, size_t m0, size_t rows, size_t v, size_t n)
{
    struct dg_output_bf16 *o = w->o;
    const struct dg_output_rows *r = w->r;
    const size_t real = m0 < r->M ? least(r->M - m0, rows) : 0;
    if (real)
        o->ops->gemm(&(struct dg_bf16_gemm){.M = real,
            .n = n,
            .pairs = w->depth / 2,
            .x = o->x + m0 * w->depth,
            .ldx = w->depth,
            .w = o->forward,
            .y = o->logits,
            .ldy = BLOCK});
    for (size_t i = real; i < rows; i++)
        blank_row(w, v, n, o->logits + i * BLOCK);
    for (size_t i = 0; i < rows; i += 2)
        take_exps(w, m0, i, v, n);
    if (r->dx && real)
        o->ops->gemm(&(struct dg_bf16_gemm){.M = real,
            .n = r->D,
            .pairs = up(n, 2) / 2,
            .x = o->exps,
            .ldx = BLOCK,
            .w = o->back,
            .y = r->dx + m0 * r->lddx,
            .ldy = r->lddx,
            .add = v > 0});
}

static void walk(const struct walk *w)
{
    struct dg_output_bf16 *o = w->o;
    memset(o->sum_w, 0, w->r->D * sizeof *o->sum_w);
    for (size_t m = 0; m < w->r->M; m++) {
        o->sum[m] = 0;
        o->most[m] = -INFINITY;
    }
    for (size_t v = 0; v < w->r->V; v += BLOCK) {
        const size_t n = least(w->r->V - v, BLOCK);
        pack_weights(w, v, n);
        for (size_t m = 0; m < w->rows; m += ROWS)
            walk_block(w, m, least(w->rows - m, ROWS), v, n);
    }
}

/* Whether a row rose so far that its e may have left fp32's range; every row begins there then. */
static bool rise(const struct walk *w)
{
    struct dg_output_bf16 *o = w->o;
    bool far = false;
    for (size_t m = 0; m < w->r->M; m++)
        far |= o->most[m] - o->from[m] > FAR;
    for (size_t m = 0; far && m < w->r->M; m++)
        o->from[m] = o->most[m];
    return far;
}

static void add_losses(const struct walk *w, struct dg_loss_sums *sums)
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

/* Of label smoothing, for each piece. */
static float share(const struct walk *w)
{
    return w->r->scale * w->r->epsilon / (float)w->possible;
}

/* The upper half of its bits: a bf16. */
static float cut(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0xFFFF0000;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

static void finish_dx(const struct walk *w)
{
    const struct dg_output_rows *r = w->r;
    const struct dg_output_bf16 *o = w->o;
    const float b = share(w), c = r->scale * (1 - r->epsilon);
    for (size_t m = 0; m < r->M; m++) {
        const float a = (float)(r->scale / o->sum[m]);
        const float *to = r->w + (size_t)r->target[m] * r->D;
        float *dx = r->dx + m * r->lddx;
        for (size_t d = 0; d < r->D; d++)
            dx[d] = a * dx[d] - b * o->sum_w[d] - c * to[d];
    }
}

/* The rows M and M+1: the sum of x times -b, in two parts; others: a x; beyond: nothing. */
static const float *scaled_row(const struct walk *w, size_t m, float *out)
{
    const struct dg_output_rows *r = w->r;
    const struct dg_output_bf16 *o = w->o;
    const float b = share(w);
    if (m >= r->M + EXTRA)
        return NULL;
    const float a = m < r->M ? (float)(r->scale / o->sum[m]) : 0;
    for (size_t d = 0; d < r->D; d++) {
        const float all = -b * o->sum_x[d];
        out[d] = m < r->M ? a * r->x[m * r->ldx + d] : m == r->M ? cut(all) : all - cut(all);
    }
    return out;
}

static void scale_rows(const struct walk *w)
{
    const struct dg_output_rows *r = w->r;
    const struct dg_output_bf16 *o = w->o;
    memset(o->sum_x, 0, r->D * sizeof *o->sum_x);
    o->loops->column_sum(o->sum_x, r->x, r->ldx, r->M, r->D);
    for (size_t m = 0; m < w->rows; m += 2) {
        const size_t band = m / BAND * BAND, rows = least(w->rows - band, BAND);
        const float *const two[2] = {
            scaled_row(w, m, o->scaled_rows), scaled_row(w, m + 1, o->scaled_rows + r->D)};
        o->ops->pair(two, r->D, o->scaled + band * up(r->D, ACROSS) + (m - band) / 2 * ACROSS * 2,
            rows * ACROSS);
    }
}

/* Rows of factors: a, which a bias's gradient sums e with. */
static void round_factors(const struct walk *w)
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

/* The bias's gradient of n pieces from v on: the same e once more, while they are in cache. */
static void add_dbias(const struct walk *w, size_t v, size_t n, size_t m, const uint16_t *e)
{
    const struct dg_output_rows *r = w->r;
    struct dg_output_bf16 *o = w->o;
    o->ops->gemm(&(struct dg_bf16_gemm){.M = 2,
        .n = n,
        .pairs = least(w->rows - m, BAND) / 2,
        .x = o->factors + m,
        .ldx = w->rows,
        .w = e,
        .y = o->bias_sums,
        .ldy = BLOCK});
    const float b = m ? 0 : share(w) * (float)r->M; /* once */
    for (size_t i = 0; i < n; i++)
        if (!impossible(r, v + i))
            r->dbias[v + i] += o->bias_sums[i] + o->bias_sums[BLOCK + i] - b;
}

static void add_targets(const struct walk *w)
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

static void add_dw(const struct walk *w)
{
    const struct dg_output_rows *r = w->r;
    const struct dg_output_bf16 *o = w->o;
    for (size_t v = 0; v < r->V; v += BLOCK)
        for (size_t m = 0; m < w->rows; m += BAND) {
            size_t apart;
            const uint16_t *e = band_at(w, m, v / ACROSS, &apart);
            o->ops->gemm_turned(&(struct dg_bf16_gemm){.M = least(r->V - v, BLOCK),
                .n = r->D,
                .pairs = least(w->rows - m, BAND) / 2,
                .x = e,
                .w = o->scaled + m * up(r->D, ACROSS),
                .y = r->dw + v * r->D,
                .ldy = r->D,
                .add = true});
            if (r->dbias)
                add_dbias(w, v, least(r->V - v, BLOCK), m, e);
        }
    add_targets(w);
}

/* As many rows as MOST_BYTES hold the e of. */
static int run_rows(struct dg_output_bf16 *o, const struct dg_output_rows *r,
    struct dg_loss_sums *sums, struct dg_error *err)
{
    struct walk w = {.o = o,
        .r = r,
        .depth = dg_operand_depth(r->D, true),
        .rows = up(r->M + (r->dx ? EXTRA : 0), 2),
        .panels_v = up(r->V, ACROSS) / ACROSS};
    for (size_t v = 0; v < r->V; v++)
        if (!impossible(r, v)) {
            w.possible++;
            w.sum_bias += r->bias ? (double)r->bias[v] : 0;
        }
    int rc = fit(&w, err);
    if (rc)
        return rc;
    dg_operand_rows(o->ops, &(struct dg_operand){r->x, r->ldx, true}, r->M, r->D, w.depth, o->x);
    walk(&w);
    if (rise(&w)) {
        w.from_known = true;
        walk(&w);
    }
    add_losses(&w, sums);
    if (!r->dx)
        return 0;
    finish_dx(&w);
    scale_rows(&w);
    round_factors(&w);
    add_dw(&w);
    return 0;
}

int dg_output_bf16_run(struct dg_output_bf16 *o, const struct dg_output_rows *rows,
    struct dg_loss_sums *sums, struct dg_error *err)
{
    size_t most = MOST_BYTES / sizeof(uint16_t) / rows->V;
    int rc = 0;
    most = most < ROWS ? ROWS : most;
    for (size_t m = 0; m < rows->M && !rc; m += most) {
        struct dg_output_rows some = *rows;
        some.M = least(rows->M - m, most);
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
