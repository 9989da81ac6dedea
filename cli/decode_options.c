#include "cli/decode_options.h"

#include "translate/installed.h"
#include "kernels/device.h"
#include "translate/search_fields.h"

#include <stdio.h>
#include <string.h>

#define AT(member) DG_FIELD_AT(struct dg_decode_options, member)

static const struct dg_field model_rows[] = {
    {"model", DG_FIELD_STRING, AT(model), .argument = "BUNDLE",
        .help = "model to use: a bundle's directory, or the name or the languages (en-de) of an "
                "installed one (default: an installed bundle for the languages, from "
                "$DRAGOMAN_MODELS, weights/bundles or the installation directory)"},
    {"source_lang", DG_FIELD_STRING, AT(translate.source), .argument = "CODE",
        .help = "source language (default: that of the bundle's first pair)"},
    {"target_lang", DG_FIELD_STRING, AT(translate.target), .argument = "CODE",
        .help = "target language"},
    {"device", DG_FIELD_STRING, AT(device), .argument = "NAME",
        .help = "auto, cpu, cuda or cuda:N (default: auto, the GPU if there is a usable one)"},
    {"precision", DG_FIELD_STRING, AT(precision), .argument = "TYPE",
        .help = "arithmetic on a GPU: fp32, fp16 or bf16 (default: fp32)"},
    {"threads", DG_FIELD_INT, AT(threads), 1, 256, .fallback = "1", .help = "threads per engine"},
    {"json", DG_FIELD_BOOL, AT(json), .help = "write JSON"},
};

static const struct dg_field tokens_rows[] = {
    {"tokens", DG_FIELD_BOOL, AT(translate.tokens), .old = "pieces",
        .help = "read and write tokens of the vocabulary, separated by spaces, instead of text"},
};

static const struct dg_field workers_rows[] = {
    {"workers", DG_FIELD_INT, AT(workers), 1, 256,
        .help = "engines that run in parallel (default: one per core; one on a GPU)"},
};

/* "temperature=0.7,seed=1" */
static int take_sampling(const char *name, const char *text, void *out, struct dg_error *err)
{
    struct dg_sampling *s = &((struct dg_decode_options *)out)->translate.search.sampling;
    const struct dg_fields t = dg_sampling_fields(s);
    dg_fields_default(&t);
    for (const char *p = text; *p; p += *p == ',') {
        char key[32], full[64], value[64];
        const size_t n = strcspn(p, ",="), n_value = p[n] == '=' ? strcspn(p + n + 1, ",") : 0;
        snprintf(key, sizeof key, "%.*s", n < sizeof key ? (int)n : 0, p);
        for (char *c = key; *c; c++)
            *c = *c == '-' ? '_' : *c;
        const size_t row = dg_fields_find(&t, key);
        if (row == t.n || p[n] != '=' || n_value >= sizeof value)
            return dg_error_field(err, DG_EINVAL, name,
                "%s takes temperature=X, top-k=N and seed=N with commas between, not \"%.40s\"",
                name, p);
        snprintf(full, sizeof full, "%s %.*s", name, (int)n, p);
        snprintf(value, sizeof value, "%.*s", (int)n_value, p + n + 1);
        int rc = dg_field_set(&t.rows[row], full, value, s, err);
        if (rc)
            return rc;
        p += n + 1 + n_value;
    }
    return DG_OK;
}

static const struct dg_field sampling_rows[] = {
    {"sampling", DG_FIELD_CUSTOM, .take = take_sampling, .argument = "SPEC",
        .help = "sample tokens instead of searching: temperature=X,top-k=N,seed=N (defaults: "
                "1, all, 0); the same seed and sentence give the same translation"},
};

#define GROUP(rows)                                                                                \
    (struct dg_fields)                                                                             \
    {                                                                                              \
        rows, DG_FIELD_COUNT(rows), o, NULL, NULL                                                  \
    }

struct dg_fields dg_decode_options_model(struct dg_decode_options *o)
{
    return GROUP(model_rows);
}

struct dg_fields dg_decode_options_tokens(struct dg_decode_options *o)
{
    return GROUP(tokens_rows);
}

struct dg_fields dg_decode_options_workers(struct dg_decode_options *o)
{
    return GROUP(workers_rows);
}

