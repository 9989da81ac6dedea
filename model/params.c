#include "model/params.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum where { TOP, ENC, DEC };

/* Dimensions by letter, so that the table reads like the paper: see dim(). */
enum dim {
    ONE,
    DIM_D,
    DIM_F,
    DIM_DEC_F,
    DIM_2D,
    DIM_VS,
    DIM_VT,
    DIM_P,
    DIM_QKV,
    DIM_Q,
    DIM_KV,
    DIM_V
};

enum needs {
    ALWAYS,
    UNTIED_EMBED,
    UNTIED_OUTPUT,
    OUTPUT_BIAS,
    LEARNED,
    ATTENTION_BIAS,
    PRE_NORM,
    SELF,
    SELF_BIAS,
    SSRU
};

struct row {
    enum where where;
    const char *name;
    /* in struct dg_params, or in a layer's struct */
    size_t offset;
    enum dim N, K;
    unsigned use;
    enum needs needs;
};

#define MAT DG_USE_MATRIX
#define VEC DG_USE_VECTOR
#define TAB DG_USE_TABLE
#define P(f) offsetof(struct dg_params, f)
#define E(f) offsetof(struct dg_enc_params, f)
#define D(f) offsetof(struct dg_dec_params, f)

static const struct row table[] = {
    {TOP, "src.embed", P(src_embed), DIM_VS, DIM_D, TAB, ALWAYS},
    {TOP, "tgt.embed", P(tgt_embed), DIM_VT, DIM_D, TAB, UNTIED_EMBED},
    {TOP, "out.w", P(out_w), DIM_VT, DIM_D, MAT, UNTIED_OUTPUT},
    {TOP, "out.b", P(out_b), ONE, DIM_VT, VEC, OUTPUT_BIAS},
    {TOP, "src.pos", P(src_pos), DIM_P, DIM_D, TAB, LEARNED},
    {TOP, "tgt.pos", P(tgt_pos), DIM_P, DIM_D, TAB, LEARNED},
    {TOP, "src.norm.gain", P(src_norm.gain), ONE, DIM_D, VEC, PRE_NORM},
    {TOP, "src.norm.bias", P(src_norm.bias), ONE, DIM_D, VEC, PRE_NORM},
    {TOP, "tgt.norm.gain", P(tgt_norm.gain), ONE, DIM_D, VEC, PRE_NORM},
    {TOP, "tgt.norm.bias", P(tgt_norm.bias), ONE, DIM_D, VEC, PRE_NORM},

    {ENC, "self.qkv.w", E(self.qkv_w), DIM_QKV, DIM_D, MAT, ALWAYS},
    {ENC, "self.qkv.b", E(self.qkv_b), ONE, DIM_QKV, VEC, ATTENTION_BIAS},
    {ENC, "self.out.w", E(self.out_w), DIM_D, DIM_V, MAT, ALWAYS},
    {ENC, "self.out.b", E(self.out_b), ONE, DIM_D, VEC, ATTENTION_BIAS},
    {ENC, "self.norm.gain", E(self.norm.gain), ONE, DIM_D, VEC, ALWAYS},
    {ENC, "self.norm.bias", E(self.norm.bias), ONE, DIM_D, VEC, ALWAYS},
    {ENC, "ffn.w1", E(ffn.w1), DIM_F, DIM_D, MAT, ALWAYS},
    {ENC, "ffn.b1", E(ffn.b1), ONE, DIM_F, VEC, ALWAYS},
    {ENC, "ffn.w2", E(ffn.w2), DIM_D, DIM_F, MAT, ALWAYS},
    {ENC, "ffn.b2", E(ffn.b2), ONE, DIM_D, VEC, ALWAYS},
    {ENC, "ffn.norm.gain", E(ffn.norm.gain), ONE, DIM_D, VEC, ALWAYS},
    {ENC, "ffn.norm.bias", E(ffn.norm.bias), ONE, DIM_D, VEC, ALWAYS},

    {DEC, "self.qkv.w", D(self.qkv_w), DIM_QKV, DIM_D, MAT, SELF},
    {DEC, "self.qkv.b", D(self.qkv_b), ONE, DIM_QKV, VEC, SELF_BIAS},
    {DEC, "self.out.w", D(self.out_w), DIM_D, DIM_V, MAT, SELF},
    {DEC, "self.out.b", D(self.out_b), ONE, DIM_D, VEC, SELF_BIAS},
    {DEC, "self.norm.gain", D(self.norm.gain), ONE, DIM_D, VEC, SELF},
    {DEC, "self.norm.bias", D(self.norm.bias), ONE, DIM_D, VEC, SELF},
    {DEC, "ssru.w", D(ssru.w), DIM_2D, DIM_D, MAT, SSRU},
    {DEC, "ssru.b", D(ssru.b), ONE, DIM_2D, VEC, SSRU},
    {DEC, "ssru.norm.gain", D(self.norm.gain), ONE, DIM_D, VEC, SSRU},
    {DEC, "ssru.norm.bias", D(self.norm.bias), ONE, DIM_D, VEC, SSRU},
    {DEC, "cross.q.w", D(cross.q_w), DIM_Q, DIM_D, MAT, ALWAYS},
    {DEC, "cross.q.b", D(cross.q_b), ONE, DIM_Q, VEC, ATTENTION_BIAS},
    {DEC, "cross.kv.w", D(cross.kv_w), DIM_KV, DIM_D, MAT, ALWAYS},
    {DEC, "cross.kv.b", D(cross.kv_b), ONE, DIM_KV, VEC, ATTENTION_BIAS},
    {DEC, "cross.out.w", D(cross.out_w), DIM_D, DIM_V, MAT, ALWAYS},
    {DEC, "cross.out.b", D(cross.out_b), ONE, DIM_D, VEC, ATTENTION_BIAS},
    {DEC, "cross.norm.gain", D(cross.norm.gain), ONE, DIM_D, VEC, ALWAYS},
    {DEC, "cross.norm.bias", D(cross.norm.bias), ONE, DIM_D, VEC, ALWAYS},
    {DEC, "ffn.w1", D(ffn.w1), DIM_DEC_F, DIM_D, MAT, ALWAYS},
    {DEC, "ffn.b1", D(ffn.b1), ONE, DIM_DEC_F, VEC, ALWAYS},
    {DEC, "ffn.w2", D(ffn.w2), DIM_D, DIM_DEC_F, MAT, ALWAYS},
    {DEC, "ffn.b2", D(ffn.b2), ONE, DIM_D, VEC, ALWAYS},
    {DEC, "ffn.norm.gain", D(ffn.norm.gain), ONE, DIM_D, VEC, ALWAYS},
    {DEC, "ffn.norm.bias", D(ffn.norm.bias), ONE, DIM_D, VEC, ALWAYS},
};
enum { ROWS = sizeof table / sizeof *table };

