#include "model/config.h"

#include "model/params.h" /* DG_MAX_LAYERS */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { UINT, INT, REAL, BOOL, POSITIONS, ACTIVATION };

/* ONE table for reading, writing and checking: name in the manifest, field, range. */
struct field {
    const char *key;
    enum kind kind;
    size_t offset;
    double min, max; /* inclusive */
};

#define MAX_VOCAB 4194304
#define MAX_WIDTH 65536
#define F(member) offsetof(struct dg_config, member)

static const struct field model_fields[] = {
    {"source_vocab", UINT, F(source_vocab), 2, MAX_VOCAB},
    {"target_vocab", UINT, F(target_vocab), 2, MAX_VOCAB},
    {"d_model", UINT, F(D), 1, MAX_WIDTH},
    {"d_ff", UINT, F(F), 1, 4 * MAX_WIDTH},
    {"heads", UINT, F(H), 1, 1024},
    {"d_k", UINT, F(Dk), 1, MAX_WIDTH},
    {"d_v", UINT, F(Dv), 1, MAX_WIDTH},
    {"encoder_layers", UINT, F(enc_layers), 1, DG_MAX_LAYERS},
    {"decoder_layers", UINT, F(dec_layers), 1, DG_MAX_LAYERS},
    {"norm_eps", REAL, F(norm_eps), 1e-12, 0.1},
    {"embed_scale", REAL, F(embed_scale), 1e-6, 1e6},
    {"positions", POSITIONS, F(positions), 0, 0},
    {"first_position", UINT, F(first_position), 0, 1},
    {"max_positions", UINT, F(max_positions), 0, MAX_WIDTH},
    {"activation", ACTIVATION, F(act), 0, 0},
    {"attention_bias", BOOL, F(attention_bias), 0, 0},
    {"output_bias", BOOL, F(output_bias), 0, 0},
    {"tied_embeddings", BOOL, F(tied_embeddings), 0, 0},
    {"tied_output", BOOL, F(tied_output), 0, 0},
    {"eos", INT, F(eos), 0, MAX_VOCAB},
    {"unk", INT, F(unk), -1, MAX_VOCAB},
    {"start", INT, F(start), -1, MAX_VOCAB},
    {"source_eos", BOOL, F(source_eos), 0, 0},
};

static const struct field decoding_fields[] = {
    {"beam", UINT, F(beam), 1, 32},
    {"alpha", REAL, F(alpha), 0, 10},
    {"extra_length", UINT, F(extra_length), 0, 65536},
    {"low_confidence", REAL, F(low_confidence), -1000, 0},
    {"never", INT, F(never), -1, MAX_VOCAB},
};

#undef F

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *const position_names[] = {
    [DG_POS_PAPER] = "paper",
    [DG_POS_MARIAN] = "marian",
    [DG_POS_HALVES] = "halves",
    [DG_POS_LEARNED] = "learned",
};

static const char *const activation_names[] = {
    [DG_ACT_NONE] = NULL, /* a feed-forward network needs one */
    [DG_ACT_RELU] = "relu",
    [DG_ACT_SWISH] = "swish",
    [DG_ACT_GELU] = "gelu",
};

/* Value and name: a choice's number and word are read and written in one place. */
static int choose(const char *const *names, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        if (names[i] && strcmp(names[i], word) == 0)
            return (int)i;
    }
    return -1;
}

void dg_config_base(struct dg_config *c, uint32_t V)
{
    *c = (struct dg_config){
        .source_vocab = V,
        .target_vocab = V,
        .D = 512,
        .F = 2048,
        .H = 8,
        .Dk = 64,
        .Dv = 64,
        .enc_layers = 6,
        .dec_layers = 6,
        .norm_eps = 1e-6f,
        .embed_scale = sqrtf(512),
        .positions = DG_POS_PAPER,
        .act = DG_ACT_RELU,
        .tied_embeddings = true,
        .tied_output = true,
        .eos = 0,
        .unk = 1,
        .start = -1, /* the authors' program shifts zeros in */
        .source_eos = true,
        .beam = 4,
        .alpha = 0.6f,
        .extra_length = 50,
        .low_confidence = DG_LOW_CONFIDENCE,
        .never = -1,
    };
}

