/* The tape's run, and the backward of each box of Figure 1 beside the forward of attention.c and
 * ffn.c. Throughout, dx [M,D] is the gradient of the rows between sublayers: add_norm's backward
 * leaves the residual's share in it, and the sublayer's own share is added by the last product of
 * its backward. */
#include "model/train/loss.h"

/* What the layers' backward share. */
struct down {
    struct dg_tape *t;
    /* NULL: none */
    const struct dg_tape_watch *watch;
    /* NULL: none */
    const struct dg_dropouts *drop;
    int side;
    size_t M;
    /* [M,D] */
    struct dg_rows dx;
    /* of the decoder's layer guided_layer; NULL: none */
    const struct dg_guide *guide;
    uint32_t guided_layer;
    /* [S,D] the encoder's output, for the decoder's layers */
    struct dg_rows memory;
};

static const struct dg_dropout *dropout(
    const struct down *d, float rate, uint32_t layer, enum dg_site site, struct dg_dropout *drop)
{
    if (!d->drop || rate <= 0)
        return NULL;
    *drop =
        (struct dg_dropout){rate, dg_dropout_site(d->drop, d->side, layer, site), d->drop->row_key};
    return drop;
}

static void tell(const struct down *d, uint32_t layer)
{
    if (d->watch)
        d->watch->layer_done(d->watch->arg, d->side, layer);
}

static struct dg_rows column(struct dg_rows x, size_t first)
{
    x.offset += first;
    return x;
}

/* dx becomes the residual's gradient, scratch.dsub the sublayer's. */
static void norm_backward(const struct down *d, const struct dg_norm_params *w,
    const struct dg_norm_params *g, const struct dg_norm_slots *s, uint32_t layer,
    enum dg_site site)
{
    struct dg_dropout drop;
    struct dg_norm op = {.gain = w->gain,
        .bias = w->bias,
        .eps = d->t->config.norm_eps,
        .xhat = s->xhat,
        .rstd = s->rstd,
        .drop = dropout(d, d->drop ? d->drop->residual : 0, layer, site, &drop)};
    struct dg_norm_grad grad = {.op = &op,
        .dy = d->dx,
        .dx = d->t->scratch.dsub,
        .dr = d->dx,
        .dgain = g->gain,
        .dbias = g->bias};
    d->t->train->ops->add_norm_backward(d->t->train, &grad, d->M, d->t->config.D);
}

/* A plain product without activation: x[M,K], dy[M,N] -> dx[M,K]. */
static void linear_backward(
    const struct down *d, const struct dg_weight *w, struct dg_linear_grad grad, size_t M)
{
    struct dg_linear op = {.w = w};
    grad.op = &op;
    d->t->train->ops->linear_backward(d->t->train, &grad, M);
}

static void ffn_backward(const struct down *d, uint32_t layer, const struct dg_ffn_params *w,
    const struct dg_ffn_params *g, struct dg_rows x, const struct dg_ffn_slots *s)
{
    struct dg_tape_scratch *b = &d->t->scratch;
    struct dg_dropout drop;
    struct dg_linear inner = {.w = w->w1,
        .act = d->t->config.act,
        .pre = s->pre,
        .drop = dropout(d, d->drop ? d->drop->act : 0, layer, DG_SITE_ACT, &drop)};
    /* ReLU's backward ends the outer product, where nothing comes between. */
    const bool relu = inner.act == DG_ACT_RELU && !inner.drop;
    norm_backward(d, &w->norm, &g->norm, &s->norm, layer, DG_SITE_FFN);
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
        inner.act = DG_ACT_NONE;
    struct dg_linear_grad grad = {.op = &inner,
        .x = x,
        .y = s->hidden,
        .dy = b->dhidden,
        .dx = d->dx,
        .dx_add = true,
        .dw = g->w1,
        .dbias = g->b1};
    d->t->train->ops->linear_backward(d->t->train, &grad, d->M);
}

/* One attention call of a pass: what went in, and where the gradients go. */
struct attend {
    const struct dg_attn_seg *segs;
    struct dg_rows q, k, v, probs, dq, dk, dv;
    enum dg_site site;
    /* NULL: none */
    const struct dg_guide *guide;
};

static int attend_backward(
    const struct down *d, uint32_t layer, const struct attend *a, struct dg_error *err)
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
        .drop = dropout(d, d->drop ? d->drop->attention : 0, layer, a->site, &drop)};
    struct dg_attention_grad g = {.op = &op,
        .q = a->q,
        .dout = d->t->scratch.dcontext,
        .dq = a->dq,
        .dk = a->dk,
        .dv = a->dv,
        .guide = a->guide};
    return d->t->train->ops->attention_backward(d->t->train, &g, err);
}

