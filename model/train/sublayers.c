/* Each function is a forward function of layers/ in reverse: the norm, then the products, each of
 * which turns the gradient of its output into that of its input.
 *
 * Example: a post-norm feed-forward, y = norm(x + w2 relu(w1 x)). dx holds dy[M,D] at first.
 *
 *   norm_backward   dsub[M,D]: the gradient of the sublayer's output; dx: that of the residual
 *   w2              dhidden[M,F] = dsub w2, 0 where relu gave 0; dw2 += dsub^T hidden
 *   w1              dx += dhidden w1, as the residual and the sublayer both read x;
 *                   dw1 += dhidden^T x */
#include "model/train/sublayers.h"

/* Turn dx, in a pre-norm model dstream, into the residual's gradient; write that of the sublayer's
 * output to scratch.dsub. */
static void norm_backward(const struct dg_down *d, const struct dg_norm_params *w,
    const struct dg_norm_params *g, const struct dg_norm_slots *s, uint32_t layer,
    enum dg_site site)
{
    struct dg_dropout drop;
    struct dg_norm op = {.gain = w->gain,
        .bias = w->bias,
        .eps = d->t->config.norm_eps,
        .xhat = s->xhat,
        .rstd = s->rstd,
        .drop = dg_dropout_at(d->drop, d->side, layer, site, &drop)};
    const bool pre = d->t->config.pre_norm,
               last = site == DG_SITE_FFN && layer + 1 == dg_down_layers(d);
    struct dg_norm_grad grad = {.op = &op,
        .dy = d->dx,
        .dx = d->t->scratch.dsub,
        .dr = pre ? d->dstream : d->dx,
        .dgain = g->gain,
        .dbias = g->bias,
        /* The sum continues as the stream, whose gradient is added here; at a stack's end only the
         * norm reads it. */
        .dsum = pre && !last ? d->dstream : (struct dg_rows){0}};
    d->t->train->ops->add_norm_backward(d->t->train, &grad, d->M, d->t->config.D);
}

void dg_begin_backward(const struct dg_down *d, const struct dg_norm_params *w,
    const struct dg_norm_params *g, const struct dg_norm_slots *s)
{
    struct dg_norm op = {.gain = w->gain,
        .bias = w->bias,
        .eps = d->t->config.norm_eps,
        .xhat = s->xhat,
        .rstd = s->rstd};
    struct dg_norm_grad grad = {.op = &op,
        .dy = d->dx,
        .dx = d->dstream,
        .dr = d->dstream,
        .dgain = g->gain,
        .dbias = g->bias,
        .dsum = d->dstream};
    d->t->train->ops->add_norm_backward(d->t->train, &grad, d->M, d->t->config.D);
}

/* A plain product without activation: x[M,K], dy[M,N] -> dx[M,K]. */
static void linear_backward(
    const struct dg_down *d, const struct dg_weight *w, struct dg_linear_grad grad, size_t M)
{
    struct dg_linear op = {.w = w};
    grad.op = &op;
    d->t->train->ops->linear_backward(d->t->train, &grad, M);
}

void dg_ffn_backward(const struct dg_down *d, uint32_t layer, const struct dg_ffn_params *w,
    const struct dg_ffn_params *g, struct dg_rows x, const struct dg_ffn_slots *s)
{
    struct dg_tape_scratch *b = &d->t->scratch;
    struct dg_dropout drop;
    struct dg_linear inner = {.w = w->w1,
        .act = d->t->config.act,
        .pre = s->pre,
        .drop = dg_dropout_at(d->drop, d->side, layer, DG_SITE_ACT, &drop)};
    /* ReLU's backward is part of the outer product's, if no dropout comes between. */
    const bool relu = inner.act == DG_ACT_RELU && !inner.drop;
    norm_backward(d, &w->end, &g->end, &s->norm, layer, DG_SITE_FFN);
    /* dhidden = dsub w2; with ReLU, the gradient before ReLU in the same pass. */
    linear_backward(d, w->w2,
        (struct dg_linear_grad){.x = s->hidden,
            .dy = b->dsub,
            .dx = b->dhidden,
            .dx_relu = relu,
            .mask = s->mask,
            .dw = g->w2,
            .dbias = g->b2},
        d->M);
    if (relu)
        inner.act = DG_ACT_NONE; /* done above */
    /* In a post-norm model, dx already has the residual's share: add to it. */
    struct dg_linear_grad grad = {.op = &inner,
        .x = x,
        .y = s->hidden,
        .dy = b->dhidden,
        .dx = d->dx,
        .dx_add = !d->t->config.pre_norm,
        .dw = g->w1,
        .dbias = g->b1};
    d->t->train->ops->linear_backward(d->t->train, &grad, d->M);
}

