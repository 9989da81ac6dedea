#include "model/layers/layers.h"

/* N layers of self-attention and feed-forward, left half of the paper's Figure 1. */
struct dg_rows dg_encoder_forward(const struct dg_pass *p, const struct dg_params *w,
    const struct dg_segs *segs, struct dg_rows x, const struct dg_enc_slots *slots, size_t stride)
{
    if (p->config->pre_norm)
        x = dg_stack_begin(p, &w->enc[0].self.norm, x, &slots->begin);
    for (uint32_t l = 0; l < p->config->enc_layers; l++) {
        const struct dg_enc_slots *s = slots + l * stride;
        const struct dg_self_keys keys = {segs, NULL};
        dg_self_attention_forward(p, 0, l, &w->enc[l].self, &keys, x, &s->self);
        dg_ffn_forward(p, 0, l, &w->enc[l].ffn, s->self.norm.y, &s->ffn);
        x = s->ffn.norm.y;
    }
    return x;
}