static double value_of(const struct dg_config *c, const struct field *f)
{
    const void *p = (const char *)c + f->offset;
    switch (f->kind) {
    case UINT: return *(const uint32_t *)p;
    case INT: return *(const int32_t *)p;
    case REAL: return (double)*(const float *)p;
    default: return 0;
    }
}

/* The shortest decimal that gives this float back: 1e-05 and not 9.99999975e-06. */
static double shortest(float x)
{
    char text[32];
    for (int digits = 1; digits < 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            return strtod(text, NULL);
    }
    return (double)x;
}

static int check_ranges(const struct dg_config *c, const char *where, const struct field *fields,
    size_t n, struct dg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct field *f = &fields[i];
        double v = value_of(c, f);
        char name[64];
        if (f->kind == POSITIONS || f->kind == ACTIVATION || f->kind == BOOL)
            continue;
        /* Compared as the decimal that is written, so that 0.1f is not above 0.1. */
        if (f->kind == REAL && isfinite(v))
            v = shortest((float)v);
        if (v >= f->min && v <= f->max)
            continue;
        snprintf(name, sizeof name, "%s.%s", where, f->key);
        return dg_error_field(
            err, DG_EINVAL, name, "%s is %.9g, must be from %.9g to %.9g", name, v, f->min, f->max);
    }
    return 0;
}

#define REFUSE(field, ...) dg_error_field(err, DG_EINVAL, field, __VA_ARGS__)

static int check_choices(const struct dg_config *c, struct dg_error *err)
{
    if ((unsigned)c->positions >= COUNT(position_names))
        return REFUSE("model.positions", "model.positions is %d, which is no kind of positions",
            (int)c->positions);
    if ((unsigned)c->act >= COUNT(activation_names) || !activation_names[c->act])
        return REFUSE(
            "model.activation", "model.activation is %d, which is no activation", (int)c->act);
    bool learned = c->positions == DG_POS_LEARNED;
    if (learned != (c->max_positions > 0))
        return REFUSE("model.max_positions",
            "model.max_positions is %u, with %s positions it must be %s", c->max_positions,
            position_names[c->positions], learned ? "above 0" : "0");
    if (learned && c->first_position)
        return REFUSE("model.first_position",
            "model.first_position is %u, with learned positions it must be 0", c->first_position);
    if (!learned && c->D % 2)
        return REFUSE(
            "model.d_model", "model.d_model is %u, sine and cosine need an even number", c->D);
    if (c->positions == DG_POS_MARIAN && c->D < 4)
        return REFUSE(
            "model.d_model", "model.d_model is %u, positions \"marian\" need at least 4", c->D);
    return 0;
}

static int check_dims(const struct dg_config *c, struct dg_error *err)
{
    if ((uint64_t)c->H * c->Dk > MAX_WIDTH)
        return REFUSE("model.d_k", "model.d_k is %u, times %u heads that is above %d", c->Dk, c->H,
            MAX_WIDTH);
    if ((uint64_t)c->H * c->Dv > MAX_WIDTH)
        return REFUSE("model.d_v", "model.d_v is %u, times %u heads that is above %d", c->Dv, c->H,
            MAX_WIDTH);
    if (c->tied_embeddings && c->source_vocab != c->target_vocab)
        return REFUSE("model.tied_embeddings",
            "model.tied_embeddings is true, but source_vocab is %u and target_vocab %u",
            c->source_vocab, c->target_vocab);
    return 0;
}

static int check_ids(const struct dg_config *c, struct dg_error *err)
{
    int64_t target = c->target_vocab, source = c->source_vocab;
    if (c->eos >= target || (c->source_eos && c->eos >= source))
        return REFUSE("model.eos", "model.eos is %d, the vocabularies have %u and %u pieces",
            c->eos, c->source_vocab, c->target_vocab);
    if (c->unk >= target)
        return REFUSE("model.unk", "model.unk is %d, the target vocabulary has %u pieces", c->unk,
            c->target_vocab);
    if (c->unk == c->eos)
        return REFUSE("model.unk", "model.unk is %d, and so is model.eos", c->unk);
    if (c->start >= target)
        return REFUSE("model.start", "model.start is %d, the target vocabulary has %u pieces",
            c->start, c->target_vocab);
    if (c->never >= target)
        return REFUSE("decoding.never", "decoding.never is %d, the target vocabulary has %u pieces",
            c->never, c->target_vocab);
    if (c->never == c->eos)
        return REFUSE("decoding.never", "decoding.never is %d, and so is model.eos", c->never);
    return 0;
}

