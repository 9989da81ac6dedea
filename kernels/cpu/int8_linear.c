/* linear over int8 weights: rows are quantised once into the backend's scratch space, then cut into
 * blocks of columns (and, when there are many, of rows) like fp32's (linear.c). Bias and ReLU are
 * part of the product. */
#include "kernels/cpu/internal.h"
#include "kernels/cpu/pack.h"

enum {
    BLOCK_BYTES =
        128 << 10, /* of activations that stay in the second-level cache while the panels pass by */
    COLUMN_BLOCK = 512, /* columns whose outputs are still there for what follows the product */
    QUANTIZE_ROWS = 8,  /* rows of one task */
};

struct job {
    const struct dg_cpu *cpu;
    const struct dg_linear *op;
    struct dg_rows x, y;
    /* the rows in the scratch space are m0 .. m0+M-1 of x and y */
    size_t m0, M;
    /* bytes from one quantised row to the next */
    size_t ldq;
    /* of a block; columns is a multiple of DG_PANEL */
    size_t rows, columns;
    size_t column_blocks;
};

static void quantize_rows(void *arg, size_t i)
{
    const struct job *j = arg;
    for (size_t m = i * QUANTIZE_ROWS; m < j->M && m < (i + 1) * QUANTIZE_ROWS; m++)
        j->cpu->int8_acts[m] = j->cpu->int8->quantize(dg_rows_at(j->x, j->m0 + m), j->op->w->K,
            j->op->w->steps, j->cpu->int8_rows + m * j->ldq);
}

/* What the product did not do: other activations, the row before it, dropout. */
static void finish_row(const struct job *j, size_t m, size_t n0, size_t n, enum dg_act act)
{
    const struct dg_linear *op = j->op;
    const struct dg_cpu_isa *isa = j->cpu->isa;
    float *y = dg_rows_at(j->y, m) + n0;
    if (act != DG_ACT_NONE || op->pre.buf)
        isa->finish(y, op->pre.buf ? dg_rows_at(op->pre, m) + n0 : NULL, NULL, n, act);
    if (op->drop)
        isa->dropout(y, n,
            (struct dg_mask){op->drop->row_key[m] ^ op->drop->site, (uint32_t)n0, op->drop->p});
}

static void run_block(void *arg, size_t i)
{
    const struct job *j = arg;
    const struct dg_linear *op = j->op;
    const struct dg_weight *w = op->w;
    size_t m0 = i / j->column_blocks * j->rows, n0 = i % j->column_blocks * j->columns;
    size_t rows = j->M - m0 < j->rows ? j->M - m0 : j->rows,
           n = w->N - n0 < j->columns ? w->N - n0 : j->columns;
    bool relu = op->act == DG_ACT_RELU && !op->pre.buf;
    struct dg_int8_gemm g = {.M = rows,
        .n = n,
        .groups = dg_int8_groups(w->K),
        .ldx = j->ldq,
        .ldy = j->y.ld,
        .x = j->cpu->int8_rows + m0 * j->ldq,
        .acts = j->cpu->int8_acts + m0,
        .w = (const int8_t *)w->data + n0 / DG_PANEL * dg_int8_panel_bytes(w->K),
        .scales = w->scales + n0,
        .bias = op->bias ? dg_weight_floats(op->bias) + n0 : NULL,
        .y = dg_rows_at(j->y, j->m0 + m0) + n0,
        .relu = relu,
        .paired = w->paired};
    j->cpu->int8->gemm(&g);
    enum dg_act act = relu ? DG_ACT_NONE : op->act;
    if (act == DG_ACT_NONE && !op->pre.buf && !op->drop)
        return;
    for (size_t m = 0; m < rows; m++)
        finish_row(j, j->m0 + m0 + m, n0, n, act);
}

/* Few rows: columns alone are split, into few long runs, because each run of weights is read at
 * memory speed. */
static size_t choose_blocks(struct job *j, size_t pieces)
{
    size_t panels = (j->op->w->N + DG_PANEL - 1) / DG_PANEL;
    size_t most = j->M > 32 ? COLUMN_BLOCK / DG_PANEL : panels,
           columns = (panels + pieces - 1) / pieces;
    size_t fit = BLOCK_BYTES / j->ldq < 32 ? 32 : BLOCK_BYTES / j->ldq,
           row_blocks = (j->M + fit - 1) / fit;
    columns = columns > most ? most : columns;
    j->columns = columns * DG_PANEL;
    j->column_blocks = (panels + columns - 1) / columns;
    j->rows = (j->M + row_blocks - 1) / row_blocks;
    j->rows = (j->rows + 7) / 8 * 8; /* whole tiles of 4 or 8 rows */
    return (j->M + j->rows - 1) / j->rows * j->column_blocks;
}

void dg_cpu_linear_int8(
    struct dg_cpu *cpu, const struct dg_linear *op, struct dg_rows x, struct dg_rows y, size_t M)
{
    const struct dg_weight *w = op->w;
    struct job j = {.cpu = cpu, .op = op, .x = x, .y = y, .ldq = (w->K + 63) / 64 * 64};
    size_t fit = DG_INT8_SCRATCH / j.ldq < DG_INT8_ROWS ? DG_INT8_SCRATCH / j.ldq : DG_INT8_ROWS;
    for (; j.m0 < M; j.m0 += fit) {
        j.M = M - j.m0 < fit ? M - j.m0 : fit;
        size_t quantize = (j.M + QUANTIZE_ROWS - 1) / QUANTIZE_ROWS;
        bool split = dg_cpu_pieces(cpu, quantize, (double)j.M * (double)w->K) > 1;
        dg_pool_run(split ? cpu->pool : NULL, quantize, quantize_rows, &j);
        size_t pieces = dg_cpu_pieces(
            cpu, (w->N + DG_PANEL - 1) / DG_PANEL, (double)j.M * (double)w->N * (double)w->K);
        size_t blocks = choose_blocks(&j, pieces);
        dg_pool_run(pieces > 1 ? cpu->pool : NULL, blocks, run_block, &j);
    }
}
