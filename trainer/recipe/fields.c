/* DESIGN. One row a field: where it stands in the JSON and in the struct, its type and limits.
 * Reading, writing, the list of allowed names and what may change on resume all come from it.
 * Defaults are JSON too (recipe_presets.c). */
#include "trainer/recipe/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_U32, KIND_I64, KIND_F32, KIND_F64, KIND_BOOL, KIND_ENUM, KIND_STRING };

struct field {
    const char *section, *key; /* section "": top level */
    enum kind kind;
    size_t offset;   /* in struct dg_recipe */
    double min, max; /* of numbers */
    const char *const
        *names; /* NULL-ended: of an enum (in its order) or a string (those allowed) */
    bool resumable;
};

static const char *const act_names[] = {"none", "relu", "swish", "gelu", NULL};
static const char *const position_names[] = {"paper", "marian", "halves", "learned", NULL};
static const char *const start_names[] = {"zero", "eos", NULL};
static const char *const mode_names[] = {"sum", "padded", NULL};
static const char *const metric_names[] = {"bleu", "loss", NULL};
static const char *const vocabulary_names[] = {"keep", "new", NULL};
static const char *const layers_names[] = {"keep", "spread", NULL};
static const char *const type_names[] = {"f32", "f16", NULL};
static const char *const capitals_names[] = {"as_written", "as_words", NULL};
static const char *const rule_names[] = {
    "identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf", "nmt_nfc", NULL};
static const char *const character_names[] = {"frequent", "western", NULL};

#define AT(member) offsetof(struct dg_recipe, member)
#define DIM 1048576.0
#define MANY 1e15

