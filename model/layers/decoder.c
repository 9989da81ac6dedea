#include "model/layers/layers.h"

/* Run masked self-attention, or the SSRU in its place. */
static void look_back(const struct dg_pass *p, uint32_t l, const struct dg_dec_params *w,
    const struct dg_context *c, struct dg_rows x, const struct dg_self_slots *s)
{
    const struct dg_self_keys keys = {&c->self, c->pools ? &c->pools[l] : NULL};
    if (p->config->decoder == DG_DECODER_SSRU)
        dg_ssru_forward(p, l, w, &c->self, c->pools ? c->states : NULL, x, s);
    else
        dg_self_attention_forward(p, 1, l, &w->self, &keys, x, s);
}

/* N layers of masked self-attention, attention over the memory and feed-forward, right half of
 * Figure 1. Teacher forcing (all positions at once) and cached steps (one position a row) differ in
 * segments and pools only. */
struct dg_rows dg_decoder_forward(const struct dg_pass *p, const struct dg_params *w,
    const struct dg_context *c, struct dg_rows x, const struct dg_dec_slots *slots, size_t stride)
{
    if (p->config->pre_norm)
        x = dg_stack_begin(p, &w->dec[0].self.norm, x, &slots->begin);
    for (uint32_t l = 0; l < p->config->dec_layers; l++) {
        const struct dg_dec_slots *s = slots + l * stride;
        look_back(p, l, &w->dec[l], c, x, &s->self);
        dg_cross_attention_forward(p, l, &w->dec[l].cross, c, s->self.norm.y, &s->cross);
        dg_ffn_forward(p, 1, l, &w->dec[l].ffn, s->cross.norm.y, &s->ffn);
        x = s->ffn.norm.y;
    }
    return x;
}

void dg_output_forward(
    const struct dg_pass *p, const struct dg_params *w, struct dg_rows x, struct dg_rows logits)
{
    struct dg_linear op = {.w = w->out_w, .bias = w->out_b};
    p->be->ops->linear(p->be, &op, x, logits, p->M);
}
