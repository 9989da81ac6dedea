#include "convert/huggingface/tensors.h"

#include "model/layers/position_table.h" /* dg_sinusoid_table */
#include "model/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of our parameters, and the tensors that are stacked to make it: rows of a matrix, or elements
 * of a vector. Within a layer, their names begin with "model.encoder.layers.I." or
 * "model.decoder.layers.I.". */
struct row {
    /* dg_param_info's part */
    const char *ours;
    const char *parts[3];
};

static const struct row parameters[] = {
    {"self.qkv.w",
        {"self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"}},
    {"self.qkv.b", {"self_attn.q_proj.bias", "self_attn.k_proj.bias", "self_attn.v_proj.bias"}},
    {"self.out.w", {"self_attn.out_proj.weight"}},
    {"self.out.b", {"self_attn.out_proj.bias"}},
    {"self.norm.gain", {"self_attn_layer_norm.weight"}},
    {"self.norm.bias", {"self_attn_layer_norm.bias"}},
    {"cross.q.w", {"encoder_attn.q_proj.weight"}},
    {"cross.q.b", {"encoder_attn.q_proj.bias"}},
    {"cross.kv.w", {"encoder_attn.k_proj.weight", "encoder_attn.v_proj.weight"}},
    {"cross.kv.b", {"encoder_attn.k_proj.bias", "encoder_attn.v_proj.bias"}},
    {"cross.out.w", {"encoder_attn.out_proj.weight"}},
    {"cross.out.b", {"encoder_attn.out_proj.bias"}},
    {"cross.norm.gain", {"encoder_attn_layer_norm.weight"}},
    {"cross.norm.bias", {"encoder_attn_layer_norm.bias"}},
    {"ffn.w1", {"fc1.weight"}},
    {"ffn.b1", {"fc1.bias"}},
    {"ffn.w2", {"fc2.weight"}},
    {"ffn.b2", {"fc2.bias"}},
    {"ffn.norm.gain", {"final_layer_norm.weight"}},
    {"ffn.norm.bias", {"final_layer_norm.bias"}},
    {"src.norm.gain", {"model.encoder.layer_norm.weight"}},
    {"src.norm.bias", {"model.encoder.layer_norm.bias"}},
    {"tgt.norm.gain", {"model.decoder.layer_norm.weight"}},
    {"tgt.norm.bias", {"model.decoder.layer_norm.bias"}},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define SHARED "model.shared.weight"
#define SOURCE "model.encoder.embed_tokens.weight"
#define TARGET "model.decoder.embed_tokens.weight"
#define OUTPUT "lm_head.weight"

#define WRONG(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

struct job {
    const struct dg_tensor_set *file;
    const struct dg_hf_tables *tables;
    const struct dg_hf_options *options;
    const struct dg_config *config;
    enum dg_type type;
    struct dg_weights_writer *writer;
    /* [tensors of the file] */
    bool *used;
};

/* Find the first of the names that the file has. NULL: DG_EFORMAT. */
static const struct dg_safetensor *first_of(
    const struct dg_tensor_set *s, const char *const *names, size_t n, struct dg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct dg_safetensor *t = dg_tensor_set_find(s, names[i]);
        if (t)
            return t;
    }
    WRONG(names[0], "tensor %s is missing", names[0]);
    return NULL;
}

static bool same_values(const struct dg_safetensor *a, const struct dg_safetensor *b)
{
    size_t bytes = a->count * dg_type_bytes(a->type);
    return a == b || (a->type == b->type && a->n_dims == b->n_dims &&
                         memcmp(a->shape, b->shape, a->n_dims * sizeof a->shape[0]) == 0 &&
                         memcmp(a->data, b->data, bytes) == 0);
}

/* transformers stores a tied table once, under any of its names, or several times with the same
 * values. */
static int check_tie(const struct dg_safetensor *a, const struct dg_safetensor *b, const char *key,
    struct dg_error *err)
{
    if (same_values(a, b))
        return 0;
    return WRONG(b->name, "tensor %s has other values than %s, but config.json ties them (%s)",
        b->name, a->name, key);
}