#undef MAT
#undef VEC
#undef TAB
#undef P
#undef E
#undef D

static uint32_t dim(const struct dg_config *c, enum dim d)
{
    switch (d) {
    case ONE: return 1;
    case DIM_D: return c->D;
    case DIM_F: return c->F;
    case DIM_DEC_F: return dg_config_dec_F(c);
    case DIM_2D: return 2 * c->D;
    case DIM_VS: return c->source_vocab;
    case DIM_VT: return c->target_vocab;
    case DIM_P: return c->max_positions;
    case DIM_QKV: return 2 * c->H * c->Dk + c->H * c->Dv;
    case DIM_Q: return c->H * c->Dk;
    case DIM_KV: return c->H * c->Dk + c->H * c->Dv;
    case DIM_V: return c->H * c->Dv;
    }
    return 0;
}

static bool has(const struct dg_config *c, enum needs needs)
{
    switch (needs) {
    case ALWAYS: return true;
    case UNTIED_EMBED: return !c->tied_embeddings;
    case UNTIED_OUTPUT: return !c->tied_output;
    case OUTPUT_BIAS: return c->output_bias;
    case LEARNED: return c->positions == DG_POS_LEARNED;
    case ATTENTION_BIAS: return c->attention_bias;
    case PRE_NORM: return c->pre_norm;
    case SELF: return c->decoder == DG_DECODER_ATTENTION;
    case SELF_BIAS: return c->decoder == DG_DECODER_ATTENTION && c->attention_bias;
    case SSRU: return c->decoder == DG_DECODER_SSRU;
    }
    return false;
}

