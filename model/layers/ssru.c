#include "model/layers/layers.h"

/* The unit that decoders of small fast models have instead of masked self-attention (Kim et al.
 * 2019, "From Research to Production and Back"): one product for candidates and gates, then a state
 * that every position updates. */
void dg_ssru_forward(const struct dg_pass *p, uint32_t layer, const struct dg_dec_params *w,
    const struct dg_segs *segs, const struct dg_states *states, struct dg_rows x,
    const struct dg_self_slots *slots)
{
    struct dg_dropout drop;
    struct dg_linear product = {.w = w->ssru.w, .bias = w->ssru.b};
    struct dg_ssru op = {.segs = segs->segs, .n_segs = segs->n};
    if (states)
        op = (struct dg_ssru){
            .states = states->pools[layer], .from = states->from, .to = states->to};
    p->be->ops->linear(p->be, &product, x, slots->qkv, p->M);
    p->be->ops->ssru(p->be, &op, slots->qkv, slots->sub, p->M, p->config->D);
    dg_residual_norm(p, &w->self.end, dg_dropout_at(p->drop, 1, layer, DG_SITE_SELF, &drop),
        slots->sub, x, &slots->norm);
}
