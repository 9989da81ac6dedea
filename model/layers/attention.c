#include "model/layers/layers.h"

static void linear(const struct dg_pass *p, const struct dg_weight *w, const struct dg_weight *bias,
    struct dg_rows x, struct dg_rows y, size_t M)
{
    struct dg_linear op = {.w = w, .bias = bias};
    p->be->ops->linear(p->be, &op, x, y, M);
}

/* Multi-head attention (paper section 3.2.2) without its projections, which the caller computes.
 * op: the keys and values, and the outputs besides the context. */
static void attend(const struct dg_pass *p, int side, const struct dg_segs *segs,
    struct dg_attention *op, struct dg_rows q, struct dg_rows context)
{
    const struct dg_config *c = p->config;
    op->H = side ? dg_config_dec_H(c) : c->H;
    op->Dk = c->H * c->Dk / op->H;
    op->Dv = c->H * c->Dv / op->H;
    op->of = segs->of;
    op->segs = segs->segs;
    op->n_segs = segs->n;
    p->be->ops->attention(p->be, op, q, context);
}

void dg_self_attention_forward(const struct dg_pass *p, int side, uint32_t layer,
    const struct dg_self_params *w, const struct dg_self_keys *keys, struct dg_rows x,
    const struct dg_self_slots *slots)
{
    struct dg_dropout d1, d2;
    size_t hdk = (size_t)p->config->H * p->config->Dk;

    linear(p, w->qkv_w, w->qkv_b, x, slots->qkv, p->M);
    struct dg_rows k = dg_rows_column(slots->qkv, hdk), v = dg_rows_column(slots->qkv, 2 * hdk);
    struct dg_attention op = {.k = k,
        .v = v,
        .probs = slots->probs,
        .drop = dg_dropout_at(p->drop, side, layer, DG_SITE_SELF_PROBS, &d1)};
    if (keys->pool) {
        op.k = keys->pool->k;
        op.v = keys->pool->v;
        op.new_k = k;
        op.new_v = v;
    }
    attend(p, side, keys->segs, &op, slots->qkv, slots->context);
    linear(p, w->out_w, w->out_b, slots->context, slots->sub, p->M);
    dg_residual_norm(p, &w->end, dg_dropout_at(p->drop, side, layer, DG_SITE_SELF, &d2), slots->sub,
        x, &slots->norm);
}

void dg_cross_attention_forward(const struct dg_pass *p, uint32_t layer,
    const struct dg_cross_params *w, const struct dg_context *c, struct dg_rows x,
    const struct dg_cross_slots *slots)
{
    struct dg_dropout d1, d2;
    struct dg_attention op = {
        .probs = slots->probs, .drop = dg_dropout_at(p->drop, 1, layer, DG_SITE_CROSS_PROBS, &d1)};

    linear(p, w->q_w, w->q_b, x, slots->q, p->M);
    if (c->pools) {
        op.k = c->pools[layer].k;
        op.v = c->pools[layer].v;
    } else {
        linear(p, w->kv_w, w->kv_b, c->memory, slots->kv, c->R);
        op.k = slots->kv;
        op.v = dg_rows_column(slots->kv, (size_t)p->config->H * p->config->Dk);
    }
    attend(p, 1, &c->cross, &op, slots->q, slots->context);
    linear(p, w->out_w, w->out_b, slots->context, slots->sub, p->M);
    dg_residual_norm(p, &w->end, dg_dropout_at(p->drop, 1, layer, DG_SITE_CROSS, &d2), slots->sub,
        x, &slots->norm);
}

void dg_cross_cache_fill(const struct dg_pass *p, const struct dg_params *w, struct dg_rows memory,
    const int32_t *slots, const struct dg_kv_pools *pools, struct dg_rows kv)
{
    const struct dg_config *c = p->config;
    size_t hdk = (size_t)c->H * c->Dk, hdv = (size_t)c->H * c->Dv;
    if (w->memory_kv_w) {
        linear(p, w->memory_kv_w, w->memory_kv_b, memory, kv, p->M);
        p->be->ops->kv_write(
            p->be, kv, pools[0].k, slots, p->M, (size_t)c->dec_layers * (hdk + hdv));
        return;
    }
    for (uint32_t l = 0; l < c->dec_layers; l++) {
        linear(p, w->dec[l].cross.kv_w, w->dec[l].cross.kv_b, memory, kv, p->M);
        p->be->ops->kv_write(p->be, kv, pools[l].k, slots, p->M, hdk);
        p->be->ops->kv_write(p->be, dg_rows_column(kv, hdk), pools[l].v, slots, p->M, hdv);
    }
}
