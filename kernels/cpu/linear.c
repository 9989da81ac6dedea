/* y[M,N] = drop(act(x[M,K] w[N,K]^T + bias)), one driver for all kinds of weights. Packed weights
 * are multiplied in blocks of rows and columns; K is never split between blocks: one chain of
 * multiply-adds per output, k = 0 .. K-1, whichever kernel computes it (int8 sums are exact in any
 * order). For int8 and bf16 weights, rows are first quantised or rounded, once, into the backend's
 * scratch space. */
#include "kernels/cpu/internal.h"
#include "kernels/cpu/pack.h"

#include <assert.h>
#include <math.h>

enum {
    BLOCK_BYTES = 256 << 10, /* of fp32 activations that stay in the second-level cache while all
                                panels are read */
    BLOCK_INT8_BYTES = 128 << 10,
    COLUMN_BLOCK = 512, /* columns whose outputs are still cached for what follows the product */
    PREPARE_ROWS = 8    /* rows quantised or rounded by one task */
};

struct job;

/* Rows first .. first+M-1 of the current batch (struct job), columns n0 .. n0+n-1. */
struct block {
    size_t first, M, n0, n;
};

/* How a kind of packed weights is multiplied. */
struct product {
    /* bytes of a prepared row in the scratch space, and what puts row m there; NULL: rows are
     * multiplied where they are */
    size_t (*row_bytes)(size_t K);
    void (*prepare)(const struct job *j, size_t m);
    void (*multiply)(const struct job *j, const struct block *b);
    /* most rows of a block: what stays in the cache, so that the weights are not read too often;
     * and rows of a whole tile */
    size_t (*most_rows)(size_t K);
    size_t tile;
    /* bias and ReLU are part of multiply */
    bool finishes;
};

struct job {
    const struct dg_cpu *cpu;
    const struct dg_linear *op;
    const struct product *as;
    struct dg_rows x, y;
    /* the current batch: rows m0 .. m0+M-1 of x and y */
    size_t m0, M;
    /* distance of rows in the scratch space, in bytes */
    size_t apart;
    /* rows and columns of a block; columns is a multiple of DG_PANEL */
    size_t rows, columns;
    size_t column_blocks;
};

/* Row m of the current batch, in the scratch space. */
static void *prepared(const struct job *j, size_t m)
{
    return j->cpu->prepared + m * j->apart;
}

static const float *input(const struct job *j, size_t m)
{
    return dg_rows_at(j->x, j->m0 + m);
}

/* ---- fp32 weights ---- */

static size_t float_rows(size_t K)
{
    const size_t rows = BLOCK_BYTES / sizeof(float) / K / 12 * 12;
    return rows < 48 ? 48 : rows > 192 ? 192 : rows;
}

static void multiply_floats(const struct job *j, const struct block *b)
{
    const struct dg_weight *w = j->op->w;
    const bool there = j->as->prepare;
    const struct dg_gemm g = {b->M, b->n, w->K, there ? prepared(j, b->first) : input(j, b->first),
        there ? w->K : j->x.ld, dg_weight_floats(w) + b->n0 * w->K,
        dg_rows_at(j->y, j->m0 + b->first) + b->n0, j->y.ld};
    j->cpu->isa->gemm(&g);
}

/* Rounds row m to multiples of 1/input_scale, at most 127 of them. */
static void take_multiples(const struct job *j, size_t m)
{
    const float scale = j->op->w->input_scale, *x = input(j, m);
    float *y = prepared(j, m);
    for (size_t k = 0; k < j->op->w->K; k++) {
        const float q = rintf(x[k] * scale);
        y[k] = (q < -127 ? -127 : q > 127 ? 127 : q) / scale;
    }
}

static size_t float_bytes(size_t K)
{
    return K * sizeof(float);
}

/* ---- bf16 weights ---- */

static size_t bf16_bytes(size_t K)
{
    return (K + 31) / 32 * 64;
}

static void round_row(const struct job *j, size_t m)
{
    j->cpu->bf16->round(input(j, m), j->op->w->K, prepared(j, m));
}