static int find_embeddings(const struct dg_tensor_set *s, const struct dg_hf_options *o,
    struct dg_hf_tables *t, struct dg_config *c, struct dg_error *err)
{
    static const char *const of_source[] = {SOURCE, SHARED, TARGET, OUTPUT};
    static const char *const of_target[] = {TARGET, SHARED, OUTPUT, SOURCE};
    static const char *const of_output[] = {OUTPUT, TARGET, SHARED, SOURCE};
    bool one = o->shared && o->tied;
    t->source = first_of(s, of_source, one ? 4 : o->shared ? 3 : 1, err);
    if (!t->source)
        return DG_EFORMAT;
    t->target = first_of(s, of_target, one ? 4 : o->shared ? 2 : o->tied ? 3 : 1, err);
    if (!t->target)
        return DG_EFORMAT;
    t->output = first_of(s, of_output, one ? 4 : o->tied ? 2 : 1, err);
    if (!t->output)
        return DG_EFORMAT;
    const struct dg_safetensor *shared = dg_tensor_set_find(s, SHARED);
    int rc = one ? check_tie(t->source, t->target, "share_encoder_decoder_embeddings", err) : 0;
    if (!rc && one && shared)
        rc = check_tie(t->source, shared, "share_encoder_decoder_embeddings", err);
    if (!rc && o->tied)
        rc = check_tie(t->target, t->output, "tie_word_embeddings", err);
    c->tied_embeddings = same_values(t->source, t->target);
    c->tied_output = same_values(t->target, t->output);
    return rc;
}

/* Tolerance between stored sinusoids and ours: their type's rounding, and single precision in the
 * program that made them. */
static float table_tolerance(enum dg_type type)
{
    return type == DG_F32 ? 2e-6f : type == DG_F16 ? 6e-4f : 5e-3f;
}

static int is_sinusoids(
    const struct dg_safetensor *t, enum dg_positions positions, bool *is, struct dg_error *err)
{
    uint32_t P = (uint32_t)t->shape[0], D = (uint32_t)t->shape[1];
    float *stored = malloc(t->count * sizeof *stored), *ours = malloc(t->count * sizeof *ours);
    int rc = stored && ours ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for %s", t->name);
    if (!rc) {
        dg_safetensors_read(t, stored);
        dg_sinusoid_table(positions, 0, P, D, ours);
        *is = true;
        for (uint64_t i = 0; i < t->count; i++)
            *is = *is && fabsf(stored[i] - ours[i]) <= table_tolerance(t->type);
    }
    free(stored);
    free(ours);
    return rc;
}

static int find_positions(const struct dg_tensor_set *s, struct dg_hf_tables *t,
    struct dg_config *c, struct dg_error *err)
{
    static const char *const names[2] = {
        "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"};
    static const enum dg_positions conventions[] = {DG_POS_HALVES, DG_POS_MARIAN, DG_POS_PAPER};
    for (int i = 0; i < 2; i++) {
        const struct dg_safetensor *p = t->positions[i] = dg_tensor_set_find(s, names[i]);
        if (p && (p->n_dims != 2 || p->shape[1] != c->D || p->shape[0] > 65536))
            return WRONG(names[i], "tensor %s is not a table of at most 65536 positions of %u",
                names[i], c->D);
    }
    if (!t->positions[0] && !t->positions[1])
        return 0;
    for (size_t k = 0; c->D >= 4 && c->D % 2 == 0 && k < COUNT(conventions); k++) {
        bool both = true;
        int rc = 0;
        for (int i = 0; i < 2 && both && !rc; i++)
            rc = t->positions[i] ? is_sinusoids(t->positions[i], conventions[k], &both, err) : 0;
        if (rc)
            return rc;
        if (both && (conventions[k] == DG_POS_HALVES || (t->positions[0] && t->positions[1]))) {
            c->positions = conventions[k];
            return 0;
        }
    }
    if (!t->positions[0] || !t->positions[1] ||
        t->positions[0]->shape[0] != t->positions[1]->shape[0])
        return dg_error_field(err, DG_EUNSUP, names[t->positions[0] ? 0 : 1],
            "tensor %s is not a table of sinusoids, and the other side has none of its size",
            names[t->positions[0] ? 0 : 1]);
    c->positions = DG_POS_LEARNED;
    c->max_positions = (uint32_t)t->positions[0]->shape[0];
    return 0;
}

