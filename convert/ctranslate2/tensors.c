#include "convert/ctranslate2/tensors.h"

#include "convert/ctranslate2/settings.h"
#include "model/params.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define WRONG(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)
#define UNSUPPORTED(field, ...) dg_error_field(err, DG_EUNSUP, field, __VA_ARGS__)

enum { MOST_POSITIONS = 2048 }; /* rows of a table that are kept: what the engine uses of it */

/* Variables that only unsupported kinds of models have. */
static const struct {
    const char *pattern, *what;
} others[] = {{"*relative_position*", "relative positions"},
    {"*relative_attention*", "relative positions"}, {"*rotary*", "rotary positions"},
    {"*alibi*", "ALiBi positions"}, {"*linear_0_noact*", "a gated feed-forward network"},
    {"*layernorm_embedding*", "a norm of the embeddings"}, {"*queries_scale*", "scaled queries"},
    {"*num_heads_kv*", "grouped keys"}, {"*embeddings_1/*", "source factors"},
    {"*/q_norm/*", "norms of queries"}, {"*/k_norm/*", "norms of keys"}};

static const struct dg_ct2_variable *find(const struct dg_ct2 *m, const char *format, unsigned i)
{
    char name[128];
    snprintf(name, sizeof name, format, i);
    return dg_ct2_find(m, name);
}

/* Read a number that each side has, or the file as a whole (before revision 5). */
static bool read_scalar(const struct dg_ct2 *m, const char *side, const char *name, float *out)
{
    char full[128];
    snprintf(full, sizeof full, "%s/%s", side, name);
    const struct dg_ct2_variable *v = dg_ct2_find(m, full);
    if (!v)
        v = dg_ct2_find(m, name);
    if (!v || v->count != 1)
        return false;
    dg_ct2_read(v, out);
    return true;
}

static int check_kind(const struct dg_ct2 *m, struct dg_error *err)
{
    if (strcmp(dg_ct2_spec(m), "TransformerSpec") != 0)
        return UNSUPPORTED(
            "model.bin", "model.bin is a %.60s, only TransformerSpec is supported", dg_ct2_spec(m));
    for (size_t i = 0; i < dg_ct2_count(m); i++)
        for (size_t k = 0; k < COUNT(others); k++) {
            const struct dg_ct2_variable *v = dg_ct2_at(m, i);
            float value = 1;
            if (fnmatch(others[k].pattern, v->name, 0) != 0)
                continue;
            if (v->count == 1)
                dg_ct2_read(v, &value);
            if (v->count > 1 || value != 0) /* a switch that is off is fine */
                return UNSUPPORTED(
                    v->name, "variable %s: %s, which are not supported", v->name, others[k].what);
        }
    return 0;
}

static const struct dg_ct2_variable *source_table(const struct dg_ct2 *m)
{
    const struct dg_ct2_variable *v = dg_ct2_find(m, "encoder/embeddings_0/weight");
    return v ? v : dg_ct2_find(m, "encoder/embeddings/weight");
}

static const struct dg_ct2_variable *target_table(const struct dg_ct2 *m)
{
    const struct dg_ct2_variable *v = dg_ct2_find(m, "decoder/embeddings/weight");
    return v ? v : dg_ct2_find(m, "decoder/embeddings_0/weight");
}

static int read_dims(const struct dg_ct2 *m, struct dg_config *c, struct dg_error *err)
{
    const struct dg_ct2_variable *source = source_table(m), *target = target_table(m),
                                 *output = dg_ct2_find(m, "decoder/projection/weight"),
                                 *inner = dg_ct2_find(m, "encoder/layer_0/ffn/linear_0/weight"),
                                 *dec_inner = dg_ct2_find(m, "decoder/layer_0/ffn/linear_0/weight");
    float heads = 8, dec_heads = 8; /* defaults for a file without num_heads */
    if (!source || !target || !output || !inner || !dec_inner || source->n_dims != 2 ||
        target->n_dims != 2 || inner->n_dims != 2 || dec_inner->n_dims != 2)
        return WRONG("model.bin", "the embeddings, the projection or the first layers are missing");
    c->source_vocab = (uint32_t)source->shape[0];
    c->target_vocab = (uint32_t)target->shape[0];
    c->D = (uint32_t)source->shape[1];
    c->F = (uint32_t)inner->shape[0];
    c->dec_F = dec_inner->shape[0] == c->F ? 0 : (uint32_t)dec_inner->shape[0];
    for (c->enc_layers = 0; find(m, "encoder/layer_%u/ffn/linear_0/weight", c->enc_layers);)
        c->enc_layers++;
    for (c->dec_layers = 0; find(m, "decoder/layer_%u/ffn/linear_0/weight", c->dec_layers);)
        c->dec_layers++;
    read_scalar(m, "encoder", "num_heads", &heads);
    read_scalar(m, "decoder", "num_heads", &dec_heads);
    if (!(heads >= 1 && heads <= 1024 && dec_heads >= 1 && dec_heads <= 1024) ||
        c->D % (uint32_t)heads || c->D % (uint32_t)dec_heads)
        return WRONG("num_heads", "%g and %g heads do not divide %u", (double)heads,
            (double)dec_heads, c->D);
    c->H = (uint32_t)heads;
    c->dec_H = heads == dec_heads ? 0 : (uint32_t)dec_heads;
    c->Dk = c->Dv = c->D / c->H;
    c->tied_embeddings = source->data == target->data;
    c->tied_output = target->data == output->data;
    c->output_bias = dg_ct2_find(m, "decoder/projection/bias") != NULL;
    c->attention_bias = dg_ct2_find(m, "encoder/layer_0/self_attention/linear_0/bias") != NULL;
    return 0;
}

