#include "model/layers/layers.h"

/* FFN(x) = act(x W1 + b1) W2 + b2 (paper section 3.3), then residual and norm. */
void dg_ffn_forward(const struct dg_pass *p, int side, uint32_t layer,
    const struct dg_ffn_params *w, struct dg_rows x, const struct dg_ffn_slots *slots)
{
    const bool drop = p->drop && p->drop->residual > 0;
    struct dg_dropout d1, d2;
    struct dg_linear inner = {.w = w->w1, .bias = w->b1, .act = p->config->act, .pre = slots->pre};
    struct dg_linear outer = {.w = w->w2, .bias = w->b2};
    if (p->drop && p->drop->act > 0) {
        d1 = (struct dg_dropout){
            p->drop->act, dg_dropout_site(p->drop, side, layer, DG_SITE_ACT), p->drop->row_key};
        inner.drop = &d1;
    }
    if (drop)
        d2 = (struct dg_dropout){p->drop->residual,
            dg_dropout_site(p->drop, side, layer, DG_SITE_FFN), p->drop->row_key};
    if (!inner.drop)
        inner.mask = slots->mask;
    p->be->ops->linear(p->be, &inner, x, slots->hidden, p->M);
    p->be->ops->linear(p->be, &outer, slots->hidden, slots->sub, p->M);
    dg_residual_norm(p, &w->end, drop ? &d2 : NULL, slots->sub, x, &slots->norm);
}