/* One attention call of a pass: its inputs, and where their gradients go. */
struct attend {
    const struct dg_attn_seg *segs;
    struct dg_rows q, k, v, probs, dq, dk, dv;
    enum dg_site site;
    /* NULL: none */
    const struct dg_guide *guide;
};

static int attend_backward(
    const struct dg_down *d, uint32_t layer, const struct attend *a, struct dg_error *err)
{
    const struct dg_config *c = &d->t->config;
    struct dg_dropout drop;
    struct dg_attention op = {.H = c->H,
        .Dk = c->Dk,
        .Dv = c->Dv,
        .segs = a->segs,
        .n_segs = d->t->n,
        .k = a->k,
        .v = a->v,
        .probs = a->probs,
        .drop = dg_dropout_at(d->drop, d->side, layer, a->site, &drop)};
    struct dg_attention_grad g = {.op = &op,
        .q = a->q,
        .dout = d->t->scratch.dcontext,
        .dq = a->dq,
        .dk = a->dk,
        .dv = a->dv,
        .guide = a->guide};
    return d->t->train->ops->attention_backward(d->t->train, &g, err);
}

int dg_self_backward(const struct dg_down *d, uint32_t layer, const struct dg_self_params *w,
    const struct dg_self_params *g, struct dg_rows x, const struct dg_self_slots *s,
    struct dg_error *err)
{
    struct dg_tape_scratch *b = &d->t->scratch;
    const size_t hdk = (size_t)d->t->config.H * d->t->config.Dk;
    norm_backward(d, &w->end, &g->end, &s->norm, layer, DG_SITE_SELF);
    /* The output projection: dsub[M,D] -> dcontext[M,H*Dv]. */
    linear_backward(d, w->out_w,
        (struct dg_linear_grad){
            .x = s->context, .dy = b->dsub, .dx = b->dcontext, .dw = g->out_w, .dbias = g->out_b},
        d->M);
    /* Queries, keys and values are columns of one product's rows, and so are their gradients. */
    struct attend a = {.segs = d->side ? d->t->target.self : d->t->source.self,
        .q = s->qkv,
        .k = dg_rows_column(s->qkv, hdk),
        .v = dg_rows_column(s->qkv, 2 * hdk),
        .probs = s->probs,
        .dq = b->dqkv,
        .dk = dg_rows_column(b->dqkv, hdk),
        .dv = dg_rows_column(b->dqkv, 2 * hdk),
        .site = DG_SITE_SELF_PROBS};
    int rc = attend_backward(d, layer, &a, err);
    /* One product takes all three back: dqkv[M,2*H*Dk+H*Dv] -> dx[M,D]. */
    if (!rc)
        linear_backward(d, w->qkv_w,
            (struct dg_linear_grad){.x = x,
                .dy = b->dqkv,
                .dx = d->dx,
                .dx_add = !d->t->config.pre_norm,
                .dw = g->qkv_w,
                .dbias = g->qkv_b},
            d->M);
    return rc;
}