/* The scale is stored as a flag (times √D or not), or as the factor itself. */
static float embed_scale(const struct dg_ct2 *m, const char *side, uint32_t D)
{
    char name[64];
    float value = 1;
    snprintf(name, sizeof name, "%s/scale_embeddings", side);
    const struct dg_ct2_variable *v = dg_ct2_find(m, name);
    if (!v) {
        snprintf(name, sizeof name, "%s/embeddings/multiply_by_sqrt_depth", side);
        v = dg_ct2_find(m, name);
    }
    if (v && v->count == 1)
        dg_ct2_read(v, &value);
    return v && v->type == DG_CT2_F32 ? value : value != 0 ? sqrtf((float)D) : 1;
}

static int read_conventions(
    const struct dg_ct2 *m, struct dg_config *c, bool *zero_start, struct dg_error *err)
{
    static const enum dg_act acts[] = {DG_ACT_RELU, DG_ACT_NONE, DG_ACT_SWISH, DG_ACT_GELU};
    float pre[2] = {1, 1}, act[2] = {0}, zero = 0; /* defaults for a file without them */
    const char *const sides[] = {"encoder", "decoder"};
    for (int i = 0; i < 2; i++) {
        read_scalar(m, sides[i], "pre_norm", &pre[i]);
        read_scalar(m, sides[i], "activation", &act[i]);
    }
    read_scalar(m, "decoder", "start_from_zero_embedding", &zero);
    if (act[0] != act[1] || act[0] < 0 || act[0] >= (float)COUNT(acts) ||
        acts[(int)act[0]] == DG_ACT_NONE)
        return UNSUPPORTED("activation",
            "activation is %g and %g; relu (0), swish (2) and gelu by erf (3) are supported",
            (double)act[0], (double)act[1]);
    c->act = acts[(int)act[0]];
    c->pre_norm = pre[0] != 0;
    if ((pre[0] != 0) != (pre[1] != 0) ||
        c->pre_norm != (dg_ct2_find(m, "encoder/layer_norm/gamma") != NULL) ||
        c->pre_norm != (dg_ct2_find(m, "decoder/layer_norm/gamma") != NULL))
        return UNSUPPORTED("pre_norm",
            "pre_norm is %g and %g: last norms belong to pre-norm stacks, on both sides",
            (double)pre[0], (double)pre[1]);
    c->embed_scale = embed_scale(m, "encoder", c->D);
    if (c->embed_scale != embed_scale(m, "decoder", c->D))
        return UNSUPPORTED(
            "scale_embeddings", "encoder and decoder scale their embeddings differently");
    *zero_start = zero != 0;
    return 0;
}

static int read_positions(const struct dg_ct2 *m, struct dg_config *c, struct dg_error *err)
{
    const struct dg_ct2_variable *e = dg_ct2_find(m, "encoder/position_encodings/encodings"),
                                 *d = dg_ct2_find(m, "decoder/position_encodings/encodings");
    if (!e && !d) { /* computed at run time */
        c->positions = DG_POS_MARIAN;
        c->first_position = 1;
        return 0;
    }
    if (!e || !d || e->n_dims != 2 || d->n_dims != 2 || e->shape[1] != c->D || d->shape[1] != c->D)
        return WRONG("position_encodings", "a side's position table is missing or misshapen");
    const uint64_t n = e->shape[0] < d->shape[0] ? e->shape[0] : d->shape[0];
    c->positions = DG_POS_LEARNED;
    c->max_positions = (uint32_t)(n < MOST_POSITIONS ? n : MOST_POSITIONS);
    return 0;
}