static void multiply_bf16(const struct job *j, const struct block *b)
{
    const struct dg_weight *w = j->op->w;
    const struct dg_bf16_gemm g = {b->M, b->n, dg_bf16_pairs(w->K), prepared(j, b->first),
        j->apart / sizeof(uint16_t),
        (const uint16_t *)w->data + b->n0 / DG_PANEL * dg_bf16_panel(w->K),
        dg_rows_at(j->y, j->m0 + b->first) + b->n0, j->y.ld, .add = false};
    j->cpu->bf16->gemm(&g);
}

/* ---- int8 weights ---- */

static size_t int8_bytes(size_t K)
{
    return (K + 63) / 64 * 64;
}

static size_t int8_rows(size_t K)
{
    const size_t rows = BLOCK_INT8_BYTES / int8_bytes(K);
    return rows < 32 ? 32 : rows;
}

static void quantize_row(const struct job *j, size_t m)
{
    j->cpu->int8_acts[m] =
        j->cpu->int8->quantize(input(j, m), j->op->w->K, j->op->w->steps, prepared(j, m));
}

static bool relu_within(const struct job *j)
{
    return j->as->finishes && j->op->act == DG_ACT_RELU && !j->op->pre.buf;
}

static void multiply_int8(const struct job *j, const struct block *b)
{
    const struct dg_linear *op = j->op;
    const struct dg_weight *w = op->w;
    const struct dg_int8_gemm g = {.M = b->M,
        .n = b->n,
        .groups = dg_int8_groups(w->K),
        .ldx = j->apart,
        .ldy = j->y.ld,
        .x = prepared(j, b->first),
        .acts = j->cpu->int8_acts + b->first,
        .w = (const int8_t *)w->data + b->n0 / DG_PANEL * dg_int8_panel_bytes(w->K),
        .scales = w->scales + b->n0,
        .bias = op->bias ? dg_weight_floats(op->bias) + b->n0 : NULL,
        .y = dg_rows_at(j->y, j->m0 + b->first) + b->n0,
        .relu = relu_within(j),
        .paired = w->paired};
    j->cpu->int8->gemm(&g);
}

/* `multiples` is for fp32 weights whose inputs are rounded (weight_round_inputs). */
static const struct product fp32 = {NULL, NULL, multiply_floats, float_rows, 12, false},
                            bf16 = {bf16_bytes, round_row, multiply_bf16, float_rows, 12, false},
                            int8 = {int8_bytes, quantize_row, multiply_int8, int8_rows, 8, true},
                            multiples = {float_bytes, take_multiples, multiply_floats, float_rows,
                                12, false};

/* ---- the driver ---- */

/* Does the part of bias, activation and dropout that the product has not done. */
static void finish_block(const struct job *j, const struct block *b)
{
    const struct dg_linear *op = j->op;
    const struct dg_cpu_isa *isa = j->cpu->isa;
    const bool finishes = j->as && j->as->finishes;
    const float *bias = op->bias && !finishes ? dg_weight_floats(op->bias) + b->n0 : NULL;
    const enum dg_act act = finishes && relu_within(j) ? DG_ACT_NONE : op->act;
    const bool plain = !bias && act == DG_ACT_NONE && !op->pre.buf;
    if (plain && !op->drop)
        return;
    for (size_t m = j->m0 + b->first; m < j->m0 + b->first + b->M; m++) {
        float *y = dg_rows_at(j->y, m) + b->n0;
        if (!plain)
            isa->finish(y, op->pre.buf ? dg_rows_at(op->pre, m) + b->n0 : NULL, bias, b->n, act);
        if (op->drop)
            isa->dropout(y, b->n, dg_mask_of(op->drop, m, (uint32_t)b->n0));
    }
}

static void run_block(void *arg, size_t i)
{
    const struct job *j = arg;
    const size_t N = j->op->w->N, first = i / j->column_blocks * j->rows,
                 n0 = i % j->column_blocks * j->columns;
    const struct block b = {first, j->M - first < j->rows ? j->M - first : j->rows, n0,
        N - n0 < j->columns ? N - n0 : j->columns};
    j->as->multiply(j, &b);
    finish_block(j, &b);
}

static void prepare_rows(void *arg, size_t i)
{
    const struct job *j = arg;
    for (size_t m = i * PREPARE_ROWS; m < j->M && m < (i + 1) * PREPARE_ROWS; m++)
        j->as->prepare(j, m);
}

/* Chooses the blocks and returns their number. With few rows, only the columns are split, into few
 * long runs, because each run of weights is read at memory speed. */