static uint32_t layers(const struct dg_config *c, enum where where)
{
    return where == TOP ? 1 : where == ENC ? c->enc_layers : c->dec_layers;
}

const char *dg_params_output(const struct dg_config *c)
{
    return !c->tied_output ? "out.w" : c->tied_embeddings ? "src.embed" : "tgt.embed";
}

/* Describe a row's parameter, of layer l. */
static void describe(
    const struct dg_config *c, const struct row *r, uint32_t l, struct dg_param_info *out)
{
    static const struct {
        const char *name;
        size_t first, size;
    } stacks[] = {
        [ENC] = {"encoder", offsetof(struct dg_params, enc), sizeof(struct dg_enc_params)},
        [DEC] = {"decoder", offsetof(struct dg_params, dec), sizeof(struct dg_dec_params)},
    };
    out->N = dim(c, r->N);
    out->K = dim(c, r->K);
    /* The pre-softmax matrix may be a table, too. */
    out->use = r->use | (strcmp(r->name, dg_params_output(c)) ? 0 : DG_USE_MATRIX);
    out->offset = stacks[r->where].first + l * stacks[r->where].size + r->offset;
    out->stack = stacks[r->where].name;
    out->part = r->name;
    out->layer = l;
    if (r->where == TOP)
        snprintf(out->name, sizeof out->name, "%s", r->name);
    else
        snprintf(out->name, sizeof out->name, "%.3s.%u.%s", out->stack, l, r->name);
}

/* Describe parameter `stop` in *out; returns the number of parameters up to it (stop = SIZE_MAX:
 * all of them). Layers are outermost, so that each layer is contiguous in the file. */
static size_t walk(const struct dg_config *c, size_t stop, struct dg_param_info *out)
{
    size_t i = 0;
    for (enum where where = TOP; where <= DEC; where++)
        for (uint32_t l = 0; l < layers(c, where); l++)
            for (const struct row *r = table; r < table + ROWS; r++)
                if (r->where == where && has(c, r->needs) && i++ == stop) {
                    describe(c, r, l, out);
                    return i;
                }
    return i;
}

size_t dg_params_count(const struct dg_config *c)
{
    return walk(c, SIZE_MAX, NULL);
}

void dg_params_info(const struct dg_config *c, size_t i, struct dg_param_info *out)
{
    assert(i < dg_params_count(c));
    walk(c, i, out);
}

uint64_t dg_params_elements(const struct dg_config *c)
{
    uint64_t n = 0;
    for (const struct row *r = table; r < table + ROWS; r++)
        if (has(c, r->needs))
            n += (uint64_t)layers(c, r->where) * dim(c, r->N) * dim(c, r->K);
    return n;
}

struct dg_weight **dg_params_slot(struct dg_params *p, const struct dg_param_info *info)
{
    return (struct dg_weight **)(void *)((char *)p + info->offset);
}

/* Set the norm that each sublayer ends with, from the last sublayer back. */
static void tie_norms(const struct dg_config *c, struct dg_params *p)
{
    const bool pre = c->pre_norm;
    struct dg_norm_params next = p->src_norm;
    for (uint32_t l = c->enc_layers; l-- > 0;) {
        struct dg_enc_params *e = &p->enc[l];
        e->ffn.end = pre ? next : e->ffn.norm;
        e->self.end = pre ? e->ffn.norm : e->self.norm;
        next = e->self.norm;
    }
    next = p->tgt_norm;
    for (uint32_t l = c->dec_layers; l-- > 0;) {
        struct dg_dec_params *d = &p->dec[l];
        d->ffn.end = pre ? next : d->ffn.norm;
        d->cross.end = pre ? d->ffn.norm : d->cross.norm;
        d->self.end = pre ? d->cross.norm : d->self.norm;
        next = d->self.norm;
    }
}

void dg_params_tie(const struct dg_config *c, struct dg_params *p)
{
    tie_norms(c, p);
    if (c->tied_embeddings)
        p->tgt_embed = p->src_embed;
    if (c->tied_output)
        p->out_w = p->tgt_embed;
}