static const struct field fields[] = {
    {"", "name", KIND_STRING, AT(name), 0, 0, NULL, false},
    {"", "init", KIND_STRING, AT(init), 0, 0, NULL, false},
    {"", "init_vocabulary", KIND_ENUM, AT(init_vocabulary), 0, 0, vocabulary_names, false},
    {"", "init_layers", KIND_ENUM, AT(init_layers), 0, 0, layers_names, false},

    {"cleaning", "min_chars", KIND_I64, AT(cleaning.min_chars), 0, MANY, NULL, false},
    {"cleaning", "max_chars", KIND_I64, AT(cleaning.max_chars), 1, 1e6, NULL, false},
    {"cleaning", "max_char_ratio", KIND_F64, AT(cleaning.max_char_ratio), 0, 1e6, NULL, false},
    {"cleaning", "max_pieces", KIND_I64, AT(cleaning.max_pieces), 2, 65535, NULL, false},
    {"cleaning", "max_piece_ratio", KIND_F64, AT(cleaning.max_piece_ratio), 0, 1e6, NULL, false},
    {"cleaning", "drop_identical", KIND_BOOL, AT(cleaning.drop_identical), 0, 0, NULL, false},
    {"cleaning", "require_letters", KIND_BOOL, AT(cleaning.require_letters), 0, 0, NULL, false},
    {"cleaning", "deduplicate", KIND_BOOL, AT(cleaning.deduplicate), 0, 0, NULL, false},
    {"cleaning", "remove_overlap", KIND_BOOL, AT(cleaning.remove_overlap), 0, 0, NULL, false},
    {"cleaning", "near_copies", KIND_I64, AT(cleaning.near_copies), 0, 32, NULL, false},
    {"cleaning", "language_check", KIND_BOOL, AT(cleaning.language_check), 0, 0, NULL, false},
    {"cleaning", "max_dropped", KIND_F64, AT(cleaning.max_dropped), 0, 1, NULL, false},
    {"cleaning", "check_relation", KIND_BOOL, AT(cleaning.check_relation), 0, 0, NULL, false},

    {"variants", "upper", KIND_F64, AT(variants.upper), 0, 1, NULL, false},
    {"variants", "no_full_stop", KIND_F64, AT(variants.no_full_stop), 0, 1, NULL, false},
    {"variants", "joined", KIND_F64, AT(variants.joined), 0, 1, NULL, false},
    {"variants", "numbers", KIND_F64, AT(variants.numbers), 0, 1, NULL, false},
    {"variants", "words", KIND_F64, AT(variants.words), 0, 100, NULL, false},
    {"variants", "mask", KIND_F64, AT(variants.mask), 0, 1, NULL, false},
    {"variants", "signs", KIND_F64, AT(variants.signs), 0, 1, NULL, false},

    {"vocabulary", "from", KIND_STRING, AT(vocabulary.from), 0, 0, NULL, false},
    {"vocabulary", "size", KIND_I64, AT(vocabulary.size), 4, DIM, NULL, false},
    {"vocabulary", "joint", KIND_BOOL, AT(vocabulary.joint), 0, 0, NULL, false},
    {"vocabulary", "character_coverage", KIND_F64, AT(vocabulary.character_coverage), 0.5, 1, NULL,
        false},
    {"vocabulary", "byte_fallback", KIND_BOOL, AT(vocabulary.byte_fallback), 0, 0, NULL, false},
    {"vocabulary", "normalization", KIND_STRING, AT(vocabulary.normalization), 0, 0, rule_names,
        false},
    {"vocabulary", "sample_lines", KIND_I64, AT(vocabulary.sample_lines), 1, 1e9, NULL, false},
    {"vocabulary", "characters", KIND_ENUM, AT(vocabulary.characters), 0, 0, character_names,
        false},
    {"vocabulary", "reserved", KIND_I64, AT(vocabulary.reserved), 0, DG_MAX_RESERVED, NULL, false},

    {"model", "encoder_layers", KIND_U32, AT(model.enc_layers), 1, 1024, NULL, false},
    {"model", "decoder_layers", KIND_U32, AT(model.dec_layers), 1, 1024, NULL, false},
    {"model", "d_model", KIND_U32, AT(model.D), 1, DIM, NULL, false},
    {"model", "d_ff", KIND_U32, AT(model.F), 1, DIM, NULL, false},
    {"model", "heads", KIND_U32, AT(model.H), 1, 1024, NULL, false},
    {"model", "d_k", KIND_U32, AT(model.Dk), 0, DIM, NULL, false}, /* 0: d_model / heads */
    {"model", "d_v", KIND_U32, AT(model.Dv), 0, DIM, NULL, false},
    {"model", "activation", KIND_ENUM, AT(model.act), 0, 0, act_names, false},
    {"model", "positions", KIND_ENUM, AT(model.positions), 0, 0, position_names, false},
    {"model", "first_position", KIND_U32, AT(model.first_position), 0, 1, NULL, false},
    {"model", "max_positions", KIND_U32, AT(model.max_positions), 0, DIM, NULL, false},
    {"model", "norm_epsilon", KIND_F32, AT(model.norm_eps), 1e-12, 1, NULL, false},
    {"model", "attention_bias", KIND_BOOL, AT(model.attention_bias), 0, 0, NULL, false},
    {"model", "output_bias", KIND_BOOL, AT(model.output_bias), 0, 0, NULL, false},
    {"model", "tied_embeddings", KIND_BOOL, AT(model.tied_embeddings), 0, 0, NULL, false},
    {"model", "tied_output", KIND_BOOL, AT(model.tied_output), 0, 0, NULL, false},
    {"model", "decoder_start", KIND_ENUM, AT(decoder_start), 0, 0, start_names, false},
    {"model", "source_eos", KIND_BOOL, AT(model.source_eos), 0, 0, NULL, false},

    {"training", "updates", KIND_I64, AT(training.updates), 1, MANY, NULL, true},
    {"training", "batch_tokens", KIND_I64, AT(training.batch_tokens), 1, 1e9, NULL, false},
    {"training", "batch_mode", KIND_ENUM, AT(training.batch_mode), 0, 0, mode_names, false},
    {"training", "micro_tokens", KIND_I64, AT(training.micro_tokens), 0, 1e9, NULL, false},
    {"training", "shuffle_window", KIND_I64, AT(training.shuffle_window), 1, 1e9, NULL, false},
    {"training", "warmup", KIND_I64, AT(training.warmup), 1, MANY, NULL, false},
    {"training", "lr_scale", KIND_F64, AT(training.lr_scale), 0, 1e6, NULL, false},
    {"training", "cooldown", KIND_I64, AT(training.cooldown), 0, MANY, NULL, true},
    {"training", "beta1", KIND_F64, AT(training.beta1), 0, 0.999999, NULL, false},
    {"training", "beta2", KIND_F64, AT(training.beta2), 0, 0.9999999, NULL, false},
    {"training", "epsilon", KIND_F64, AT(training.epsilon), 1e-20, 1, NULL, false},
    {"training", "weight_decay", KIND_F64, AT(training.weight_decay), 0, 1, NULL, false},
    {"training", "label_smoothing", KIND_F64, AT(training.label_smoothing), 0, 0.9, NULL, false},
    {"training", "dropout", KIND_F64, AT(training.dropout), 0, 0.9, NULL, false},
    {"training", "attention_dropout", KIND_F64, AT(training.attention_dropout), 0, 0.9, NULL,
        false},
    {"training", "relu_dropout", KIND_F64, AT(training.relu_dropout), 0, 0.9, NULL, false},
    {"training", "bpe_dropout", KIND_F64, AT(training.bpe_dropout), 0, 0.9, NULL, false},
    {"training", "clip", KIND_F64, AT(training.clip), 0, 1e9, NULL, false},
    {"training", "ema", KIND_F64, AT(training.ema), 0, 0.9999999, NULL, false},
    {"training", "checkpoint_updates", KIND_I64, AT(training.checkpoint_updates), 0, MANY, NULL,
        true},
    {"training", "checkpoint_minutes", KIND_F64, AT(training.checkpoint_minutes), 0, 1e6, NULL,
        true},
    {"training", "keep_last", KIND_I64, AT(training.keep_last), 1, 10000, NULL, true},
    {"training", "keep_best", KIND_I64, AT(training.keep_best), 0, 10000, NULL, true},
    {"training", "average_last", KIND_I64, AT(training.average_last), 1, 10000, NULL, true},
    {"training", "average_best", KIND_I64, AT(training.average_best), 0, 10000, NULL, true},
    {"training", "patience", KIND_I64, AT(training.patience), 0, MANY, NULL, true},
    {"training", "stop_metric", KIND_ENUM, AT(training.stop_metric), 0, 0, metric_names, false},
    {"training", "log_updates", KIND_I64, AT(training.log_updates), 1, MANY, NULL, true},
    {"training", "seed", KIND_I64, AT(training.seed), 0, 9007199254740992.0, NULL, false},
    {"training", "threads", KIND_I64, AT(training.threads), 0, 4096, NULL, true},

    {"guided_alignment", "weight", KIND_F64, AT(guided.weight), 0, 1000, NULL, false},
    {"guided_alignment", "layer", KIND_U32, AT(guided.layer), 0, 1024, NULL, false},
    {"guided_alignment", "head", KIND_U32, AT(guided.head), 0, 1024, NULL, false},

    {"validation", "every", KIND_I64, AT(validation.every), 0, MANY, NULL, true},
    {"validation", "lines", KIND_I64, AT(validation.lines), 0, MANY, NULL, true},
    {"validation", "samples", KIND_I64, AT(validation.samples), 0, 1000, NULL, true},
    {"validation", "beam", KIND_I64, AT(validation.beam), 1, 64, NULL, true},
    {"validation", "alpha", KIND_F64, AT(validation.alpha), 0, 10, NULL, true},
    {"validation", "extra_length", KIND_I64, AT(validation.extra_length), 0, 65535, NULL, true},
    {"validation", "calibrate", KIND_I64, AT(validation.calibrate), 0, MANY, NULL, true},

    {"output", "type", KIND_STRING, AT(output.type), 0, 0, type_names, true},
    {"output", "licence", KIND_STRING, AT(output.licence), 0, 0, NULL, true},
    {"output", "capitals", KIND_STRING, AT(output.capitals), 0, 0, capitals_names, true},
    {"output", "description", KIND_STRING, AT(output.description), 0, 0, NULL, true},
};

