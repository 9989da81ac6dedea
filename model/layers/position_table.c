#include "model/layers/position_table.h"

#include <math.h>
#include <stdlib.h>

void dg_sinusoid_table(
    enum dg_positions positions, uint32_t first, uint32_t n, uint32_t D, float *table)
{
    const uint32_t half = D / 2;
    for (uint32_t i = 0; i < half; i++) {
        /* paper and halves: 10000^(2i/D); Marian's own code: 10000^(i/(D/2-1)). */
        const double exponent =
            positions == DG_POS_MARIAN ? (half > 1 ? (double)i / (half - 1) : 0.0) : 2.0 * i / D;
        const double rate = exp(-exponent * log(10000.0));
        const bool paper = positions == DG_POS_PAPER;
        for (uint32_t p = 0; p < n; p++) {
            float *row = table + (size_t)p * D;
            const double angle = ((double)first + p) * rate;
            row[paper ? 2 * i : i] = (float)sin(angle);
            row[paper ? 2 * i + 1 : half + i] = (float)cos(angle);
        }
    }
}

int dg_position_table_open(struct dg_position_table *t, struct dg_backend *be,
    const struct dg_config *c, uint32_t most, struct dg_error *err)
{
    const bool learned = c->positions == DG_POS_LEARNED;
    t->n = learned && c->max_positions < most ? c->max_positions : most;
    if (learned)
        return 0;
    t->rows = malloc((size_t)most * c->D * sizeof *t->rows);
    if (!t->rows)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u positions", most);
    dg_sinusoid_table(c->positions, c->first_position, most, c->D, t->rows);
    const struct dg_stored stored = {DG_F32, DG_LAYOUT_ROWS, t->rows, NULL};
    const struct dg_weight_spec spec = {.name = "positions",
        .use = DG_USE_TABLE,
        .N = most,
        .K = c->D,
        .stored = &stored,
        .n_stored = 1};
    return be->ops->weight_new(be, &spec, &t->sinusoids, err);
}

void dg_position_table_close(struct dg_position_table *t, struct dg_backend *be)
{
    be->ops->weight_free(be, t->sinusoids);
    free(t->rows);
}
