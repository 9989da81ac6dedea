/* DESIGN. One row per field (base/fields.h), one table per section: where the field is stored, its
 * range, its default and whether it may change when a run is resumed. Reading, writing, the allowed
 * names and `dragoman-train recipe --describe` all use these tables. */
#include "trainer/recipe/internal.h"

#include "base/alloc.h"
#include "base/fields.h"

#include <stdio.h>
#include <string.h>

static const char *const act_names[] = {"none", "relu", "swish", "gelu", NULL};
static const char *const decoder_names[] = {"attention", "ssru", NULL};
static const char *const position_names[] = {"paper", "marian", "halves", "learned", NULL};
static const char *const start_names[] = {"zero", "eos", NULL};
static const char *const mode_names[] = {"sum", "padded", NULL};
static const char *const metric_names[] = {"bleu", "loss", NULL};
static const char *const vocabulary_names[] = {"keep", "new", NULL};
static const char *const layers_names[] = {"keep", "spread", NULL};
static const char *const type_names[] = {"f32", "f16", NULL};
static const char *const capitals_names[] = {"as_written", "as_words", NULL};
static const char *const answers_names[] = {"text", "trees", NULL};
static const char *const rule_names[] = {
    "identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf", "nmt_nfc", NULL};
static const char *const precision_names[] = {"auto", "fp32", "bf16", "fp16", NULL};
static const char *const character_names[] = {"frequent", "western", NULL};

/* May change when a run is resumed. */
#define RESUMABLE DG_FIELD_OWN

#define AT(member) DG_FIELD_AT(struct dg_recipe, member)
#define TEXT(member) DG_FIELD_STRING, AT(member), 0, 0
#define YES_NO(member) DG_FIELD_BOOL, AT(member), 0, 1
#define WHOLE(member, min, max) DG_FIELD_INT, AT(member), min, max
#define REAL(member, min, max) DG_FIELD_REAL, AT(member), min, max
#define WORD(member, names) DG_FIELD_WORD, AT(member), 0, 0, .words = names
#define ELSEWHERE DG_FIELD_OTHER, .size = 0
#define MANY 1e15

static const struct dg_field top_rows[] = {
    {"name", TEXT(name), .fallback = "model"},
    {"init", TEXT(init), .fallback = ""},
    {"init_vocabulary", WORD(init_vocabulary, vocabulary_names), .fallback = "keep"},
    {"init_layers", WORD(init_layers, layers_names), .fallback = "keep"},
    {"preset", ELSEWHERE},
    {"extends", ELSEWHERE},
    {"description", ELSEWHERE},
    {"data", ELSEWHERE},
    {"cleaning", ELSEWHERE},
    {"variants", ELSEWHERE},
    {"noise", ELSEWHERE},
    {"vocabulary", ELSEWHERE},
    {"model", ELSEWHERE},
    {"training", ELSEWHERE},
    {"guided_alignment", ELSEWHERE},
    {"validation", ELSEWHERE},
    {"output", ELSEWHERE},
};

static const struct dg_field cleaning_rows[] = {
    {"min_chars", WHOLE(cleaning.min_chars, 0, MANY), .fallback = "1"},
    {"max_chars", WHOLE(cleaning.max_chars, 1, 1e6), .fallback = "3000"},
    {"max_char_ratio", REAL(cleaning.max_char_ratio, 0, 1e6), .fallback = "3"},
    {"max_tokens", WHOLE(cleaning.max_tokens, 2, 65535), .fallback = "256", .old = "max_pieces"},
    {"max_token_ratio", REAL(cleaning.max_token_ratio, 0, 1e6), .fallback = "4",
        .old = "max_piece_ratio"},
    {"drop_identical", YES_NO(cleaning.drop_identical), .fallback = "true"},
    {"require_letters", YES_NO(cleaning.require_letters), .fallback = "true"},
    {"deduplicate", YES_NO(cleaning.deduplicate), .fallback = "true"},
    {"remove_overlap", YES_NO(cleaning.remove_overlap), .fallback = "true"},
    {"near_copies", WHOLE(cleaning.near_copies, 0, 32), .fallback = "0"},
    {"language_check", YES_NO(cleaning.language_check), .fallback = "true"},
    {"max_dropped", REAL(cleaning.max_dropped, 0, 1), .fallback = "0.2"},
    {"check_relation", YES_NO(cleaning.check_relation), .fallback = "true"},
    {"min_relation", REAL(cleaning.min_relation, 0, 1), .fallback = "0"},
};

