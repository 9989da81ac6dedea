/* A segment's rows are walked from the last to the first. The share of a state's gradient that goes
 * to the state before it is stored in dz in the place of that position's candidate, where that
 * position finds it. */
#include "kernels/cpu/train/ssru_train.h"
#include "kernels/cpu/internal.h"

#include <assert.h>
#include <string.h>

static void run_piece(
    const struct dg_loops *l, const struct dg_ssru_grad *g, const struct dg_attn_seg *s, size_t D)
{
    const size_t first = s->q0, end = first + s->n_q;
    if (s->n_q)
        memset(dg_rows_at(g->dz, end - 1), 0, D * sizeof(float));
    for (size_t m = end; m-- > first;) {
        const float *z = dg_rows_at(g->z, m);
        float *dz = dg_rows_at(g->dz, m);
        struct dg_loop_ssru row = {.c = z,
            .before = m > first ? dg_rows_at(g->z, m - 1) : NULL,
            .f = z + D,
            .dy = dg_rows_at(g->dy, m),
            .dx = dz,
            .df = dz + D,
            .earlier = m > first ? dg_rows_at(g->dz, m - 1) : NULL};
        l->ssru(&row, D);
    }
}

void dg_ssru_train_backward(const struct dg_loops *l, const struct dg_ssru_grad *g, size_t D)
{
    assert(!g->op->states.buf);
    for (size_t i = 0; i < g->op->n_segs; i++)
        run_piece(l, g, &g->op->segs[i], D);
}