#define N_FIELDS (sizeof fields / sizeof fields[0])
#define MAX_NAME 96

static const char *full_name(const struct field *f, char out[MAX_NAME])
{
    snprintf(out, MAX_NAME, "%s%s%s", f->section, f->section[0] ? "." : "", f->key);
    return out;
}

static size_t find_name(const char *const *names, const char *name)
{
    size_t i = 0;
    while (names[i] && strcmp(names[i], name))
        i++;
    return i;
}

/* A word of a list: its place in *place. */
static int read_name(const struct field *f, const char *value, size_t *place, struct dg_error *err)
{
    char name[MAX_NAME], list[256] = "";
    *place = find_name(f->names, value);
    if (f->names[*place])
        return 0;
    for (size_t i = 0, n = 0; f->names[i] && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", f->names[i]);
    full_name(f, name);
    return dg_error_field(
        err, DG_EINVAL, name, "%s is \"%s\", must be one of %s", name, value, list);
}

static int read_string(
    const struct field *f, const struct dg_json *o, struct dg_recipe *r, struct dg_error *err)
{
    const char *s = "";
    size_t place = 0;
    int rc = dg_json_field_string(o, f->section, f->key, &s, err);
    if (rc == 0 && f->names)
        rc = read_name(f, s, &place, err);
    if (rc)
        return rc;
    if (f->kind == KIND_ENUM) {
        int value = (int)place;
        memcpy((char *)r + f->offset, &value, sizeof value);
        return 0;
    }
    char *copy = dg_arena_strdup(&r->arena, s);
    if (!copy)
        return dg_error_set(err, DG_ENOMEM, "out of memory for the recipe");
    memcpy((char *)r + f->offset, &copy, sizeof copy);
    return 0;
}

static int read_field(
    const struct field *f, const struct dg_json *o, struct dg_recipe *r, struct dg_error *err)
{
    char *at = (char *)r + f->offset;
    int64_t i = 0;
    double d = 0;
    int rc;
    switch (f->kind) {
    case KIND_STRING:
    case KIND_ENUM: return read_string(f, o, r, err);
    case KIND_BOOL: return dg_json_field_bool(o, f->section, f->key, (bool *)at, err);
    case KIND_U32:
    case KIND_I64:
        rc = dg_json_field_int(o, f->section, f->key, (int64_t)f->min, (int64_t)f->max, &i, err);
        if (rc == 0 && f->kind == KIND_U32)
            *(uint32_t *)(void *)at = (uint32_t)i;
        else if (rc == 0)
            *(int64_t *)(void *)at = i;
        return rc;
    default:
        rc = dg_json_field_number(o, f->section, f->key, f->min, f->max, &d, err);
        if (rc == 0 && f->kind == KIND_F32)
            *(float *)(void *)at = (float)d;
        else if (rc == 0)
            *(double *)(void *)at = d;
        return rc;
    }
}

/* Names allowed in a section, from the table; those of the top level and "data" stand in
 * recipe.c. */
static int check_names(const struct dg_json *o, const char *section, struct dg_error *err)
{
    const char *allowed[N_FIELDS + 1];
    size_t n = 0;
    for (size_t i = 0; i < N_FIELDS; i++)
        if (strcmp(fields[i].section, section) == 0)
            allowed[n++] = fields[i].key;
    allowed[n] = NULL;
    return dg_json_only(o, section, allowed, err);
}

int dg_recipe_fields_read(const struct dg_json *root, struct dg_recipe *r, struct dg_error *err)
{
    const char *section = "";
    const struct dg_json *o = root;
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (strcmp(section, fields[i].section)) {
            section = fields[i].section;
            o = dg_json_get(root, section);
            int rc = check_names(o, section, err);
            if (rc)
                return rc;
        }
        int rc = read_field(&fields[i], o, r, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* The double that prints as the float was written: 1e-06, not 9.99999997e-07. */
static double short_double(float f)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", (double)f);
    double d = strtod(text, NULL);
    return (float)d == f ? d : (double)f;
}

static struct dg_json *field_json(const struct field *f, const struct dg_recipe *r)
{
    const char *at = (const char *)r + f->offset;
    const char *s;
    int e;
    switch (f->kind) {
    case KIND_STRING: memcpy(&s, at, sizeof s); return dg_json_new_string(s, strlen(s));
    case KIND_ENUM:
        memcpy(&e, at, sizeof e);
        return dg_json_new_string(f->names[e], strlen(f->names[e]));
    case KIND_BOOL: return dg_json_new_bool(*(const bool *)at);
    case KIND_U32: return dg_json_new_int(*(const uint32_t *)(const void *)at);
    case KIND_I64: return dg_json_new_int(*(const int64_t *)(const void *)at);
    case KIND_F32: return dg_json_new_real(short_double(*(const float *)(const void *)at));
    default: return dg_json_new_real(*(const double *)(const void *)at);
    }
}

int dg_recipe_fields_write(const struct dg_recipe *r, struct dg_json *root)
{
    int bad = 0;
    for (size_t i = 0; i < N_FIELDS; i++) {
        const struct field *f = &fields[i];
        struct dg_json *o = root;
        if (f->section[0]) {
            if (!dg_json_get(root, f->section))
                bad |= dg_json_set_take(root, f->section, dg_json_new_object());
            o = dg_json_get(root, f->section);
        }
        bad |= dg_json_set_take(o, f->key, field_json(f, r));
    }
    return bad ? DG_ENOMEM : 0;
}

bool dg_recipe_field_resumable(const char *name)
{
    char full[MAX_NAME];
    for (size_t i = 0; i < N_FIELDS; i++)
        if (strcmp(full_name(&fields[i], full), name) == 0)
            return fields[i].resumable;
    return false;
}
