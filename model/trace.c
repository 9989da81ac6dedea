#include "model/trace.h"
#include "model/layers/layers.h"
#include "model/model_internal.h"
#include "model/layers/workspace.h"

#include <stdlib.h>
#include <string.h>

/* All that is allocated to trace one pair, on the device and on the host. */
struct pass {
    const struct dg_model *m;
    struct dg_backend *be;
    struct dg_workspace ws;
    /* probs: encoder self, decoder self, cross: all layers */
    struct dg_buf *memory, *kv, *logits, *probs[3];
    struct dg_enc_slots *enc;
    struct dg_dec_slots *dec;
    int32_t *ids, *pos;
    uint32_t *want;
    int32_t *top;
};

static void pass_close(struct pass *p)
{
    struct dg_buf *bufs[] = {p->memory, p->kv, p->logits, p->probs[0], p->probs[1], p->probs[2]};
    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
        p->be->ops->buf_free(p->be, bufs[i]);
    dg_workspace_close(&p->ws);
    free(p->enc);
    free(p->dec);
    free(p->ids);
    free(p->pos);
    free(p->want);
    free(p->top);
}

/* Allocate the logits and each layer's attention weights. */
static int pass_open_probs(struct pass *p, uint32_t S, uint32_t T, struct dg_error *err)
{
    const struct dg_config *c = &p->m->config;
    const struct dg_ops *ops = p->be->ops;
    const size_t H = c->H, dec_H = dg_config_dec_H(c);
    int rc;
    if ((rc = ops->buf_new_wide(p->be, T * dg_logits_ld(c), &p->logits, err)) ||
        (rc = ops->buf_new(p->be, c->enc_layers * H * S * S, &p->probs[0], err)) ||
        (rc = ops->buf_new(p->be, c->dec_layers * dec_H * T * T, &p->probs[1], err)) ||
        (rc = ops->buf_new(p->be, c->dec_layers * dec_H * T * S, &p->probs[2], err)))
        return rc;
    for (uint32_t l = 0; l < c->enc_layers; l++)
        p->enc[l].self.probs = (struct dg_rows){p->probs[0], l * H * S * S, 1};
    for (uint32_t l = 0; l < c->dec_layers; l++) {
        p->dec[l].self.probs = (struct dg_rows){p->probs[1], l * dec_H * T * T, 1};
        p->dec[l].cross.probs = (struct dg_rows){p->probs[2], l * dec_H * T * S, 1};
    }
    return 0;
}

static int pass_open(struct pass *p, uint32_t S, uint32_t T, struct dg_error *err)
{
    const struct dg_config *c = &p->m->config;
    size_t H = c->H, most = S > T ? S : T, width = H * c->Dk + H * c->Dv;
    const struct dg_ops *ops = p->be->ops;
    int rc;
    if ((rc = dg_workspace_open(&p->ws, p->be, c, most, err)) ||
        (rc = ops->buf_new(p->be, (size_t)S * c->D, &p->memory, err)) ||
        (rc = ops->buf_new(p->be, (size_t)S * width, &p->kv, err)))
        return rc;
    p->enc = calloc(c->enc_layers, sizeof *p->enc);
    p->dec = calloc(c->dec_layers, sizeof *p->dec);
    p->ids = malloc(most * sizeof *p->ids);
    p->pos = malloc(most * sizeof *p->pos);
    p->want = malloc(most * sizeof *p->want);
    p->top = malloc(most * sizeof *p->top);
    if (!p->enc || !p->dec || !p->ids || !p->pos || !p->want || !p->top)
        return dg_error_set(err, DG_ENOMEM, "no memory to trace %u by %u pieces", S, T);
    for (uint32_t l = 0; l < c->enc_layers; l++)
        p->enc[l] = p->ws.enc;
    for (uint32_t l = 0; l < c->dec_layers; l++) {
        p->dec[l] = p->ws.dec;
        p->dec[l].cross.kv = (struct dg_rows){p->kv, 0, width};
    }
    return pass_open_probs(p, S, T, err);
}