static size_t choose_blocks(struct job *j, size_t pieces)
{
    const size_t panels = (j->op->w->N + DG_PANEL - 1) / DG_PANEL, tile = j->as->tile;
    const size_t most = j->M > 32 ? COLUMN_BLOCK / DG_PANEL : panels,
                 wanted = (panels + pieces - 1) / pieces, columns = wanted > most ? most : wanted,
                 fit = j->as->most_rows(j->op->w->K), row_blocks = (j->M + fit - 1) / fit;
    j->columns = columns * DG_PANEL;
    j->column_blocks = (panels + columns - 1) / columns;
    j->rows = ((j->M + row_blocks - 1) / row_blocks + tile - 1) / tile * tile;
    return (j->M + j->rows - 1) / j->rows * j->column_blocks;
}

/* Multiplies the current batch, rows m0 .. m0+M-1. */
static void multiply_packed(struct job *j)
{
    const struct dg_cpu *cpu = j->cpu;
    const struct dg_weight *w = j->op->w;
    if (j->as->prepare) {
        const size_t tasks = (j->M + PREPARE_ROWS - 1) / PREPARE_ROWS;
        const bool split = dg_cpu_pieces(cpu, tasks, (double)j->M * (double)w->K) > 1;
        dg_pool_run(split ? cpu->pool : NULL, tasks, prepare_rows, j);
    }
    const size_t pieces = dg_cpu_pieces(
        cpu, (w->N + DG_PANEL - 1) / DG_PANEL, (double)j->M * (double)w->N * (double)w->K);
    const size_t blocks = choose_blocks(j, pieces);
    dg_pool_run(pieces > 1 ? cpu->pool : NULL, blocks, run_block, j);
}

/* Multiplies a trainable weight, which is stored by rows: with the trainer's product if there is
 * one, else with dot products. */
static void multiply_rows(const struct dg_cpu *cpu, const struct dg_weight *w, struct dg_rows x,
    struct dg_rows y, size_t M)
{
    const float *rows = dg_weight_floats(w);
    if (cpu->gemm) {
        cpu->gemm(cpu->gemm_ctx, &(struct dg_train_gemm){.M = M,
                                     .N = w->N,
                                     .K = w->K,
                                     .a = dg_rows_at(x, 0),
                                     .lda = x.ld,
                                     .b = rows,
                                     .ldb = w->K,
                                     .c = dg_rows_at(y, 0),
                                     .ldc = y.ld});
        return;
    }
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < w->N; n++)
            dg_rows_at(y, m)[n] = cpu->isa->dot(dg_rows_at(x, m), rows + n * w->K, w->K);
}

static const struct product *product_of(const struct dg_weight *w)
{
    switch (w->kind) {
    case DG_WEIGHT_PANEL: return w->input_scale > 0 ? &multiples : &fp32;
    case DG_WEIGHT_BF16: return &bf16;
    case DG_WEIGHT_INT8: return &int8;
    case DG_WEIGHT_ROWS:
    case DG_WEIGHT_TABLE: break;
    }
    return NULL;
}

void dg_cpu_linear(
    struct dg_backend *be, const struct dg_linear *op, struct dg_rows x, struct dg_rows y, size_t M)
{
    struct dg_cpu *cpu = dg_cpu_of(be);
    const struct dg_weight *w = op->w;
    assert(w->kind != DG_WEIGHT_TABLE);
    assert(!op->bias || op->bias->K == w->N);
    assert(!M || (x.offset + (M - 1) * x.ld + w->K <= x.buf->n &&
                     y.offset + (M - 1) * y.ld + w->N <= y.buf->n));
    if (!M)
        return;
    struct job j = {.cpu = cpu, .op = op, .as = product_of(w), .x = x, .y = y, .M = M};
    if (!j.as) {
        multiply_rows(cpu, w, x, y, M);
        finish_block(&j, &(struct block){0, M, 0, w->N});
        return;
    }
    size_t fit = M;
    if (j.as->prepare) {
        j.apart = j.as->row_bytes(w->K);
        fit = DG_PREPARED_BYTES / j.apart;
        fit = fit < DG_PREPARED_ROWS ? fit : DG_PREPARED_ROWS;
    }
    for (; j.m0 < M; j.m0 += fit) {
        j.M = M - j.m0 < fit ? M - j.m0 : fit;
        multiply_packed(&j);
    }
}
