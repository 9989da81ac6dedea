/* Table rows plus position rows. A tied table is read from the output matrix's panels: there is one
 * copy of the largest tensor, and a lookup walks 64 * K bytes in order (1.6 µs at K = 512), where a
 * step reads 150 MB. */
#include "kernels/cpu/internal.h"
#include "kernels/cpu/pack.h"

#include <assert.h>
#include <string.h>

/* y[K] = row id of the table. */
static void look_up(const struct dg_weight *t, size_t id, float *y)
{
    if (t->kind == DG_WEIGHT_PANEL) {
        const float *column = dg_weight_floats(t) + id / DG_PANEL * DG_PANEL * t->K + id % DG_PANEL;
        for (size_t k = 0; k < t->K; k++)
            y[k] = column[k * DG_PANEL];
        return;
    }
    if (t->kind == DG_WEIGHT_BF16)
        dg_bf16_row(t->data, id, t->K, y);
    else if (t->kind == DG_WEIGHT_INT8)
        dg_int8_row(t->data, id, t->K, y);
    else
        dg_convert_floats(t->data, t->type, id * t->K, t->K, y);
    for (size_t k = 0; t->type == DG_S8 && k < t->K; k++)
        y[k] *= t->scales[id];
}

/* y[K] = scale * y + the position's row, fp32 or as the file holds it. */
static void add_position(const struct dg_weight *p, size_t pos, float scale, float *y)
{
    if (p->kind == DG_WEIGHT_ROWS || p->type == DG_F32) {
        const float *row = dg_weight_floats(p) + pos * p->K;
        for (size_t k = 0; k < p->K; k++)
            y[k] = scale * y[k] + row[k];
        return;
    }
    float part[64]; /* [n] of the row */
    for (size_t k0 = 0; k0 < p->K; k0 += 64) {
        size_t n = p->K - k0 < 64 ? p->K - k0 : 64;
        dg_convert_floats(p->data, p->type, pos * p->K + k0, n, part);
        for (size_t k = 0; k < n; k++)
            y[k0 + k] = scale * y[k0 + k] + (p->type == DG_S8 ? part[k] * p->scales[pos] : part[k]);
    }
}

void dg_cpu_embed(struct dg_backend *be, const struct dg_embed *op, struct dg_rows y, size_t M)
{
    const struct dg_cpu *cpu = dg_cpu_of(be);
    const struct dg_weight *table = op->table;
    size_t D = table->K;
    assert(op->positions->K == D && op->positions->kind != DG_WEIGHT_PANEL &&
           op->positions->kind != DG_WEIGHT_INT8 && op->positions->kind != DG_WEIGHT_BF16);
    assert(!M || y.offset + (M - 1) * y.ld + D <= y.buf->n);
    for (size_t m = 0; m < M; m++) {
        float *row = dg_rows_at(y, m);
        assert(op->ids[m] < (int64_t)table->N && op->pos[m] >= 0 &&
               op->pos[m] < (int64_t)op->positions->N);
        if (op->ids[m] < 0)
            memset(row, 0, D * sizeof *row);
        else
            look_up(table, (size_t)op->ids[m], row);
        add_position(op->positions, (size_t)op->pos[m], op->scale, row);
        if (op->drop)
            cpu->isa->dropout(row, D, dg_mask_of(op->drop, m, 0));
    }
}
