/* Where each layer's activations are: what forward fills and backward reads. */
#include "model/train/tape_internal.h"

static struct dg_rows take(struct dg_tape_cursor *c, size_t M, size_t N)
{
    struct dg_rows r = {c->buf, c->at, N};
    /* Each begins at a multiple of 16 elements, where wide loads are aligned. */
    c->at += (M * N + 15) / 16 * 16;
    return r;
}

static struct dg_rows take_wide(struct dg_tape_cursor *c, size_t M, size_t N)
{
    struct dg_rows r = {c->wide, c->wide_at, N};
    c->wide_at += (M * N + 15) / 16 * 16;
    return r;
}

/* stream: the side's, shared by all layers, since no norm's backward reads it. */
static void take_norm(
    struct dg_tape_cursor *c, struct dg_norm_slots *s, size_t M, size_t D, struct dg_rows stream)
{
    s->stream = stream;
    s->y = take(c, M, D);
    s->xhat = take(c, M, D);
    s->rstd = take_wide(c, M, 1);
}

/* Rows that all layers of a side share. */
struct shared {
    /* [M,D] a sublayer's output, needed only until its norm */
    struct dg_rows sub;
    /* [M,D] or none */
    struct dg_rows stream;
};

static void take_self(struct dg_tape_cursor *c, const struct dg_config *m, struct dg_self_slots *s,
    size_t M, size_t pairs, const struct shared *side)
{
    /* Queries, keys and values side by side, as one product makes them. */
    s->qkv = take(c, M, 2 * (size_t)m->H * m->Dk + (size_t)m->H * m->Dv);
    /* One row of all segments' [H,n_q,n_k]: the segments know where theirs begin. */
    s->probs = take(c, 1, pairs * m->H);
    s->context = take(c, M, (size_t)m->H * m->Dv);
    s->sub = side->sub;
    take_norm(c, &s->norm, M, m->D, side->stream);
}

static void take_ssru(struct dg_tape_cursor *c, const struct dg_config *m, struct dg_self_slots *s,
    size_t M, const struct shared *side)
{
    s->qkv = take(c, M, 2 * (size_t)m->D);
    s->sub = side->sub;
    take_norm(c, &s->norm, M, m->D, side->stream);
}

static void take_cross(struct dg_tape_cursor *c, const struct dg_config *m,
    struct dg_cross_slots *s, const struct dg_tape_sizes *n, const struct shared *side)
{
    /* Queries are the target's rows, keys and values the source's. */
    s->q = take(c, n->T, (size_t)m->H * m->Dk);
    s->kv = take(c, n->S, (size_t)m->H * m->Dk + (size_t)m->H * m->Dv);
    s->probs = take(c, 1, n->cross * m->H);
    s->context = take(c, n->T, (size_t)m->H * m->Dv);
    s->sub = side->sub;
    take_norm(c, &s->norm, n->T, m->D, side->stream);
}

static void take_ffn(struct dg_tape_cursor *c, const struct dg_tape *t, struct dg_ffn_slots *s,
    size_t M, const struct shared *side)
{
    const struct dg_config *m = &t->config;
    /* ReLU's derivative follows from its output, so it keeps no input. */
    s->pre =
        m->act == DG_ACT_RELU || m->act == DG_ACT_NONE ? (struct dg_rows){0} : take(c, M, m->F);
    s->mask = m->act == DG_ACT_RELU && t->train->ops->masks ? take(c, M, dg_relu_mask_ld(m->F))
                                                            : (struct dg_rows){0};
    s->hidden = take(c, M, m->F);
    s->sub = side->sub;
    take_norm(c, &s->norm, M, m->D, side->stream);
}

static void take_scratch(struct dg_tape_cursor *c, const struct dg_config *m,
    const struct dg_tape_sizes *n, struct dg_tape_scratch *s)
{
    const size_t hdk = (size_t)m->H * m->Dk, hdv = (size_t)m->H * m->Dv,
                 R = n->S > n->T ? n->S : n->T,
                 ssru = m->decoder == DG_DECODER_SSRU ? 2 * (size_t)m->D : 0;
    /* R rows: the decoder's pass uses them first, then the encoder's. */
    s->dx = take(c, R, m->D);
    s->dmemory = take(c, n->S, m->D);
    s->dstream = m->pre_norm ? take(c, R, m->D) : (struct dg_rows){0};
    s->dsub = take(c, R, m->D);
    s->dhidden = take(c, R, m->F);
    s->dcontext = take(c, R, hdv);
    s->dqkv = take(c, R, ssru > 2 * hdk + hdv ? ssru : 2 * hdk + hdv);
    s->dq = take(c, n->T, hdk);
    s->dkv = take(c, n->S, hdk + hdv);
    s->logits = take(c, n->chunk, dg_logits_ld(m));
}

static void lay_out_encoder(
    struct dg_tape *t, const struct dg_tape_sizes *n, struct dg_tape_cursor *c)
{
    const struct dg_config *m = &t->config;
    struct shared side = {.sub = t->scratch.dsub};
    if (m->pre_norm) {
        take_norm(c, &t->enc[0].begin, n->S, m->D, side.stream);
        side.stream = t->source.embed;
    }
    for (uint32_t l = 0; l < m->enc_layers; l++) {
        take_self(c, m, &t->enc[l].self, n->S, n->self_s, &side);
        take_ffn(c, t, &t->enc[l].ffn, n->S, &side);
    }
}

static void lay_out_decoder(
    struct dg_tape *t, const struct dg_tape_sizes *n, struct dg_tape_cursor *c)
{
    const struct dg_config *m = &t->config;
    struct shared side = {.sub = t->scratch.dsub};
    if (m->pre_norm) {
        take_norm(c, &t->dec[0].begin, n->T, m->D, side.stream);
        side.stream = t->target.embed;
    }
    for (uint32_t l = 0; l < m->dec_layers; l++) {
        if (m->decoder == DG_DECODER_SSRU)
            take_ssru(c, m, &t->dec[l].self, n->T, &side);
        else
            take_self(c, m, &t->dec[l].self, n->T, n->self_t, &side);
        take_cross(c, m, &t->dec[l].cross, n, &side);
        take_ffn(c, t, &t->dec[l].ffn, n->T, &side);
    }
}

struct dg_tape_cursor dg_tape_lay_out(struct dg_tape *t, const struct dg_tape_sizes *n)
{
    const struct dg_config *m = &t->config;
    struct dg_tape_cursor c = {t->buf, t->wide, 0, 0};
    take_scratch(&c, m, n, &t->scratch);
    t->source.embed = take(&c, n->S, m->D);
    t->target.embed = take(&c, n->T, m->D);
    /* Every layer has slots of its own, because backward reads them. */
    lay_out_encoder(t, n, &c);
    lay_out_decoder(t, n, &c);
    return c;
}
