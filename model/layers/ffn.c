#include "model/layers/layers.h"

/* FFN(x) = act(x W1 + b1) W2 + b2 (paper section 3.3), then residual and norm. */
void dg_ffn_forward(const struct dg_pass *p, int side, uint32_t layer,
    const struct dg_ffn_params *w, struct dg_rows x, const struct dg_ffn_slots *slots)
{
    struct dg_dropout d1, d2;
    struct dg_linear inner = {.w = w->w1,
        .bias = w->b1,
        .act = p->config->act,
        .drop = dg_dropout_at(p->drop, side, layer, DG_SITE_ACT, &d1),
        .pre = slots->pre};
    struct dg_linear outer = {.w = w->w2, .bias = w->b2};
    if (!inner.drop)
        inner.mask = slots->mask;
    p->be->ops->linear(p->be, &inner, x, slots->hidden, p->M);
    p->be->ops->linear(p->be, &outer, slots->hidden, slots->sub, p->M);
    dg_residual_norm(p, &w->end, dg_dropout_at(p->drop, side, layer, DG_SITE_FFN, &d2), slots->sub,
        x, &slots->norm);
}