static const struct dg_field variants_rows[] = {
    {"upper", REAL(variants.upper, 0, 1), .fallback = "0"},
    {"no_full_stop", REAL(variants.no_full_stop, 0, 1), .fallback = "0"},
    {"joined", REAL(variants.joined, 0, 1), .fallback = "0"},
    {"numbers", REAL(variants.numbers, 0, 1), .fallback = "0"},
    {"words", REAL(variants.words, 0, 100), .fallback = "0"},
    {"mask", REAL(variants.mask, 0, 1), .fallback = "0"},
    {"signs", REAL(variants.signs, 0, 1), .fallback = "0"},
};

static const struct dg_field noise_rows[] = {
    {"case", REAL(noise.letter_case, 0, 1), .fallback = "0"},
    {"typos", REAL(noise.typos, 0, 1), .fallback = "0"},
    {"merges", REAL(noise.merges, 0, 1), .fallback = "0"},
};

static const struct dg_field vocabulary_rows[] = {
    {"from", TEXT(vocabulary.from), .fallback = ""},
    {"size", WHOLE(vocabulary.size, 4, 1048576), .fallback = "32000"},
    {"joint", YES_NO(vocabulary.joint), .fallback = "true"},
    {"character_coverage", REAL(vocabulary.character_coverage, 0.5, 1), .fallback = "0.9999"},
    {"byte_fallback", YES_NO(vocabulary.byte_fallback), .fallback = "true"},
    {"normalization", TEXT(vocabulary.normalization), .words = rule_names, .fallback = "nmt_nfkc"},
    {"sample_lines", WHOLE(vocabulary.sample_lines, 1, 1e9), .fallback = "2000000"},
    {"characters", WORD(vocabulary.characters, character_names), .fallback = "frequent"},
    {"reserved", WHOLE(vocabulary.reserved, 0, DG_MAX_RESERVED), .fallback = "0"},
};

static const struct dg_field model_rows[] = {
    {"encoder_layers", WHOLE(model.enc_layers, 1, DG_MAX_LAYERS), .fallback = "6"},
    {"decoder_layers", WHOLE(model.dec_layers, 1, DG_MAX_LAYERS), .fallback = "6"},
    {"d_model", WHOLE(model.D, 1, DG_MAX_WIDTH), .fallback = "512"},
    {"d_ff", WHOLE(model.F, 1, 4 * DG_MAX_WIDTH), .fallback = "2048"},
    {"heads", WHOLE(model.H, 1, 1024), .fallback = "8"},
    /* 0: d_model / heads */
    {"d_k", WHOLE(model.Dk, 0, DG_MAX_WIDTH), .fallback = "0"},
    {"d_v", WHOLE(model.Dv, 0, DG_MAX_WIDTH), .fallback = "0"},
    {"activation", WORD(model.act, act_names), .fallback = "relu"},
    {"positions", WORD(model.positions, position_names), .fallback = "paper"},
    {"first_position", WHOLE(model.first_position, 0, 1), .fallback = "0"},
    {"max_positions", WHOLE(model.max_positions, 0, DG_MAX_WIDTH), .fallback = "0"},
    {"decoder", WORD(model.decoder, decoder_names), .fallback = "attention"},
    {"pre_norm", YES_NO(model.pre_norm), .fallback = "false"},
    {"norm_epsilon", REAL(model.norm_eps, 1e-12, 1), .fallback = "1e-6"},
    {"attention_bias", YES_NO(model.attention_bias), .fallback = "false"},
    {"output_bias", YES_NO(model.output_bias), .fallback = "false"},
    {"tied_embeddings", YES_NO(model.tied_embeddings), .fallback = "true"},
    {"tied_output", YES_NO(model.tied_output), .fallback = "true"},
    {"decoder_start", WORD(decoder_start, start_names), .fallback = "zero"},
    {"source_eos", YES_NO(model.source_eos), .fallback = "true"},
};