int dg_config_check(const struct dg_config *c, struct dg_error *err)
{
    int rc = check_ranges(c, "model", model_fields, COUNT(model_fields), err);
    if (!rc)
        rc = check_ranges(c, "decoding", decoding_fields, COUNT(decoding_fields), err);
    if (!rc)
        rc = check_choices(c, err);
    if (!rc)
        rc = check_dims(c, err);
    if (!rc)
        rc = check_ids(c, err);
    return rc;
}

static int read_choice(const struct dg_json *o, const char *where, const char *key,
    const char *const *names, size_t n, int *value, struct dg_error *err)
{
    const char *word = NULL;
    char field[64];
    int rc = dg_json_field_string(o, where, key, &word, err);
    if (rc)
        return rc;
    *value = choose(names, n, word);
    if (*value >= 0)
        return 0;
    snprintf(field, sizeof field, "%s.%s", where, key);
    return dg_error_field(
        err, DG_EUNSUP, field, "%s is \"%.40s\", which is not supported", field, word);
}

/* "start" may be the word "zero". */
static bool is_zero_start(const struct field *f, const struct dg_json *v)
{
    const char *word = dg_json_string(v, NULL);
    return strcmp(f->key, "start") == 0 && word && strcmp(word, "zero") == 0;
}

static int read_field(const struct dg_json *o, const char *where, const struct field *f,
    struct dg_config *c, struct dg_error *err)
{
    void *p = (char *)c + f->offset;
    int64_t i = 0;
    double x = 0;
    int choice = 0, rc = 0;
    switch (f->kind) {
    case UINT:
        rc = dg_json_field_int(o, where, f->key, (int64_t)f->min, (int64_t)f->max, &i, err);
        *(uint32_t *)p = (uint32_t)i;
        break;
    case INT:
        if (is_zero_start(f, dg_json_get(o, f->key)))
            i = -1;
        else
            rc = dg_json_field_int(o, where, f->key, (int64_t)f->min, (int64_t)f->max, &i, err);
        *(int32_t *)p = (int32_t)i;
        break;
    case REAL:
        rc = dg_json_field_number(o, where, f->key, f->min, f->max, &x, err);
        *(float *)p = (float)x;
        break;
    case BOOL: rc = dg_json_field_bool(o, where, f->key, p, err); break;
    case POSITIONS:
        rc = read_choice(o, where, f->key, position_names, COUNT(position_names), &choice, err);
        c->positions = rc ? DG_POS_PAPER : (enum dg_positions)choice;
        break;
    case ACTIVATION:
        rc = read_choice(o, where, f->key, activation_names, COUNT(activation_names), &choice, err);
        c->act = rc ? DG_ACT_RELU : (enum dg_act)choice;
        break;
    }
    return rc;
}

/* All of a table's fields; a missing one keeps its value when `optional`, else it is an error:
 * conventions are never guessed. "max_positions" alone may be left out, since most models have
 * none. */
static int read_fields(const struct dg_json *o, const char *where, const struct field *fields,
    size_t n, bool optional, struct dg_config *c, struct dg_error *err)
{
    const char *keys[COUNT(model_fields) + 1] = {0};
    for (size_t i = 0; i < n; i++)
        keys[i] = fields[i].key;
    int rc = dg_json_only(o, where, keys, err);
    for (size_t i = 0; i < n && !rc; i++) {
        if (dg_json_get(o, fields[i].key)) {
            rc = read_field(o, where, &fields[i], c, err);
        } else if (!optional && strcmp(fields[i].key, "max_positions") != 0) {
            char name[64];
            snprintf(name, sizeof name, "%s.%s", where, fields[i].key);
            rc = dg_error_field(err, DG_EINVAL, name, "%s is missing", name);
        }
    }
    return rc;
}

