/* y[M,N] = drop(act(x[M,K] w[N,K]^T + bias)). Cut into blocks of rows and columns, never over K:
 * one chain of multiply-adds per output, k = 0 .. K-1, whichever kernel computes it. Before bf16
 * weights (bf16.h) rows are rounded once into the backend's scratch space. */
#include "kernels/cpu/internal.h"
#include "kernels/cpu/pack.h"

#include <assert.h>
#include <math.h>

enum {
    BLOCK_FLOATS =
        65536, /* of activations that stay in the second-level cache while the panels pass by */
    COLUMN_BLOCK =
        512, /* columns whose outputs are still there when the bias and activation are applied */
    ROW_UNIT = 12, /* whole tiles of 6 or 12 rows */
    ROUND_ROWS = 8 /* rows of one task of rounding */
};

struct job {
    const struct dg_cpu *cpu;
    const struct dg_linear *op;
    struct dg_rows x, y;
    /* what is done now: rows m0 .. m0+M-1 of x and y */
    size_t m0, M;
    /* of a block; columns is a multiple of DG_PANEL */
    size_t rows, columns;
    size_t column_blocks;
    /* [M,ldr]: those rows in bf16; NULL: the weight is fp32 */
    uint16_t *rounded;
    size_t ldr;
};

/* Bias, activation and dropout of rows m0 .. m1-1, columns n0 .. n0+n-1. */
static void finish_block(const struct job *j, size_t m0, size_t m1, size_t n0, size_t n)
{
    const struct dg_linear *op = j->op;
    const struct dg_cpu_isa *isa = j->cpu->isa;
    const float *bias = op->bias ? dg_weight_floats(op->bias) + n0 : NULL;
    if (!bias && op->act == DG_ACT_NONE && !op->pre.buf && !op->drop)
        return;
    for (size_t m = m0; m < m1; m++) {
        float *y = dg_rows_at(j->y, m) + n0;
        isa->finish(y, op->pre.buf ? dg_rows_at(op->pre, m) + n0 : NULL, bias, n, op->act);
        if (op->drop)
            isa->dropout(y, n,
                (struct dg_mask){op->drop->row_key[m] ^ op->drop->site, (uint32_t)n0, op->drop->p});
    }
}

static void run_block(void *arg, size_t i)
{
    const struct job *j = arg;
    const struct dg_weight *w = j->op->w;
    size_t first = i / j->column_blocks * j->rows, n0 = i % j->column_blocks * j->columns;
    size_t M = j->M - first < j->rows ? j->M - first : j->rows, m0 = j->m0 + first;
    size_t n = w->N - n0 < j->columns ? w->N - n0 : j->columns;
    float *y = dg_rows_at(j->y, m0) + n0;
    if (j->rounded) {
        const uint16_t *panels = (const uint16_t *)w->data + n0 / DG_PANEL * dg_bf16_panel(w->K);
        struct dg_bf16_gemm g = {M, n, dg_bf16_pairs(w->K), j->rounded + first * j->ldr, j->ldr,
            panels, y, j->y.ld, .add = false};
        j->cpu->bf16->gemm(&g);
    } else {
        struct dg_gemm g = {
            M, n, w->K, dg_rows_at(j->x, m0), j->x.ld, dg_weight_floats(w) + n0 * w->K, y, j->y.ld};
        j->cpu->isa->gemm(&g);
    }
    finish_block(j, m0, m0 + M, n0, n);
}

/* Rows of a block: what BLOCK_FLOATS hold, but at least 48, so that the weights are not read too
 * often. */