int dg_ct2_config_read(
    const struct dg_ct2 *m, struct dg_config *c, bool *zero_start, struct dg_error *err)
{
    int rc = check_kind(m, err);
    if (!rc)
        rc = read_dims(m, c, err);
    if (!rc)
        rc = read_conventions(m, c, zero_start, err);
    return rc ? rc : read_positions(m, c, err);
}

/* Parts of our parameters (dg_param_info) and their names; within a layer, those follow
 * "encoder/layer_I/". */
static const struct {
    const char *ours, *theirs;
} parameters[] = {{"self.qkv.w", "self_attention/linear_0/weight"},
    {"self.qkv.b", "self_attention/linear_0/bias"},
    {"self.out.w", "self_attention/linear_1/weight"},
    {"self.out.b", "self_attention/linear_1/bias"},
    {"self.norm.gain", "self_attention/layer_norm/gamma"},
    {"self.norm.bias", "self_attention/layer_norm/beta"},
    {"cross.q.w", "attention/linear_0/weight"}, {"cross.q.b", "attention/linear_0/bias"},
    {"cross.kv.w", "attention/linear_1/weight"}, {"cross.kv.b", "attention/linear_1/bias"},
    {"cross.out.w", "attention/linear_2/weight"}, {"cross.out.b", "attention/linear_2/bias"},
    {"cross.norm.gain", "attention/layer_norm/gamma"},
    {"cross.norm.bias", "attention/layer_norm/beta"}, {"ffn.w1", "ffn/linear_0/weight"},
    {"ffn.b1", "ffn/linear_0/bias"}, {"ffn.w2", "ffn/linear_1/weight"},
    {"ffn.b2", "ffn/linear_1/bias"}, {"ffn.norm.gain", "ffn/layer_norm/gamma"},
    {"ffn.norm.bias", "ffn/layer_norm/beta"}, {"out.w", "decoder/projection/weight"},
    {"out.b", "decoder/projection/bias"}, {"src.pos", "encoder/position_encodings/encodings"},
    {"tgt.pos", "decoder/position_encodings/encodings"},
    {"src.norm.gain", "encoder/layer_norm/gamma"}, {"src.norm.bias", "encoder/layer_norm/beta"},
    {"tgt.norm.gain", "decoder/layer_norm/gamma"}, {"tgt.norm.bias", "decoder/layer_norm/beta"}};

/* Find the variable of a parameter, and its name. */
static const struct dg_ct2_variable *find_variable(
    const struct dg_ct2 *m, const struct dg_param_info *p, char *name, size_t cap)
{
    char layer[32] = "";
    name[0] = '\0';
    if (strcmp(p->part, "src.embed") == 0 || strcmp(p->part, "tgt.embed") == 0) {
        const struct dg_ct2_variable *v = p->part[0] == 's' ? source_table(m) : target_table(m);
        snprintf(name, cap, "%s", v->name);
        return v;
    }
    if (p->stack)
        snprintf(layer, sizeof layer, "%s/layer_%u/", p->stack, p->layer);
    for (size_t i = 0; i < COUNT(parameters); i++)
        if (strcmp(parameters[i].ours, p->part) == 0)
            snprintf(name, cap, "%s%s", layer, parameters[i].theirs);
    return name[0] ? dg_ct2_find(m, name) : NULL;
}

/* Find a variable's scales: value = element / scale[row], or / scale[0] if there is only one. NULL:
 * none. */
static const struct dg_ct2_variable *find_scale(const struct dg_ct2 *m, const char *name)
{
    char scale[160];
    snprintf(scale, sizeof scale, "%s_scale", name);
    return dg_ct2_find(m, scale);
}

/* Compute scales[N], the factors by which elements are multiplied. */
static int read_scales(const struct dg_ct2_variable *s, uint32_t N, const char *name, float *scales,
    struct dg_error *err)
{
    if (!s || (s->count != N && s->count != 1))
        return WRONG(name, "variable %s: its scales are missing or of another number", name);
    dg_ct2_read(s, scales);
    for (uint32_t i = 0; i < N; i++) {
        const float x = scales[s->count == 1 ? 0 : i];
        if (!(x > 0) || !isfinite(1 / x))
            return WRONG(name, "variable %s: scale %u is %g", name, i, (double)x);
    }
    for (uint32_t i = N; i-- > 0;)
        scales[i] = 1 / scales[s->count == 1 ? 0 : i];
    return 0;
}

