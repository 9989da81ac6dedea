#include "convert/marian/options.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option, and which of its values can be converted. */
struct rule {
    /* pattern of the name */
    const char *name;
    /* supported values separated by '|'; ANY: read elsewhere, or without effect on inference */
    const char *values;
};

#define ANY NULL

static const struct rule rules[] = {
    {"type", "transformer"},
    {"dim-emb", ANY},
    {"dim-vocabs", ANY},
    {"enc-depth", ANY},
    {"dec-depth", ANY},
    {"transformer-heads", ANY},
    {"transformer-dim-ffn", ANY},
    {"transformer-decoder-dim-ffn", ANY},
    {"transformer-ffn-depth", "2"},
    {"transformer-decoder-ffn-depth", "0|2"},
    {"transformer-ffn-activation", "relu|swish"},
    {"transformer-decoder-autoreg", "self-attention|rnn"},
    {"transformer-preprocess", ANY}, /* these three: see read_norms */
    {"transformer-postprocess", ANY},
    {"transformer-postprocess-top", ANY},
    {"transformer-postprocess-emb", "|d"}, /* d is dropout: no effect at inference */
    {"transformer-no-projection", "false"},
    {"transformer-no-affine", "false"},
    {"transformer-no-bias", "true|false"},
    {"transformer-rnn-projection", "false"},
    {"transformer-tied-layers", "[]"},
    {"transformer-pool", "false"},
    {"transformer-attention-mask", "|default"},
    {"transformer-disable-position-embeddings", "false"},
    {"transformer-train-positions", "true|false"},
    {"transformer-train-position-embeddings", "true|false"},
    {"transformer-guided-alignment-layer", ANY},
    {"tied-embeddings", "true|false"},
    {"tied-embeddings-src", "true|false"},
    {"tied-embeddings-all", "true|false"},
    {"output-omit-bias", "true|false"},
    {"output-approx-knn", "[]"},
    {"right-left", "false"},
    {"skip", "false"},
    {"layer-normalization", "false"},
    {"input-types", "[]|[sequence, sequence]"},
    {"lemma-dim-emb", "0"},
    {"lemma-dependency", ""},
    {"factors-dim-emb", "0"},
    {"factors-combine", "sum"},
    {"ulr", "false"},
    /* Options without effect on what a trained model of the kinds above computes. */
    {"transformer-depth-scaling", ANY}, /* scales the initial values only */
    {"transformer-*aan*", ANY},
    {"ulr-*", ANY},
    {"bert-*", ANY},
    {"char-*", ANY},
    {"enc-type", ANY},
    {"enc-cell*", ANY},
    {"dec-cell*", ANY},
    {"dim-rnn", ANY},
    {"separator-symbol", ANY}, /* only used between several inputs */
    {"version", ANY},
};

#define REFUSE(name, ...) dg_error_field(err, DG_EUNSUP, name, __VA_ARGS__)

/* A scalar as it is, a list as "[a, b]". */
static const char *text_of(const struct dg_yaml_entry *e, char *out, size_t cap)
{
    if (!e->is_list)
        return e->items[0];
    size_t at = (size_t)snprintf(out, cap, "[");
    for (size_t i = 0; i < e->n_items && at < cap; i++)
        at += (size_t)snprintf(out + at, cap - at, "%s%s", i ? ", " : "", e->items[i]);
    if (at < cap)
        snprintf(out + at, cap - at, "]");
    return out;
}

static bool is_one_of(const char *value, const char *values)
{
    size_t n = strlen(value);
    for (const char *p = values;; p++) {
        size_t m = strcspn(p, "|");
        if (m == n && memcmp(p, value, n) == 0)
            return true;
        p += m;
        if (!*p)
            return false;
    }
}

static const struct rule *find_rule(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (fnmatch(rules[i].name, name, 0) == 0)
            return &rules[i];
    }
    return NULL;
}

/* Check that every option is known; an unknown one passes only if it is switched off. */
static int check_rules(const struct dg_yaml *yml, struct dg_error *err)
{
    /* Marian's defaults for these have changed over the years: they are not guessed. */
    static const char *const required[] = {
        "type", "transformer-ffn-activation", "transformer-preprocess", "transformer-postprocess"};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (!dg_yaml_find(yml, required[i]))
            return dg_error_field(
                err, DG_EFORMAT, required[i], "Marian option %s is missing", required[i]);
    }
    for (size_t i = 0; i < dg_yaml_count(yml); i++) {
        const struct dg_yaml_entry *e = dg_yaml_at(yml, i);
        char list[256];
        const char *value = text_of(e, list, sizeof list);
        const struct rule *rule = find_rule(e->key);
        if (dg_yaml_find(yml, e->key) != e)
            return dg_error_field(
                err, DG_EFORMAT, e->key, "Marian option %s is there twice", e->key);
        if (!rule && !is_one_of(value, "|false|[]|0|none"))
            return REFUSE(
                e->key, "Marian option %s: %s is not known to this converter", e->key, value);
        if (rule && rule->values && !is_one_of(value, rule->values))
            return REFUSE(e->key, "Marian option %s: \"%s\" is not supported (supported: \"%s\")",
                e->key, value, rule->values);
    }
    return 0;
}