/* No answer would have alignments if the layer or the head they are read from were missing. */
static int read_alignment(const struct dg_json *manifest, struct dg_config *c, struct dg_error *err)
{
    int64_t layer = 0, head = 0;
    int rc = dg_json_field_int(manifest, NULL, "alignment_layer", 1, c->dec_layers, &layer, err);
    if (!rc)
        rc = dg_json_field_int(manifest, NULL, "alignment_head", 1, c->H, &head, err);
    c->align_layer = (uint32_t)layer;
    c->align_head = (uint32_t)head;
    return rc;
}

int dg_config_read(const struct dg_json *manifest, struct dg_config *c, struct dg_error *err)
{
    const struct dg_json *model = dg_json_get(manifest, "model"),
                         *decoding = dg_json_get(manifest, "decoding");
    struct dg_config read;
    dg_config_base(&read, 2); /* the paper's decoding options, where the manifest names none */
    if (dg_json_typeof(model) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, "model", "model must be an object, not %s",
            dg_json_type_name(dg_json_typeof(model)));
    if (decoding && dg_json_typeof(decoding) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, "decoding", "decoding must be an object, not %s",
            dg_json_type_name(dg_json_typeof(decoding)));
    int rc = read_fields(model, "model", model_fields, COUNT(model_fields), false, &read, err);
    if (!rc && decoding)
        rc = read_fields(
            decoding, "decoding", decoding_fields, COUNT(decoding_fields), true, &read, err);
    if (!rc)
        rc = dg_config_check(&read, err);
    if (!rc)
        rc = read_alignment(manifest, &read, err);
    if (!rc)
        *c = read;
    return rc;
}

static int write_field(struct dg_json *o, const struct field *f, const struct dg_config *c)
{
    const void *p = (const char *)c + f->offset;
    switch (f->kind) {
    case UINT: return dg_json_set_int(o, f->key, *(const uint32_t *)p);
    case INT:
        if (strcmp(f->key, "start") == 0 && c->start < 0)
            return dg_json_set_string(o, f->key, "zero");
        if (strcmp(f->key, "never") == 0 && c->never < 0)
            return 0; /* most models have none, and say nothing */
        return dg_json_set_int(o, f->key, *(const int32_t *)p);
    case REAL:
        if (strcmp(f->key, "low_confidence") == 0 && c->low_confidence == DG_LOW_CONFIDENCE)
            return 0;
        return dg_json_set_real(o, f->key, shortest(*(const float *)p));
    case BOOL: return dg_json_set_bool(o, f->key, *(const bool *)p);
    case POSITIONS: return dg_json_set_string(o, f->key, position_names[c->positions]);
    case ACTIVATION: return dg_json_set_string(o, f->key, activation_names[c->act]);
    }
    return -1;
}

static int write_fields(struct dg_json *manifest, const char *where, const struct field *fields,
    size_t n, const struct dg_config *c)
{
    struct dg_json *o = dg_json_new_object();
    int rc = 0;
    for (size_t i = 0; i < n; i++)
        rc |= write_field(o, &fields[i], c);
    rc |= dg_json_set_take(manifest, where, o);
    return rc ? DG_ENOMEM : 0;
}

int dg_config_write(const struct dg_config *c, struct dg_json *manifest)
{
    if (dg_config_check(c, NULL))
        return DG_EINVAL;
    int rc = write_fields(manifest, "model", model_fields, COUNT(model_fields), c);
    if (!rc)
        rc = write_fields(manifest, "decoding", decoding_fields, COUNT(decoding_fields), c);
    return rc;
}

uint64_t dg_config_parameters(const struct dg_config *c)
{
    uint64_t D = c->D, F = c->F, keys = (uint64_t)c->H * c->Dk, values = (uint64_t)c->H * c->Dv;
    uint64_t attention = 2 * D * (keys + values); /* A */
    if (c->attention_bias)
        attention += 2 * keys + values + D;
    uint64_t ffn = 2 * D * F + F + D; /* F */
    uint64_t total = c->source_vocab * D;
    if (!c->tied_embeddings)
        total += c->target_vocab * D;
    if (!c->tied_output)
        total += c->target_vocab * D;
    if (c->output_bias)
        total += c->target_vocab;
    if (c->positions == DG_POS_LEARNED)
        total += 2 * c->max_positions * D;
    return total + c->enc_layers * (attention + ffn + 4 * D) +
           c->dec_layers * (2 * attention + ffn + 6 * D);
}
