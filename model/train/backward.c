/* Runs the tape: both stacks forward through model/layers/layers.h, the loss, and both backward,
 * from the last layer to the first.
 *
 * Example: two encoder and two decoder layers, post-norm, S = 5 source and T = 6 target rows. dx is
 * the gradient of the rows between two sublayers: scratch.dx [T,D] in the decoder, dmemory [S,D] in
 * the encoder.
 *
 *   dg_loss_output   dx of the decoder's output, and the gradient of the output layer
 *   decoder 1        ffn, cross, self: each adds to its parameters' gradients and turns dx into
 *                    its input's gradient; cross writes dmemory; the watch is told (1,1)
 *   decoder 0        the same, but cross adds to dmemory; (1,0)
 *   target's table   += dx, by the ids of the rows
 *   encoder 1, 0     ffn, self; (0,1), (0,0)
 *   source's table   += dx
 *
 * A layer's gradients are complete when the watch is told, so ranks can already add them up. */
#include "model/train/loss.h"
#include "model/train/sublayers.h"

/* Tell the watch which gradients are complete once the backward of `layer` is done (for layer 0,
 * that of the stack's beginning, too). A pre-norm layer ends with the norm of the layer after it,
 * whose gradients are complete only then. */
static void tell(const struct dg_down *d, uint32_t layer)
{
    const struct dg_tape_watch *w = d->watch;
    const bool pre = d->t->config.pre_norm;
    /* Post-norm: a layer uses only its own parameters. */
    if (w && !pre)
        w->layer_done(w->arg, d->side, layer);
    if (w && pre && layer + 1 < dg_down_layers(d))
        w->layer_done(w->arg, d->side, layer + 1);
    if (w && pre && layer == 0)
        w->layer_done(w->arg, d->side, 0);
}

/* Input of the first sublayer of layer l: the output of the layer before, or the stack's
 * beginning. */
static struct dg_rows decoder_input(const struct dg_tape *t, uint32_t l)
{
    const struct dg_rows first = t->config.pre_norm ? t->dec[0].begin.y : t->target.embed;
    return l ? t->dec[l - 1].ffn.norm.y : first;
}

static struct dg_rows encoder_input(const struct dg_tape *t, uint32_t l)
{
    const struct dg_rows first = t->config.pre_norm ? t->enc[0].begin.y : t->source.embed;
    return l ? t->enc[l - 1].ffn.norm.y : first;
}

static int decoder_layer_backward(const struct dg_down *d, uint32_t l,
    const struct dg_dec_params *w, const struct dg_dec_params *g, struct dg_error *err)
{
    const struct dg_tape *t = d->t;
    const struct dg_dec_slots *s = &t->dec[l];
    const struct dg_rows x = decoder_input(t, l);
    /* The input of each sublayer is the output of the norm before it. */
    dg_ffn_backward(d, l, &w->ffn, &g->ffn, s->cross.norm.y, &s->ffn);
    int rc = dg_cross_backward(d, l, &w->cross, &g->cross, s->self.norm.y, &s->cross, err);
    if (!rc && t->config.decoder == DG_DECODER_SSRU)
        dg_ssru_backward(d, l, w, g, x, &s->self);
    else if (!rc)
        rc = dg_self_backward(d, l, &w->self, &g->self, x, &s->self, err);
    /* A pre-norm stack begins with the first sublayer's norm, which read the embeddings. */
    if (!rc && t->config.pre_norm && l == 0)
        dg_begin_backward(d, &w->self.norm, &g->self.norm, &s->begin);
    return rc;
}

static int decoder_backward(
    const struct dg_down *d, const struct dg_params *w, struct dg_params *g, struct dg_error *err)
{
    struct dg_tape *t = d->t;
    int rc = 0;
    for (uint32_t l = t->config.dec_layers; l-- > 0 && !rc;) {
        rc = decoder_layer_backward(d, l, &w->dec[l], &g->dec[l], err);
        tell(d, l);
    }
    /* Rows of the same id add to one row of the table, in order. */
    if (!rc)
        dg_embedding_backward(d, &t->target, w->tgt_embed, g->tgt_embed, g->tgt_pos);
    return rc;
}