static int self_backward(const struct down *d, uint32_t layer, const struct dg_self_params *w,
    const struct dg_self_params *g, struct dg_rows x, const struct dg_self_slots *s,
    struct dg_error *err)
{
    struct dg_tape_scratch *b = &d->t->scratch;
    const size_t hdk = (size_t)d->t->config.H * d->t->config.Dk;
    norm_backward(d, &w->norm, &g->norm, &s->norm, layer, DG_SITE_SELF);
    linear_backward(d, w->out_w,
        (struct dg_linear_grad){
            .x = s->context, .dy = b->dsub, .dx = b->dcontext, .dw = g->out_w, .dbias = g->out_b},
        d->M);
    struct attend a = {.segs = d->side ? d->t->target.self : d->t->source.self,
        .q = s->qkv,
        .k = column(s->qkv, hdk),
        .v = column(s->qkv, 2 * hdk),
        .probs = s->probs,
        .dq = b->dqkv,
        .dk = column(b->dqkv, hdk),
        .dv = column(b->dqkv, 2 * hdk),
        .site = DG_SITE_SELF_PROBS};
    int rc = attend_backward(d, layer, &a, err);
    if (!rc)
        linear_backward(d, w->qkv_w,
            (struct dg_linear_grad){.x = x,
                .dy = b->dqkv,
                .dx = d->dx,
                .dx_add = true,
                .dw = g->qkv_w,
                .dbias = g->qkv_b},
            d->M);
    return rc;
}

