#include "model/layers/layers.h"

void dg_embedding_forward(const struct dg_pass *p, int side, const struct dg_params *w,
    const struct dg_position_table *positions, const int32_t *ids, const int32_t *pos,
    struct dg_rows y)
{
    struct dg_dropout drop;
    const struct dg_weight *learned = side ? w->tgt_pos : w->src_pos;
    struct dg_embed op = {.table = side ? w->tgt_embed : w->src_embed,
        .positions = positions->sinusoids ? positions->sinusoids : learned,
        .scale = p->config->embed_scale,
        .ids = ids,
        .pos = pos,
        .drop = dg_dropout_at(p->drop, side, 0, DG_SITE_EMBED, &drop)};
    p->be->ops->embed(p->be, &op, y, p->M);
}