static int add_int8(struct dg_weights_writer *w, const struct dg_param_info *p,
    const struct dg_ct2_variable *v, const float *scales, struct dg_error *err)
{
    struct dg_stored stored = {DG_S8, DG_LAYOUT_ROWS, v->data, scales};
    return dg_weights_writer_add_rows(w, p->name, p->N, p->K, &stored, err);
}

static int add_floats(struct dg_weights_writer *w, const struct dg_param_info *p,
    const struct dg_ct2_variable *v, const float *scales, enum dg_type type, struct dg_error *err)
{
    float *rows = malloc(v->count * sizeof *rows);
    if (!rows)
        return dg_error_set(err, DG_ENOMEM, "no memory for %s", p->name);
    dg_ct2_read(v, rows);
    for (uint64_t i = 0; scales && i < v->count; i++)
        rows[i] *= scales[i / p->K];
    int rc = dg_weights_writer_add(
        w, p->name, p->N, p->K, p->use & DG_USE_VECTOR ? DG_F32 : type, rows, err);
    free(rows);
    return rc;
}

static void mark(const struct dg_ct2 *m, const struct dg_ct2_variable *v, bool *used)
{
    if (v)
        used[v - dg_ct2_at(m, 0)] = true;
}

/* Add a parameter to w, and mark its variables in used[variables]. */
static int add_parameter(const struct dg_ct2 *m, const struct dg_param_info *p,
    const struct dg_convert_to *to, struct dg_weights_writer *w, bool *used, struct dg_error *err)
{
    char name[128];
    const struct dg_ct2_variable *v = find_variable(m, p, name, sizeof name);
    if (!v)
        return WRONG(name[0] ? name : p->name, "variable %s is missing", name[0] ? name : p->name);
    mark(m, v, used);
    mark(m, find_scale(m, name), used);
    const bool vector = (p->use & DG_USE_VECTOR) != 0,
               position = strcmp(p->name, "src.pos") == 0 || strcmp(p->name, "tgt.pos") == 0;
    const bool whole = v->type == DG_CT2_S8 || v->type == DG_CT2_S16;
    struct dg_ct2_variable part = *v;
    if (position && v->n_dims == 2 && v->shape[0] >= p->N) { /* the first rows of the table */
        part.shape[0] = p->N;
        part.count = (uint64_t)p->N * p->K;
    }
    if (part.count != (uint64_t)p->N * p->K || part.n_dims != (vector ? 1 : 2) ||
        part.shape[part.n_dims - 1] != p->K || v->type == DG_CT2_S32 || (vector && whole))
        return WRONG(v->name, "variable %s does not fit %s [%u,%u]", v->name, p->name, p->N, p->K);
    float *scales = whole ? malloc(((size_t)p->N + 1) * sizeof *scales) : NULL;
    if (whole && !scales)
        return dg_error_set(err, DG_ENOMEM, "no memory for %s", p->name);
    int rc = whole ? read_scales(find_scale(m, name), p->N, v->name, scales, err) : 0;
    if (!rc)
        rc = v->type == DG_CT2_S8 && to->keep_int8 ? add_int8(w, p, &part, scales, err)
                                                   : add_floats(w, p, &part, scales, to->type, err);
    free(scales);
    return rc;
}

/* A matrix or vector that nothing used means that the model has a part we do not support. */
static int check_unused(const struct dg_ct2 *m, const bool *used, struct dg_error *err)
{
    for (size_t i = 0; i < dg_ct2_count(m); i++) {
        const struct dg_ct2_variable *v = dg_ct2_at(m, i);
        if (!used[i] && v->count > 1 && !dg_ct2_is_setting(v->name))
            return UNSUPPORTED(
                v->name, "variable %s belongs to no part of a model that is supported", v->name);
    }
    return 0;
}

int dg_ct2_tensors_add(const struct dg_ct2 *m, const struct dg_config *c,
    const struct dg_convert_to *to, struct dg_weights_writer *w, struct dg_error *err)
{
    bool *used = calloc(dg_ct2_count(m), sizeof *used);
    int rc = used ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a model");
    for (size_t i = 0; i < dg_params_count(c) && !rc; i++) {
        struct dg_param_info p;
        dg_params_info(c, i, &p);
        rc = add_parameter(m, &p, to, w, used, err);
    }
    if (!rc)
        rc = check_unused(m, used, err);
    free(used);
    return rc;
}