void dg_decode_options_search(
    struct dg_decode_options *o, struct dg_fields groups[DG_DECODE_SEARCH])
{
    groups[0] = dg_search_fields(&o->translate.search, o->search_given);
    groups[1] = dg_length_fields(&o->translate.search, o->length_given);
    groups[2] = GROUP(sampling_rows);
}

void dg_decode_options_init(struct dg_decode_options *o)
{
    memset(o, 0, sizeof *o);
    dg_search_init(&o->translate.search);
    o->threads = 1;
}

int dg_decode_options_check(struct dg_decode_options *o, struct dg_error *err)
{
    const struct dg_search *search = &o->translate.search;
    const struct dg_device_options wish = {o->device, o->precision, o->threads};
    o->translate.penalty_set = o->length_given[0] != DG_FROM_DEFAULT;
    if (search->sampling.temperature > 0 && (search->beam > 1 || search->n_best > 1))
        return dg_error_set(err, DG_EINVAL,
            "--sampling draws one answer: --beam-size and --n-best must be 1 or left out");
    int rc = dg_device_check(&wish, err);
    if (rc || o->model)
        return rc;
    o->model = o->installed;
    return dg_installed_find(
        o->translate.source, o->translate.target, o->installed, sizeof o->installed, err);
}

const char *dg_decode_options_given(const struct dg_decode_options *o)
{
    static const char *const names[] = {"--beam-size", "--length-penalty", "--length-penalty-kind",
        "--length-penalty-cap", "--max-length"};
    for (size_t i = 0; i < 2; i++)
        if (o->search_given[i])
            return names[i];
    for (size_t i = 0; i < 3; i++)
        if (o->length_given[i])
            return names[2 + i];
    return o->translate.search.sampling.temperature > 0 ? "--sampling" : NULL;
}

void dg_decode_options_public(const struct dg_decode_options *o, struct dragoman_options *out)
{
    const struct dg_translate_options *t = &o->translate;
    dragoman_options_init(out, DRAGOMAN_OPTIONS_SIZE);
    out->source = t->source;
    out->target = t->target;
    out->beam_size = t->search.beam;
    out->n_best = t->search.n_best;
    out->max_length = t->search.max_len;
    out->length_penalty = (double)t->search.alpha;
    out->length_penalty_kind = t->penalty_set ? (int)t->search.penalty : -1;
    out->length_penalty_cap = (double)t->search.penalty_cap;
    out->temperature = (double)t->search.sampling.temperature;
    out->top_k = t->search.sampling.top_k;
    out->seed = t->search.sampling.seed;
    out->target_prefix = t->prefix;
    out->format = (int)t->format;
    out->tokens = t->tokens;
    out->alignments = t->alignments;
    out->keep_loops = t->keep_loops;
    out->rerank = t->rerank;
    out->one_sentence = t->one_sentence;
}

int dg_decode_options_error(const struct dragoman_error *error, struct dg_error *err)
{
    return dg_error_field(err, error->code, error->field, "%s", error->message);
}

/* Fill in the languages that were left out, as the library chooses them. */
static int choose_pair(
    const struct dragoman_model *m, struct dg_translate_options *t, struct dg_error *err)
{
    const bool own_pair = !t->source && !t->target && m->source[0];
    size_t pair;
    int rc = dg_translator_pair(m->translator, own_pair ? m->source : t->source,
        own_pair ? m->target : t->target, &pair, err);
    if (!rc)
        dg_bundle_pair(dg_translator_bundle(m->translator), pair, &t->source, &t->target);
    return rc;
}

int dg_decode_options_open(
    struct dg_decode_options *o, struct dragoman_model **out, struct dg_error *err)
{
    struct dragoman_open_options wish;
    struct dragoman_error error;
    dragoman_open_options_init(&wish, DRAGOMAN_OPEN_OPTIONS_SIZE);
    wish.device = o->device;
    wish.precision = o->precision;
    wish.workers = o->workers;
    wish.threads = o->threads;
    wish.max_beam_size = o->translate.search.beam;
    wish.max_length = o->translate.search.max_len;
    if (dragoman_open(o->model, &wish, out, &error))
        return dg_decode_options_error(&error, err);
    const char *note = dragoman_model_device_note(*out);
    if (note[0] && o->device) /* a device was asked for: say why it is the CPU */
        fprintf(stderr, "device: the CPU (%s)\n", note);
    return choose_pair(*out, &o->translate, err);
}