static const struct dg_field training_rows[] = {
    {"updates", WHOLE(training.updates, 1, MANY), .fallback = "100000", .flags = RESUMABLE},
    {"batch_tokens", WHOLE(training.batch_tokens, 1, 1e9), .fallback = "25000"},
    {"batch_mode", WORD(training.batch_mode, mode_names), .fallback = "sum"},
    {"micro_tokens", WHOLE(training.micro_tokens, 0, 1e9), .fallback = "0"},
    {"shuffle_window", WHOLE(training.shuffle_window, 1, 1e9), .fallback = "1000000"},
    {"warmup", WHOLE(training.warmup, 1, MANY), .fallback = "4000"},
    {"lr_scale", REAL(training.lr_scale, 0, 1e6), .fallback = "1"},
    {"cooldown", WHOLE(training.cooldown, 0, MANY), .fallback = "0", .flags = RESUMABLE},
    {"beta1", REAL(training.beta1, 0, 0.999999), .fallback = "0.9"},
    {"beta2", REAL(training.beta2, 0, 0.9999999), .fallback = "0.98"},
    {"epsilon", REAL(training.epsilon, 1e-20, 1), .fallback = "1e-9"},
    {"weight_decay", REAL(training.weight_decay, 0, 1), .fallback = "0"},
    {"label_smoothing", REAL(training.label_smoothing, 0, 0.9), .fallback = "0.1"},
    {"dropout", REAL(training.dropout, 0, 0.9), .fallback = "0.1"},
    {"attention_dropout", REAL(training.attention_dropout, 0, 0.9), .fallback = "0"},
    {"relu_dropout", REAL(training.relu_dropout, 0, 0.9), .fallback = "0"},
    {"bpe_dropout", REAL(training.bpe_dropout, 0, 0.9), .fallback = "0"},
    {"stages", ELSEWHERE},
    {"clip", REAL(training.clip, 0, 1e9), .fallback = "0"},
    {"ema", REAL(training.ema, 0, 0.9999999), .fallback = "0"},
    {"checkpoint_updates", WHOLE(training.checkpoint_updates, 0, MANY), .fallback = "1000",
        .flags = RESUMABLE},
    {"checkpoint_minutes", REAL(training.checkpoint_minutes, 0, 1e6), .fallback = "0",
        .flags = RESUMABLE},
    {"keep_last", WHOLE(training.keep_last, 1, 10000), .fallback = "5", .flags = RESUMABLE},
    {"keep_best", WHOLE(training.keep_best, 0, 10000), .fallback = "1", .flags = RESUMABLE},
    {"average_last", WHOLE(training.average_last, 1, 10000), .fallback = "5", .flags = RESUMABLE},
    {"average_best", WHOLE(training.average_best, 0, 10000), .fallback = "0", .flags = RESUMABLE},
    {"average_compare", YES_NO(training.average_compare), .fallback = "true", .flags = RESUMABLE},
    {"patience", WHOLE(training.patience, 0, MANY), .fallback = "0", .flags = RESUMABLE},
    {"stop_metric", WORD(training.stop_metric, metric_names), .fallback = "bleu"},
    {"log_updates", WHOLE(training.log_updates, 1, MANY), .fallback = "50", .flags = RESUMABLE},
    {"seed", WHOLE(training.seed, 0, 9007199254740992.0), .fallback = "1"},
    {"threads", WHOLE(training.threads, 0, 4096), .fallback = "0", .flags = RESUMABLE},
    {"precision", WORD(training.precision, precision_names), .fallback = "auto",
        .flags = RESUMABLE},
};

static const struct dg_field guided_alignment_rows[] = {
    {"weight", REAL(guided.weight, 0, 1000), .fallback = "0"},
    {"layer", WHOLE(guided.layer, 0, 1024), .fallback = "0"},
    {"head", WHOLE(guided.head, 0, 1024), .fallback = "1"},
};

static const struct dg_field validation_rows[] = {
    {"every", WHOLE(validation.every, 0, MANY), .fallback = "0", .flags = RESUMABLE},
    {"lines", WHOLE(validation.lines, 0, MANY), .fallback = "0", .flags = RESUMABLE},
    {"samples", WHOLE(validation.samples, 0, 1000), .fallback = "3", .flags = RESUMABLE},
    {"beam_size", WHOLE(validation.beam, 1, 32), .fallback = "4", .old = "beam",
        .flags = RESUMABLE},
    {"length_penalty", REAL(validation.alpha, 0, 10), .fallback = "0.6", .old = "alpha",
        .flags = RESUMABLE},
    {"extra_length", WHOLE(validation.extra_length, 0, 65535), .fallback = "50",
        .flags = RESUMABLE},
    {"calibrate", WHOLE(validation.calibrate, 0, MANY), .fallback = "300", .flags = RESUMABLE},
    {"shortlist", WHOLE(validation.shortlist, 0, MANY), .fallback = "1000", .flags = RESUMABLE},
};

static const struct dg_field output_rows[] = {
    {"type", TEXT(output.type), .words = type_names, .fallback = "f32", .flags = RESUMABLE},
    {"licence", TEXT(output.licence), .fallback = "", .flags = RESUMABLE},
    {"capitals", TEXT(output.capitals), .words = capitals_names, .fallback = "as_written",
        .flags = RESUMABLE},
    {"answers", TEXT(output.answers), .words = answers_names, .fallback = "text"},
    {"description", TEXT(output.description), .fallback = "", .flags = RESUMABLE},
};