void dg_ssru_backward(const struct dg_down *d, uint32_t layer, const struct dg_dec_params *w,
    const struct dg_dec_params *g, struct dg_rows x, const struct dg_self_slots *s)
{
    struct dg_tape *t = d->t;
    norm_backward(d, &w->self.end, &g->self.end, &s->norm, layer, DG_SITE_SELF);
    /* dz[M,2D] of candidate and forget gate, from a sentence's last position to its first. */
    struct dg_ssru op = {.segs = t->target.self, .n_segs = t->n};
    struct dg_ssru_grad grad = {
        .op = &op, .z = s->qkv, .dy = t->scratch.dsub, .dz = t->scratch.dqkv};
    t->train->ops->ssru_backward(t->train, &grad, t->config.D);
    linear_backward(d, w->ssru.w,
        (struct dg_linear_grad){.x = x,
            .dy = t->scratch.dqkv,
            .dx = d->dx,
            .dx_add = !t->config.pre_norm,
            .dw = g->ssru.w,
            .dbias = g->ssru.b},
        d->M);
}

int dg_cross_backward(const struct dg_down *d, uint32_t layer, const struct dg_cross_params *w,
    const struct dg_cross_params *g, struct dg_rows x, const struct dg_cross_slots *s,
    struct dg_error *err)
{
    struct dg_tape *t = d->t;
    struct dg_tape_scratch *b = &t->scratch;
    const size_t hdk = (size_t)t->config.H * t->config.Dk;
    norm_backward(d, &w->end, &g->end, &s->norm, layer, DG_SITE_CROSS);
    /* The output projection: dsub[M,D] -> dcontext[M,H*Dv]. */
    linear_backward(d, w->out_w,
        (struct dg_linear_grad){
            .x = s->context, .dy = b->dsub, .dx = b->dcontext, .dw = g->out_w, .dbias = g->out_b},
        d->M);
    /* Queries are the target's rows, keys and values the source's: their gradients go to different
     * rows. */
    struct attend a = {.segs = t->cross,
        .q = s->q,
        .k = s->kv,
        .v = dg_rows_column(s->kv, hdk),
        .probs = s->probs,
        .dq = b->dq,
        .dk = b->dkv,
        .dv = dg_rows_column(b->dkv, hdk),
        .site = DG_SITE_CROSS_PROBS,
        .guide = layer == d->guided_layer ? d->guide : NULL};
    int rc = attend_backward(d, layer, &a, err);
    if (rc)
        return rc;
    /* The target's rows: dq[M,H*Dk] -> dx[M,D], in a post-norm model added to the residual's
     * share. */
    linear_backward(d, w->q_w,
        (struct dg_linear_grad){.x = x,
            .dy = b->dq,
            .dx = d->dx,
            .dx_add = !t->config.pre_norm,
            .dw = g->q_w,
            .dbias = g->q_b},
        d->M);
    /* dmemory[S,D] is the sum over all layers: the last layer comes first and writes it, the others
     * add. */
    linear_backward(d, w->kv_w,
        (struct dg_linear_grad){.x = d->memory,
            .dy = b->dkv,
            .dx = b->dmemory,
            .dx_add = layer + 1 < t->config.dec_layers,
            .dw = g->kv_w,
            .dbias = g->kv_b},
        t->source.M);
    return 0;
}

void dg_embedding_backward(const struct dg_down *d, const struct dg_tape_side *side,
    const struct dg_weight *table, struct dg_weight *dtable, struct dg_weight *dpositions)
{
    /* The embedding's dropout is the first op of a stack: dx (pre-norm: dstream) is the gradient of
     * its output. */
    struct dg_dropout drop;
    struct dg_embed op = {.table = table,
        .scale = d->t->config.embed_scale,
        .ids = side->ids,
        .pos = side->pos,
        .drop = dg_dropout_at(d->drop, d->side, 0, DG_SITE_EMBED, &drop)};
    struct dg_embed_grad g = {.op = &op,
        .dy = d->t->config.pre_norm ? d->dstream : d->dx,
        .dtable = dtable,
        .dpositions = dpositions};
    d->t->train->ops->embed_backward(d->t->train, &g, d->M);
}