static int encoder_backward(
    const struct dg_down *d, const struct dg_params *w, struct dg_params *g, struct dg_error *err)
{
    struct dg_tape *t = d->t;
    int rc = 0;
    for (uint32_t l = t->config.enc_layers; l-- > 0 && !rc;) {
        const struct dg_enc_slots *s = &t->enc[l];
        dg_ffn_backward(d, l, &w->enc[l].ffn, &g->enc[l].ffn, s->self.norm.y, &s->ffn);
        rc = dg_self_backward(
            d, l, &w->enc[l].self, &g->enc[l].self, encoder_input(t, l), &s->self, err);
        if (!rc && t->config.pre_norm && l == 0)
            dg_begin_backward(d, &w->enc[0].self.norm, &g->enc[0].self.norm, &s->begin);
        tell(d, l);
    }
    if (!rc)
        dg_embedding_backward(d, &t->source, w->src_embed, g->src_embed, g->src_pos);
    return rc;
}

/* Run the embeddings and both stacks forward; gives the memory and the decoder's output. */
static void forward(struct dg_tape *t, const struct dg_params *w, const struct dg_dropouts drops[2],
    bool drop, struct dg_rows *memory, struct dg_rows *y)
{
    const struct dg_config *c = &t->config;
    /* The encoder: source rows, [S,D]. */
    struct dg_pass pass = {t->train->be, c, drop ? &drops[0] : NULL, t->source.M};
    struct dg_segs segs = {.segs = t->source.self, .n = t->n};
    dg_embedding_forward(&pass, 0, w, &t->positions, t->source.ids, t->source.pos, t->source.embed);
    *memory = dg_encoder_forward(&pass, w, &segs, t->source.embed, t->enc, 1);

    /* The decoder: target rows, [T,D]. No cache: each layer computes keys and values of the whole
     * memory, and backward reads them. */
    struct dg_context context = {.self = {.segs = t->target.self, .n = t->n},
        .cross = {.segs = t->cross, .n = t->n},
        .memory = *memory,
        .R = t->source.M};
    pass.drop = drop ? &drops[1] : NULL;
    pass.M = t->target.M;
    dg_embedding_forward(&pass, 1, w, &t->positions, t->target.ids, t->target.pos, t->target.embed);
    *y = dg_decoder_forward(&pass, w, &context, t->target.embed, t->dec, 1);
}

/* Check that the device can guide alignments and that the model has the guided layer and heads. */
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
    /* A rank whose share of the batch is empty adds nothing. */
    if (rc || !pairs->n)
        return rc;
    /* Masks are drawn from seed, update, site and sentence: a resumed run drops the same ones. */
    uint32_t key = dg_dropout_hash(
        dg_dropout_hash((uint32_t)o->seed, (uint32_t)(o->seed >> 32)), (uint32_t)o->step);
    struct dg_dropouts drops[2] = {
        {o->dropout, o->attention_dropout, o->act_dropout, key, t->source.row_key},
        {o->dropout, o->attention_dropout, o->act_dropout, key, t->target.row_key}};
    /* Validation has no gradients, and drops nothing. */
    const bool drop = grads && (o->dropout > 0 || o->attention_dropout > 0 || o->act_dropout > 0);
    struct dg_rows memory, y;
    forward(t, w, drops, drop, &memory, &y);
    rc = dg_loss_output(t, w, grads, o, y, sums, err);
    if (rc || !grads)
        return rc;
    /* Backward through the decoder, from the gradient that the loss left in scratch.dx. */
    struct dg_guide guide = {.links = pairs->links, .first = pairs->first_link, .sums = sums};
    struct dg_down down = {.t = t,
        .watch = o->watch,
        .drop = drop ? &drops[1] : NULL,
        .side = 1,
        .M = t->target.M,
        .dx = t->scratch.dx,
        .dstream = t->scratch.dstream,
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
    /* Backward through the encoder: the gradient of its output is the sum over all
     * cross-attentions. */
    const struct dg_down up = {.t = t,
        .watch = o->watch,
        .drop = drop ? &drops[0] : NULL,
        .M = t->source.M,
        .dx = t->scratch.dmemory,
        .dstream = t->scratch.dstream};
    return encoder_backward(&up, w, grads, err);
}
