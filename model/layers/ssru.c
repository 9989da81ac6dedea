#include "model/layers/layers.h"

/* The unit that decoders of small fast models have instead of masked self-attention (Kim et al.
 * 2019, "From Research to Production and Back"): one product for candidates and gates, then a state
 * that every position updates. */
void dg_ssru_forward(const struct dg_pass *p, uint32_t layer, const struct dg_ssru_params *w,
    const struct dg_segs *segs, const struct dg_states *states, struct dg_rows x,
    const struct dg_ssru_slots *slots)
{
    struct dg_dropout drop;
    struct dg_linear product = {.w = w->w, .bias = w->b};
    struct dg_ssru op = {.segs = segs->segs, .n_segs = segs->n};
    if (states)
        op = (struct dg_ssru){
            .states = states->pools[layer], .from = states->from, .to = states->to};
    p->be->ops->linear(p->be, &product, x, slots->z, p->M);
    p->be->ops->ssru(p->be, &op, slots->z, slots->sub, p->M, p->config->D);
    dg_residual_norm(p, &w->end, dg_dropout_at(p->drop, 1, layer, DG_SITE_SELF, &drop), slots->sub,
        x, &slots->norm);
}