static size_t choose_rows(size_t M, size_t K)
{
    size_t rows = BLOCK_FLOATS / K / ROW_UNIT * ROW_UNIT;
    rows = rows < 4 * ROW_UNIT ? 4 * ROW_UNIT : rows > 16 * ROW_UNIT ? 16 * ROW_UNIT : rows;
    size_t blocks = (M + rows - 1) / rows;
    return ((M + blocks - 1) / blocks + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT;
}

/* Few rows: columns alone are split, into few long runs, because each run of weights is read at
 * memory speed. */
static void choose_blocks(struct job *j, size_t pieces)
{
    size_t panels = (j->op->w->N + DG_PANEL - 1) / DG_PANEL;
    size_t most = j->M > 32 ? COLUMN_BLOCK / DG_PANEL : panels,
           columns = (panels + pieces - 1) / pieces;
    if (columns > most)
        columns = most;
    j->rows = choose_rows(j->M, j->op->w->K);
    j->columns = columns * DG_PANEL;
    j->column_blocks = (panels + columns - 1) / columns;
}

static void round_rows(void *arg, size_t i)
{
    const struct job *j = arg;
    for (size_t m = i * ROUND_ROWS; m < j->M && m < (i + 1) * ROUND_ROWS; m++)
        j->cpu->bf16->round(dg_rows_at(j->x, j->m0 + m), j->op->w->K, j->rounded + m * j->ldr);
}

/* Rows m0 .. m0+M-1 against packed weights. */
static void multiply_packed(struct job *j)
{
    const struct dg_cpu *cpu = j->cpu;
    const struct dg_weight *w = j->op->w;
    if (j->rounded) {
        size_t tasks = (j->M + ROUND_ROWS - 1) / ROUND_ROWS;
        bool split = dg_cpu_pieces(cpu, tasks, (double)j->M * (double)w->K) > 1;
        dg_pool_run(split ? cpu->pool : NULL, tasks, round_rows, j);
    }
    size_t pieces = dg_cpu_pieces(
        cpu, (w->N + DG_PANEL - 1) / DG_PANEL, (double)j->M * (double)w->N * (double)w->K);
    choose_blocks(j, pieces);
    size_t row_blocks = (j->M + j->rows - 1) / j->rows;
    dg_pool_run(pieces > 1 ? cpu->pool : NULL, row_blocks * j->column_blocks, run_block, j);
}

/* A weight that trains lies in rows: the trainer's product if there is one, else dot products. */
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

/* Rows m0 .. m0+M-1 as multiples of 1/scale into the backend's scratch space, and j->x there. */
static void take_multiples(struct job *j, struct dg_rows x, struct dg_buf *scratch)
{
    const size_t K = j->op->w->K;
    const float scale = j->op->w->input_scale;
    scratch->data = (float *)(void *)j->cpu->int8_rows;
    for (size_t m = 0; m < j->M; m++)
        for (size_t k = 0; k < K; k++) {
            float q = rintf(dg_rows_at(x, j->m0 + m)[k] * scale);
            scratch->data[m * K + k] = (q < -127 ? -127 : q > 127 ? 127 : q) / scale;
        }
    j->x = (struct dg_rows){scratch, 0 - j->m0 * K, K}; /* so that row m0 is the first */
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
    if (w->kind == DG_WEIGHT_INT8) {
        dg_cpu_linear_int8(cpu, op, x, y, M);
        return;
    }
    struct job j = {.cpu = cpu, .op = op, .x = x, .y = y, .M = M};
    if (w->kind == DG_WEIGHT_ROWS) {
        multiply_rows(cpu, w, x, y, M);
        finish_block(&j, 0, M, 0, w->N);
        return;
    }
    size_t fit = M;
    struct dg_buf scratch = {0};
    if (w->input_scale > 0)
        fit = DG_INT8_SCRATCH / (w->K * sizeof(float));
    if (w->kind == DG_WEIGHT_BF16) {
        j.rounded = (uint16_t *)(void *)cpu->int8_rows;
        j.ldr = (w->K + 31) / 32 * 32; /* 64 bytes */
        fit = DG_INT8_SCRATCH / (j.ldr * sizeof *j.rounded);
    }
    for (; j.m0 < M; j.m0 += fit) {
        j.M = M - j.m0 < fit ? M - j.m0 : fit;
        if (w->input_scale > 0)
            take_multiples(&j, x, &scratch);
        multiply_packed(&j);
    }
}