static void encode(struct pass *p, const int32_t *source, uint32_t S, struct dg_rows memory)
{
    const struct dg_model *m = p->m;
    struct dg_attn_seg seg = {.n_q = S, .n_k = S};
    struct dg_segs segs = {.segs = &seg, .n = 1};
    struct dg_pass pass = {.be = p->be, .config = &p->m->config, .M = S};
    for (uint32_t i = 0; i < S; i++)
        p->pos[i] = (int32_t)i;
    dg_embedding_forward(&pass, 0, &m->params, &m->positions, source, p->pos, p->ws.x);
    /* The last layer writes the memory to a buffer of its own, because the decoder reuses the
     * workspace. */
    p->enc[m->config.enc_layers - 1].ffn.norm.y = memory;
    dg_encoder_forward(&pass, &m->params, &segs, p->ws.x, p->enc, 1);
}

static void decode(struct pass *p, const int32_t *target, uint32_t S, uint32_t T,
    struct dg_rows memory, float *logprob)
{
    const struct dg_model *m = p->m;
    struct dg_attn_seg self = {.n_q = T, .n_k = T, .causal = true}, cross = {.n_q = T, .n_k = S};
    struct dg_context c = {.self = {.segs = &self, .n = 1},
        .cross = {.segs = &cross, .n = 1},
        .memory = memory,
        .R = S};
    struct dg_pass pass = {.be = p->be, .config = &p->m->config, .M = T};
    struct dg_rows logits = {p->logits, 0, dg_logits_ld(&m->config)};
    for (uint32_t i = 0; i < T; i++) {
        p->ids[i] = i ? target[i - 1] : m->config.start;
        p->pos[i] = (int32_t)i;
        p->want[i] = 1;
    }
    dg_embedding_forward(&pass, 1, &m->params, &m->positions, p->ids, p->pos, p->ws.x);
    struct dg_rows y = dg_decoder_forward(&pass, &m->params, &c, p->ws.x, p->dec, 1);
    dg_output_forward(&pass, &m->params, y, logits);
    struct dg_topk top = {.V = m->config.target_vocab,
        .k_max = 1,
        .k = p->want,
        .force = target,
        .logprob = logprob,
        .ids = p->top};
    p->be->ops->topk(p->be, &top, logits, T);
}

static int read_out(struct pass *p, struct dg_trace *out, struct dg_error *err)
{
    size_t S = out->S, T = out->T, H = out->dec_H;
    size_t n[3] = {
        out->enc_layers * out->H * S * S, out->dec_layers * H * T * T, out->dec_layers * H * T * S};
    float **to[3] = {&out->enc_self, &out->dec_self, &out->cross};
    for (int i = 0; i < 3; i++) {
        *to[i] = malloc(n[i] * sizeof(float));
        if (!*to[i])
            return dg_error_set(err, DG_ENOMEM, "no memory for attention weights");
        p->be->ops->read(p->be, (struct dg_rows){p->probs[i], 0, n[i]}, 1, n[i], *to[i]);
    }
    return 0;
}

static int check(const struct dg_model *m, uint32_t S, uint32_t T, struct dg_error *err)
{
    if (!S || !T || S > m->positions.n || T > m->positions.n)
        return dg_error_set(err, DG_ELIMIT, "%u source and %u target pieces: each must be 1..%u", S,
            T, m->positions.n);
    return 0;
}

int dg_trace_run(const struct dg_model *m, struct dg_backend *be, const struct dg_trace_ids *ids,
    struct dg_trace *out, struct dg_error *err)
{
    const struct dg_config *c = &m->config;
    const uint32_t S = ids->S, T = ids->T;
    memset(out, 0, sizeof *out);
    int rc = check(m, S, T, err);
    if (rc)
        return rc;
    *out = (struct dg_trace){.S = S,
        .T = T,
        .H = c->H,
        .dec_H = dg_config_dec_H(c),
        .enc_layers = c->enc_layers,
        .dec_layers = c->dec_layers};
    struct pass p = {.m = m, .be = be};
    if ((rc = pass_open(&p, S, T, err)) != 0)
        goto out;
    out->logprob = malloc(T * sizeof *out->logprob);
    if (!out->logprob) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %u log-probabilities", T);
        goto out;
    }
    struct dg_rows memory = {p.memory, 0, c->D};
    encode(&p, ids->source, S, memory);
    decode(&p, ids->target, S, T, memory, out->logprob);
    rc = read_out(&p, out, err);
out:
    pass_close(&p);
    if (rc)
        dg_trace_deinit(out);
    return rc;
}

void dg_trace_deinit(struct dg_trace *t)
{
    free(t->logprob);
    free(t->enc_self);
    free(t->dec_self);
    free(t->cross);
    memset(t, 0, sizeof *t);
}