static int cross_backward(const struct down *d, uint32_t layer, const struct dg_cross_params *w,
    const struct dg_cross_params *g, struct dg_rows x, const struct dg_cross_slots *s,
    struct dg_error *err)
{
    struct dg_tape *t = d->t;
    struct dg_tape_scratch *b = &t->scratch;
    const size_t hdk = (size_t)t->config.H * t->config.Dk;
    norm_backward(d, &w->norm, &g->norm, &s->norm, layer, DG_SITE_CROSS);
    linear_backward(d, w->out_w,
        (struct dg_linear_grad){
            .x = s->context, .dy = b->dsub, .dx = b->dcontext, .dw = g->out_w, .dbias = g->out_b},
        d->M);
    struct attend a = {.segs = t->cross,
        .q = s->q,
        .k = s->kv,
        .v = column(s->kv, hdk),
        .probs = s->probs,
        .dq = b->dq,
        .dk = b->dkv,
        .dv = column(b->dkv, hdk),
        .site = DG_SITE_CROSS_PROBS,
        .guide = layer == d->guided_layer ? d->guide : NULL};
    int rc = attend_backward(d, layer, &a, err);
    if (rc)
        return rc;
    linear_backward(d, w->q_w,
        (struct dg_linear_grad){
            .x = x, .dy = b->dq, .dx = d->dx, .dx_add = true, .dw = g->q_w, .dbias = g->q_b},
        d->M);
    /* The last layer comes first and writes, the others add. */
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

static void embedding_backward(const struct down *d, const struct dg_tape_side *side,
    const struct dg_weight *table, struct dg_weight *dtable, struct dg_weight *dpositions)
{
    struct dg_dropout drop;
    struct dg_embed op = {.table = table,
        .scale = d->t->config.embed_scale,
        .ids = side->ids,
        .pos = side->pos,
        .drop = dropout(d, d->drop ? d->drop->residual : 0, 0, DG_SITE_EMBED, &drop)};
    struct dg_embed_grad g = {.op = &op, .dy = d->dx, .dtable = dtable, .dpositions = dpositions};
    d->t->train->ops->embed_backward(d->t->train, &g, d->M);
}

static int decoder_backward(
    const struct down *down, const struct dg_params *w, struct dg_params *g, struct dg_error *err)
{
    const struct down d = *down;
    struct dg_tape *t = d.t;
    int rc = 0;
    for (uint32_t l = t->config.dec_layers; l-- > 0 && !rc;) {
        const struct dg_dec_slots *s = &t->dec[l];
        struct dg_rows x = l ? t->dec[l - 1].ffn.norm.y : t->target.embed;
        ffn_backward(&d, l, &w->dec[l].ffn, &g->dec[l].ffn, s->cross.norm.y, &s->ffn);
        rc = cross_backward(
            &d, l, &w->dec[l].cross, &g->dec[l].cross, s->self.norm.y, &s->cross, err);
        if (!rc)
            rc = self_backward(&d, l, &w->dec[l].self, &g->dec[l].self, x, &s->self, err);
        tell(&d, l);
    }
    if (!rc)
        embedding_backward(&d, &t->target, w->tgt_embed, g->tgt_embed, g->tgt_pos);
    return rc;
}

static int encoder_backward(struct dg_tape *t, const struct dg_params *w, struct dg_params *g,
    const struct dg_tape_watch *watch, const struct dg_dropouts *drop, struct dg_error *err)
{
    struct down d = {
        .t = t, .watch = watch, .drop = drop, .M = t->source.M, .dx = t->scratch.dmemory};
    int rc = 0;
    for (uint32_t l = t->config.enc_layers; l-- > 0 && !rc;) {
        const struct dg_enc_slots *s = &t->enc[l];
        struct dg_rows x = l ? t->enc[l - 1].ffn.norm.y : t->source.embed;
        ffn_backward(&d, l, &w->enc[l].ffn, &g->enc[l].ffn, s->self.norm.y, &s->ffn);
        rc = self_backward(&d, l, &w->enc[l].self, &g->enc[l].self, x, &s->self, err);
        tell(&d, l);
    }
    if (!rc)
        embedding_backward(&d, &t->source, w->src_embed, g->src_embed, g->src_pos);
    return rc;
}

/* Embeddings and both stacks; the memory and the decoder's output. */
static void forward(struct dg_tape *t, const struct dg_params *w, const struct dg_dropouts drops[2],
    bool drop, struct dg_rows *memory, struct dg_rows *y)
{
    const struct dg_config *c = &t->config;
    const struct dg_weight *pos[2] = {w->src_pos, w->tgt_pos};
    if (t->sinusoids)
        pos[0] = pos[1] = t->sinusoids;
    struct dg_pass pass = {t->train->be, c, drop ? &drops[0] : NULL, t->source.M};
    struct dg_segs segs = {.segs = t->source.self, .n = t->n};
    dg_embedding_forward(
        &pass, 0, w->src_embed, pos[0], t->source.ids, t->source.pos, t->source.embed);
    *memory = dg_encoder_forward(&pass, w, &segs, t->source.embed, t->enc, 1);

    struct dg_context context = {.self = {.segs = t->target.self, .n = t->n},
        .cross = {.segs = t->cross, .n = t->n},
        .memory = *memory,
        .R = t->source.M};
    pass.drop = drop ? &drops[1] : NULL;
    pass.M = t->target.M;
    dg_embedding_forward(
        &pass, 1, w->tgt_embed, pos[1], t->target.ids, t->target.pos, t->target.embed);
    *y = dg_decoder_forward(&pass, w, &context, t->target.embed, t->dec, 1);
}

/* What a guide needs besides the objective. */
static int check_guide(const struct dg_tape *t, const struct dg_guidance *g, struct dg_error *err)
{
    if (!t->train->ops->guides)
        return dg_error_set(err, DG_EUNSUP, "%s has no guided alignment: train on a CPU",
            t->train->be->ops->device);
    if (g->layer >= t->config.dec_layers || g->head >= t->config.H ||
        g->n_heads > t->config.H - g->head || !g->n_heads)
        return dg_error_set(err, DG_EINVAL,
            "heads %u to %u of decoder layer %u cannot be guided: there are %u heads, %u layers",
            g->head + 1, g->head + g->n_heads, g->layer + 1, t->config.H, t->config.dec_layers);
    return 0;
}

int dg_tape_run(struct dg_tape *t, const struct dg_params *w, struct dg_params *grads,
    const struct dg_micro_batch *pairs, const struct dg_objective *o, struct dg_loss_sums *sums,
    struct dg_error *err)
{
    const bool guided = grads && o->guide && pairs->links;
    int rc = guided ? check_guide(t, o->guide, err) : 0;
    if (!rc)
        rc = dg_tape_load(t, pairs, err);
    if (rc || !pairs->n)
        return rc;
    uint32_t key = dg_dropout_hash(
        dg_dropout_hash((uint32_t)o->seed, (uint32_t)(o->seed >> 32)), (uint32_t)o->step);
    struct dg_dropouts drops[2] = {
        {o->dropout, o->attention_dropout, o->act_dropout, key, t->source.row_key},
        {o->dropout, o->attention_dropout, o->act_dropout, key, t->target.row_key}};
    const bool drop = grads && (o->dropout > 0 || o->attention_dropout > 0 || o->act_dropout > 0);
    struct dg_rows memory, y;
    forward(t, w, drops, drop, &memory, &y);
    rc = dg_loss_output(t, w, grads, o, y, sums, err);
    if (rc || !grads)
        return rc;
    struct dg_guide guide = {.links = pairs->links, .first = pairs->first_link, .sums = sums};
    struct down down = {.t = t,
        .watch = o->watch,
        .drop = drop ? &drops[1] : NULL,
        .side = 1,
        .M = t->target.M,
        .dx = t->scratch.dx,
        .memory = memory};
    if (guided) {
        guide.head = o->guide->head;
        guide.n_heads = o->guide->n_heads;
        guide.scale = o->guide->weight * o->scale;
        down.guide = &guide;
        down.guided_layer = o->guide->layer;
    }
    if ((rc = decoder_backward(&down, w, grads, err)))
        return rc;
    return encoder_backward(t, w, grads, o->watch, drop ? &drops[0] : NULL, err);
}
