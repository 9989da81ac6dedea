/* Residual and LayerNorm. One kernel call per row; rows are split over threads when there are
 * many. */
#include "kernels/cpu/internal.h"

#include <assert.h>
#include <string.h>

struct job {
    const struct dg_cpu *cpu;
    const struct dg_norm *op;
    struct dg_rows x, r, y;
    /* rows: rows per piece */
    size_t M, D, rows;
};

/* sum[D] = r + x; sum may be either */
static void add(const float *r, const float *x, float *sum, size_t D)
{
    for (size_t i = 0; i < D; i++)
        sum[i] = r[i] + x[i];
}

/* Stores the sum and makes it the norm's only input. Dropout of x happens in y's memory, which is
 * written last. */
static void sum_first(const struct job *j, struct dg_norm_row *row, float *sum)
{
    if (row->drop.p > 0) {
        if (row->y != row->x)
            memcpy(row->y, row->x, j->D * sizeof *row->y);
        j->cpu->isa->dropout(row->y, j->D, row->drop);
        row->x = row->y;
        row->drop = (struct dg_mask){0};
    }
    add(row->r, row->x, sum, j->D);
    row->x = sum;
    row->r = NULL;
}

static void run_rows(void *arg, size_t i)
{
    const struct job *j = arg;
    const struct dg_norm *op = j->op;
    size_t m1 = (i + 1) * j->rows < j->M ? (i + 1) * j->rows : j->M;
    for (size_t m = i * j->rows; m < m1; m++) {
        struct dg_norm_row row = {
            .x = dg_rows_at(j->x, m),
            .r = j->r.buf ? dg_rows_at(j->r, m) : NULL,
            .y = dg_rows_at(j->y, m),
            .gain = dg_weight_floats(op->gain),
            .bias = dg_weight_floats(op->bias),
            .xhat = op->xhat.buf ? dg_rows_at(op->xhat, m) : NULL,
            .rstd = op->rstd.buf ? dg_rows_at(op->rstd, m) : NULL,
            .eps = op->eps,
            .drop = dg_mask_of(op->drop, m, 0),
        };
        if (op->sum.buf)
            sum_first(j, &row, dg_rows_at(op->sum, m));
        j->cpu->isa->norm(&row, j->D);
    }
}

void dg_cpu_add_norm(struct dg_backend *be, const struct dg_norm *op, struct dg_rows x,
    struct dg_rows r, struct dg_rows y, size_t M, size_t D)
{
    const struct dg_cpu *cpu = dg_cpu_of(be);
    assert(op->gain->K == D && op->bias->K == D);
    /* with dropout, y is used before r has been read */
    assert(!op->sum.buf || (r.buf && (!op->drop || r.buf != y.buf || r.offset != y.offset)));
    if (!M)
        return;
    size_t pieces = dg_cpu_pieces(cpu, M, 4.0 * (double)M * (double)D);
    struct job j = {cpu, op, x, r, y, M, D, (M + pieces - 1) / pieces};
    dg_pool_run(pieces > 1 ? cpu->pool : NULL, (M + j.rows - 1) / j.rows, run_rows, &j);
}