static int parse_number(const char *name, const char *s, uint32_t *out, struct dg_error *err)
{
    char *end;
    long v = strtol(s, &end, 10);
    if (end == s || *end || s[0] < '0' || s[0] > '9' || v > 100000000)
        return dg_error_field(
            err, DG_EFORMAT, name, "Marian option %s: \"%.40s\" is not a number in range", name, s);
    *out = (uint32_t)v;
    return 0;
}

static int read_number(
    const struct dg_yaml *yml, const char *name, uint32_t *out, struct dg_error *err)
{
    const struct dg_yaml_entry *e = dg_yaml_find(yml, name);
    if (!e)
        return dg_error_field(err, DG_EFORMAT, name, "Marian option %s is missing", name);
    if (e->is_list)
        return dg_error_field(
            err, DG_EFORMAT, name, "Marian option %s is a list, expected a number", name);
    return parse_number(name, e->items[0], out, err);
}

static int read_vocab_sizes(const struct dg_yaml *yml, struct dg_config *c, struct dg_error *err)
{
    static const char name[] = "dim-vocabs";
    const struct dg_yaml_entry *e = dg_yaml_find(yml, name);
    if (!e || !e->is_list || e->n_items != 2)
        return dg_error_field(
            err, DG_EFORMAT, name, "Marian option %s is not a list of two sizes", name);
    int rc = parse_number(name, e->items[0], &c->source_vocab, err);
    return rc ? rc : parse_number(name, e->items[1], &c->target_vocab, err);
}

static bool is_true(const struct dg_yaml *yml, const char *name)
{
    const struct dg_yaml_entry *e = dg_yaml_find(yml, name);
    return e && !e->is_list && strcmp(e->items[0], "true") == 0;
}

static int read_dims(const struct dg_yaml *yml, struct dg_config *c, struct dg_error *err)
{
    uint32_t decoder_ffn = 0;
    int rc = read_number(yml, "dim-emb", &c->D, err);
    if (!rc)
        rc = read_number(yml, "transformer-dim-ffn", &c->F, err);
    if (!rc)
        rc = read_number(yml, "transformer-heads", &c->H, err);
    if (!rc)
        rc = read_number(yml, "enc-depth", &c->enc_layers, err);
    if (!rc)
        rc = read_number(yml, "dec-depth", &c->dec_layers, err);
    if (!rc)
        rc = read_vocab_sizes(yml, c, err);
    if (!rc && dg_yaml_find(yml, "transformer-decoder-dim-ffn"))
        rc = read_number(yml, "transformer-decoder-dim-ffn", &decoder_ffn, err);
    if (rc)
        return rc;
    c->dec_F = decoder_ffn == c->F ? 0 : decoder_ffn;
    if (!c->H || c->D % c->H)
        return dg_error_field(err, DG_EFORMAT, "transformer-heads",
            "Marian option transformer-heads: %u does not divide dim-emb %u", c->H, c->D);
    c->Dk = c->Dv = c->D / c->H;
    return 0;
}

static void read_conventions(const struct dg_yaml *yml, enum dg_positions positions,
    struct dg_config *c, struct dg_marian_options *o)
{
    const struct dg_yaml_entry *act = dg_yaml_find(yml, "transformer-ffn-activation");
    bool all = is_true(yml, "tied-embeddings-all");
    c->act = act && strcmp(act->items[0], "swish") == 0 ? DG_ACT_SWISH : DG_ACT_RELU;
    c->tied_embeddings = o->tied_source = all || is_true(yml, "tied-embeddings-src");
    c->tied_output = all || is_true(yml, "tied-embeddings");
    c->output_bias = !is_true(yml, "output-omit-bias");
    o->no_bias = is_true(yml, "transformer-no-bias");
    c->attention_bias = !o->no_bias;
    c->positions = positions;
    c->embed_scale = sqrtf((float)c->D);
    if (is_true(yml, "transformer-train-positions") ||
        is_true(yml, "transformer-train-position-embeddings")) {
        c->positions = DG_POS_LEARNED;
        /* Marian's own code does not scale when positions are trained; CTranslate2 always does. */
        if (positions == DG_POS_MARIAN)
            c->embed_scale = 1;
    }
}