int dg_hf_tables_find(const struct dg_tensor_set *s, const struct dg_hf_options *o,
    struct dg_hf_tables *t, struct dg_config *c, struct dg_error *err)
{
    memset(t, 0, sizeof *t);
    int rc = find_embeddings(s, o, t, c, err);
    t->bias = dg_tensor_set_find(s, "final_logits_bias");
    /* Giving padding no share of the probability needs a bias of minus infinity. */
    c->output_bias = t->bias || (o->renormalize && c->never >= 0);
    return rc ? rc : find_positions(s, t, c, err);
}

static void mark_used(struct job *j, const struct dg_safetensor *t)
{
    for (size_t i = 0; i < dg_tensor_set_count(j->file); i++)
        j->used[i] = j->used[i] || dg_tensor_set_at(j->file, i) == t;
}

/* Read one tensor into dst, at most `room` rows of the parameter (for a vector: elements); *rows is
 * the number it has. */
static int read_part(struct job *j, const struct dg_safetensor *t, const struct dg_param_info *p,
    uint64_t room, float *dst, uint64_t *rows, struct dg_error *err)
{
    bool vector = (p->use & DG_USE_VECTOR) != 0;
    bool fits = vector ? t->n_dims >= 1 && t->shape[t->n_dims - 1] == t->count
                       : t->n_dims == 2 && t->shape[1] == p->K;
    *rows = vector ? t->count : t->shape[0];
    mark_used(j, t);
    if (!fits || *rows > room)
        return WRONG(t->name, "tensor %s [%llu,%llu] does not fit %s [%u,%u]", t->name,
            (unsigned long long)(t->n_dims > 1 ? t->shape[0] : 1),
            (unsigned long long)(t->n_dims ? t->shape[t->n_dims - 1] : 1), p->name, p->N, p->K);
    dg_safetensors_read(t, dst);
    for (uint64_t i = 0; i < t->count; i++) {
        if (isnan(dst[i]))
            return WRONG(t->name, "tensor %s holds a NaN", t->name);
    }
    return 0;
}

/* Read all parts of a parameter, stacked; together they must fill it. */
static int read_parts(struct job *j, const struct dg_safetensor *const *parts, size_t n,
    const struct dg_param_info *p, float *dst, struct dg_error *err)
{
    bool vector = (p->use & DG_USE_VECTOR) != 0;
    uint64_t room = vector ? p->K : p->N, width = vector ? 1 : p->K, done = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t rows;
        int rc = read_part(j, parts[i], p, room - done, dst + done * width, &rows, err);
        if (rc)
            return rc;
        done += rows;
    }
    if (done != room)
        return WRONG(parts[0]->name, "tensor %s: %llu rows for %s, which has %llu", parts[0]->name,
            (unsigned long long)done, p->name, (unsigned long long)room);
    return 0;
}

/* Read the tensors that a row names. */
static int read_named(struct job *j, const struct row *r, const struct dg_param_info *p, float *dst,
    struct dg_error *err)
{
    const struct dg_safetensor *parts[3];
    char layer[48] = "", name[128];
    size_t n = 0;
    if (p->stack)
        snprintf(layer, sizeof layer, "model.%s.layers.%u.", p->stack, p->layer);
    for (; n < COUNT(parts) && r->parts[n]; n++) {
        snprintf(name, sizeof name, "%s%s", layer, r->parts[n]);
        if (!(parts[n] = dg_tensor_set_find(j->file, name)))
            return WRONG(name, "tensor %s is missing", name);
    }
    return read_parts(j, parts, n, p, dst, err);
}

