/* The SSRU's recurrence. Teacher forcing walks each segment's rows in time order, a step continues
 * every row's own state; segments and rows are split over threads. */
#include "kernels/cpu/internal.h"

#include <assert.h>

struct job {
    const struct dg_cpu *cpu;
    const struct dg_ssru *op;
    struct dg_rows z, y;
    /* rows: rows per task of a step */
    size_t M, D, rows;
};

static void run_row(const struct job *j, size_t m, const float *before, float *after)
{
    const float *z = dg_rows_at(j->z, m);
    struct dg_ssru_row row = {
        .x = z, .f = z + j->D, .before = before, .after = after, .y = dg_rows_at(j->y, m)};
    j->cpu->isa->ssru(&row, j->D);
}

/* A row's state overwrites its candidate, which is no longer needed. */
static void run_piece(void *arg, size_t i)
{
    const struct job *j = arg;
    const struct dg_attn_seg *s = &j->op->segs[i];
    const float *before = NULL;
    for (size_t m = s->q0; m < (size_t)s->q0 + s->n_q; m++) {
        float *after = dg_rows_at(j->z, m);
        run_row(j, m, before, after);
        before = after;
    }
}

static void run_step(void *arg, size_t i)
{
    const struct job *j = arg;
    const struct dg_ssru *op = j->op;
    const size_t end = (i + 1) * j->rows < j->M ? (i + 1) * j->rows : j->M;
    for (size_t m = i * j->rows; m < end; m++)
        run_row(j, m, op->from[m] < 0 ? NULL : dg_rows_at(op->states, (size_t)op->from[m]),
            dg_rows_at(op->states, (size_t)op->to[m]));
}

void dg_cpu_ssru(struct dg_backend *be, const struct dg_ssru *op, struct dg_rows z,
    struct dg_rows y, size_t M, size_t D)
{
    const struct dg_cpu *cpu = dg_cpu_of(be);
    const bool step = op->states.buf != NULL;
    if (!M)
        return;
    assert(z.offset + (M - 1) * z.ld + 2 * D <= z.buf->n);
    size_t units = step ? M : op->n_segs;
    size_t pieces = dg_cpu_pieces(cpu, units, 8.0 * (double)M * (double)D);
    struct job j = {cpu, op, z, y, M, D, step ? (M + pieces - 1) / pieces : 1};
    dg_pool_run(pieces > 1 ? cpu->pool : NULL, step ? (M + j.rows - 1) / j.rows : op->n_segs,
        step ? run_step : run_piece, &j);
}
