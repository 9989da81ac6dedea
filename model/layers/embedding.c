#include "model/layers/layers.h"

#include <math.h>

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

void dg_embedding_forward(const struct dg_pass *p, int side, const struct dg_weight *table,
    const struct dg_weight *positions, const int32_t *ids, const int32_t *pos, struct dg_rows y)
{
    struct dg_dropout drop;
    struct dg_embed op = {.table = table,
        .positions = positions,
        .scale = p->config->embed_scale,
        .ids = ids,
        .pos = pos,
        .drop = dg_dropout_at(p->drop, side, 0, DG_SITE_EMBED, &drop)};
    p->be->ops->embed(p->be, &op, y, p->M);
}