static int read_bias(struct job *j, const struct dg_param_info *p, float *dst, struct dg_error *err)
{
    int rc = j->tables->bias ? read_parts(j, &j->tables->bias, 1, p, dst, err) : 0;
    if (j->options->renormalize && j->config->never >= 0)
        dst[j->config->never] = -INFINITY;
    return rc;
}

static int read_parameter(
    struct job *j, const struct dg_param_info *p, float *dst, struct dg_error *err)
{
    const struct dg_hf_tables *t = j->tables;
    const struct {
        const char *ours;
        const struct dg_safetensor *tensor;
    } tables[] = {{"src.embed", t->source}, {"tgt.embed", t->target}, {"out.w", t->output},
        {"src.pos", t->positions[0]}, {"tgt.pos", t->positions[1]}};
    if (strcmp(p->part, "out.b") == 0)
        return read_bias(j, p, dst, err);
    for (size_t i = 0; i < COUNT(parameters); i++)
        if (strcmp(parameters[i].ours, p->part) == 0)
            return read_named(j, &parameters[i], p, dst, err);
    for (size_t i = 0; i < COUNT(tables); i++)
        if (strcmp(tables[i].ours, p->part) == 0 && tables[i].tensor)
            return read_parts(j, &tables[i].tensor, 1, p, dst, err);
    return dg_error_field(
        err, DG_EINTERNAL, p->name, "parameter %s has no place in a MarianMT model", p->name);
}

static int add_parameter(struct job *j, const struct dg_param_info *p, struct dg_error *err)
{
    float *rows = calloc((size_t)p->N * p->K, sizeof *rows); /* [N,K] */
    if (!rows)
        return dg_error_set(err, DG_ENOMEM, "no memory for %s [%u,%u]", p->name, p->N, p->K);
    int rc = read_parameter(j, p, rows, err);
    if (!rc)
        rc = dg_weights_writer_add(
            j->writer, p->name, p->N, p->K, p->use & DG_USE_VECTOR ? DG_F32 : j->type, rows, err);
    free(rows);
    return rc;
}

/* A tensor that nothing used means that the model has a part we do not support. Copies of tied
 * tables and stored sinusoids were compared and are not needed. */
static int check_unused(const struct job *j, struct dg_error *err)
{
    static const char *const known[] = {SHARED, SOURCE, TARGET, OUTPUT,
        "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight",
        "model.encoder.embed_positions.weights", "model.decoder.embed_positions.weights"};
    for (size_t i = 0; i < dg_tensor_set_count(j->file); i++) {
        const char *name = dg_tensor_set_at(j->file, i)->name;
        bool expected = j->used[i];
        for (size_t k = 0; k < COUNT(known); k++)
            expected = expected || strcmp(name, known[k]) == 0;
        if (!expected)
            return dg_error_field(err, DG_EUNSUP, name,
                "tensor %s belongs to no part of a model that is supported", name);
    }
    return 0;
}

int dg_hf_tensors_add(const struct dg_tensor_set *s, const struct dg_hf_tables *t,
    const struct dg_hf_options *o, const struct dg_config *c, enum dg_type type,
    struct dg_weights_writer *w, struct dg_error *err)
{
    struct job j = {s, t, o, c, type, w, calloc(dg_tensor_set_count(s), sizeof(bool))};
    int rc =
        j.used ? 0
               : dg_error_set(err, DG_ENOMEM, "no memory for %zu tensors", dg_tensor_set_count(s));
    for (size_t i = 0; i < dg_params_count(c) && !rc; i++) {
        struct dg_param_info p;
        dg_params_info(c, i, &p);
        rc = add_parameter(&j, &p, err);
    }
    if (!rc)
        rc = check_unused(&j, err);
    free(j.used);
    return rc;
}