/* Copy an option's letters except d, which is dropout. */
static void without_dropout(const struct dg_yaml *yml, const char *name, char *out, size_t cap)
{
    const struct dg_yaml_entry *e = dg_yaml_find(yml, name);
    size_t n = 0;
    for (const char *p = e && !e->is_list ? e->items[0] : ""; *p && n + 1 < cap; p++)
        if (*p != 'd')
            out[n++] = *p;
    out[n] = '\0';
}

static int refuse_norms(const struct dg_yaml *yml, const char *name, struct dg_error *err)
{
    char list[64];
    return REFUSE(name,
        "Marian option %s: \"%s\" is not supported: post-norm models have preprocess \"\", "
        "postprocess \"dan\" and postprocess-top \"\", pre-norm ones \"n\", \"da\" and \"n\"",
        name, text_of(dg_yaml_find(yml, name), list, sizeof list));
}

/* Read where the norms are: all after the sublayers, or all before them and one at each stack's
 * top. */
static int read_norms(const struct dg_yaml *yml, struct dg_config *c, struct dg_error *err)
{
    char before[8], after[8], top[8];
    without_dropout(yml, "transformer-preprocess", before, sizeof before);
    without_dropout(yml, "transformer-postprocess", after, sizeof after);
    without_dropout(yml, "transformer-postprocess-top", top, sizeof top);
    c->pre_norm = strcmp(before, "n") == 0 && strcmp(after, "a") == 0;
    if (!c->pre_norm && strcmp(after, "an") != 0)
        return refuse_norms(yml, "transformer-postprocess", err);
    if (!c->pre_norm && before[0])
        return refuse_norms(yml, "transformer-preprocess", err);
    if (strcmp(top, c->pre_norm ? "n" : "") != 0)
        return dg_yaml_find(yml, "transformer-postprocess-top")
                   ? refuse_norms(yml, "transformer-postprocess-top", err)
                   : dg_error_field(err, DG_EFORMAT, "transformer-postprocess-top",
                         "Marian option transformer-postprocess-top is missing");
    return 0;
}

/* The SSRU is the only recurrent decoder that is supported. */
static int read_decoder(const struct dg_yaml *yml, struct dg_config *c, struct dg_error *err)
{
    const struct dg_yaml_entry *kind = dg_yaml_find(yml, "transformer-decoder-autoreg"),
                               *cell = dg_yaml_find(yml, "dec-cell");
    if (!kind || strcmp(kind->items[0], "rnn") != 0)
        return 0;
    if (!cell || cell->is_list || strcmp(cell->items[0], "ssru") != 0)
        return REFUSE("dec-cell",
            "Marian option dec-cell: \"%s\" is not supported beside transformer-decoder-autoreg "
            "rnn (supported: \"ssru\")",
            cell && !cell->is_list ? cell->items[0] : "");
    c->decoder = DG_DECODER_SSRU;
    return 0;
}

/* "last" is also the value in a model without guided alignment, so it tells nothing. */
static int read_alignment(const struct dg_yaml *yml, const struct dg_config *c,
    struct dg_marian_options *o, struct dg_error *err)
{
    const struct dg_yaml_entry *layer = dg_yaml_find(yml, "transformer-guided-alignment-layer");
    if (!layer || layer->is_list || strcmp(layer->items[0], "last") == 0)
        return 0;
    int rc = parse_number(layer->key, layer->items[0], &o->alignment_layer, err);
    if (!rc && (o->alignment_layer < 1 || o->alignment_layer > c->dec_layers))
        rc = dg_error_field(err, DG_EFORMAT, layer->key,
            "Marian option %s: %u is not a decoder layer, expected 1 to %u or last", layer->key,
            o->alignment_layer, c->dec_layers);
    return rc;
}

int dg_marian_options_read(const struct dg_yaml *yml, enum dg_positions positions,
    struct dg_config *c, struct dg_marian_options *o, struct dg_error *err)
{
    memset(o, 0, sizeof *o);
    int rc = check_rules(yml, err);
    if (!rc)
        rc = read_dims(yml, c, err);
    if (rc)
        return rc;
    read_conventions(yml, positions, c, o);
    if ((rc = read_norms(yml, c, err)) || (rc = read_decoder(yml, c, err)))
        return rc;
    rc = read_alignment(yml, c, o, err);
    const struct dg_yaml_entry *version = dg_yaml_find(yml, "version");
    if (version && !version->is_list)
        snprintf(o->version, sizeof o->version, "%s", version->items[0]);
    return rc;
}