#define SECTION(name, rows)                                                                        \
    {                                                                                              \
        name, rows, DG_FIELD_COUNT(rows)                                                           \
    }

static const struct section {
    /* "": top level */
    const char *name;
    const struct dg_field *rows;
    size_t n;
} sections[] = {
    SECTION("", top_rows),
    SECTION("cleaning", cleaning_rows),
    SECTION("variants", variants_rows),
    SECTION("noise", noise_rows),
    SECTION("vocabulary", vocabulary_rows),
    SECTION("model", model_rows),
    SECTION("training", training_rows),
    SECTION("guided_alignment", guided_alignment_rows),
    SECTION("validation", validation_rows),
    SECTION("output", output_rows),
};

enum { SECTIONS = sizeof sections / sizeof sections[0] };

static struct dg_fields fields_of(const struct section *s, const struct dg_recipe *r)
{
    return (struct dg_fields){s->rows, s->n, (void *)(uintptr_t)r, NULL, NULL};
}

/* Copies the texts, which are borrowed from the tree, into the recipe's arena. */
static void keep_texts(const struct section *s, struct dg_recipe *r)
{
    for (size_t i = 0; i < s->n; i++) {
        char *at = (char *)r + s->rows[i].offset;
        const char *text;
        if (s->rows[i].kind != DG_FIELD_STRING)
            continue;
        memcpy(&text, at, sizeof text);
        text = dg_alloc_arena_string(&r->arena, text ? text : "");
        memcpy(at, &text, sizeof text);
    }
}

int dg_recipe_fields_read(const struct dg_json *root, struct dg_recipe *r, struct dg_error *err)
{
    int rc = 0;
    for (const struct section *s = sections; s < sections + SECTIONS && !rc; s++) {
        const struct dg_fields t = fields_of(s, r);
        rc = dg_fields_from_json(
            &t, s->name, s->name[0] ? dg_json_get(root, s->name) : root, DG_FROM_FILE, err);
        if (!rc)
            keep_texts(s, r);
    }
    return rc;
}

int dg_recipe_fields_write(const struct dg_recipe *r, struct dg_json *root)
{
    int bad = 0;
    for (const struct section *s = sections; s < sections + SECTIONS; s++) {
        const struct dg_fields t = fields_of(s, r);
        if (s->name[0])
            bad |= dg_json_set_take(root, s->name, dg_json_new_object());
        bad |= dg_fields_to_json(&t, s->name[0] ? dg_json_get(root, s->name) : root);
    }
    return bad ? DG_ENOMEM : 0;
}

struct dg_json *dg_recipe_defaults(void)
{
    struct dg_json *root = dg_json_new_object();
    struct dg_recipe r;
    memset(&r, 0, sizeof r);
    for (const struct section *s = sections; s < sections + SECTIONS; s++) {
        const struct dg_fields t = fields_of(s, &r);
        dg_fields_default(&t);
    }
    if (dg_recipe_fields_write(&r, root) == 0)
        return root;
    dg_json_free(root);
    return NULL;
}

void dg_recipe_fields_rename(struct dg_json *root)
{
    for (const struct section *s = sections; s < sections + SECTIONS; s++) {
        const struct dg_fields t = fields_of(s, NULL);
        dg_fields_rename(&t, s->name[0] ? dg_json_get(root, s->name) : root);
    }
}

bool dg_recipe_field_resumable(const char *name)
{
    const char *dot = strchr(name, '.');
    const size_t n = dot ? (size_t)(dot - name) : 0;
    for (const struct section *s = sections; s < sections + SECTIONS; s++) {
        const struct dg_fields t = fields_of(s, NULL);
        if (strlen(s->name) != n || memcmp(s->name, name, n) != 0)
            continue;
        const size_t row = dg_fields_find(&t, dot ? dot + 1 : name);
        return row < t.n && (s->rows[row].flags & RESUMABLE);
    }
    return false;
}

struct dg_json *dg_recipe_describe(void)
{
    struct dg_json *list = dg_json_new_array();
    for (const struct section *s = sections; s < sections + SECTIONS; s++) {
        const struct dg_fields t = fields_of(s, NULL);
        const size_t before = dg_json_length(list);
        dg_fields_describe(&t, s->name, list);
        for (size_t i = 0; i < s->n; i++)
            dg_json_set_bool(
                dg_json_at(list, before + i), "resumable", (s->rows[i].flags & RESUMABLE) != 0);
    }
    return list;
}
