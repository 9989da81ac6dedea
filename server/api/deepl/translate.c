/* POST /v2/translate. */
#include "server/api/answer.h"
#include "server/api/deepl/deepl.h"
#include "server/api/deepl/tags.h"
#include "server/api/mixed.h"
#include "server/api/parameters.h"
#include "store/memory.h"
#include "text/language_code.h"

#include <string.h>
#include <strings.h>

/* Bits of dg_mixed.flags. */
enum { BILLED = 1, MODEL_TYPE = 2, TAGS = 4, FIRST_TAGS = 8 };

/* text: in JSON an array of strings (a single string will do), in a form repeated for each text. */
static int read_texts(struct dg_body *b, struct dg_error *err)
{
    const struct dg_json *v = dg_json_get(b->request->body, "text");
    struct dg_error why = {0};
    if (!v || dg_json_typeof(v) == DG_JSON_NULL ||
        (dg_json_typeof(v) == DG_JSON_ARRAY && dg_json_length(v) == 0))
        return dg_error_field(err, DG_EINVAL, "text", "Parameter 'text' not specified");
    int rc = dg_body_read_texts(b, "text", v, false, &b->texts, &why);
    if (rc == DG_OK)
        rc = dg_body_check_characters(b, NULL, &why);
    return rc == DG_OK
               ? rc
               : dg_error_field(err, rc, "text", "Bad request. Reason: %.400s", why.message);
}

const struct dg_json *dg_deepl_option(const struct dg_json *o, const char *key)
{
    const struct dg_json *v = dg_parameter(o, key);
    const char *s = dg_json_string(v, NULL);
    return s && !*s ? NULL : v;
}

/* The option as a form has it: JSON's true and 1 are "1" there, false and 0 are "0". NULL if it has
 * no such word. */
static const char *word_of(const struct dg_json *v)
{
    const int64_t n = dg_json_int(v);
    switch (dg_json_typeof(v)) {
    case DG_JSON_BOOL: return dg_json_bool(v) ? "1" : "0";
    case DG_JSON_INT: return n == 1 ? "1" : n == 0 ? "0" : NULL;
    default: return dg_json_string(v, NULL);
    }
}

/* Is it absent, or one of the words? Lists end with NULL. */
static bool is_one_of(const struct dg_json *o, const char *key, const char *const *words)
{
    const struct dg_json *v = dg_deepl_option(o, key);
    const char *s = word_of(v);
    for (size_t i = 0; v && words[i]; i++)
        if (s && strcmp(s, words[i]) == 0)
            return true;
    return !v;
}

bool dg_deepl_is_true(const struct dg_json *o, const char *key)
{
    const char *s = word_of(dg_parameter(o, key));
    return s && (strcmp(s, "1") == 0 || strcasecmp(s, "true") == 0);
}

/* Refuses options that would change the answer and are not supported; one that only might
 * (context) is accepted and has no effect. */
int dg_deepl_check_options(const struct dg_json *o, const char *target, struct dg_error *err)
{
    static const char *const neutral[] = {"default", "prefer_more", "prefer_less", NULL};
    static const char *const registers[] = {"more", "less", NULL};
    static const char *const split[] = {"0", "1", "nonewlines", NULL};
    static const char *const models[] = {
        "quality_optimized", "prefer_quality_optimized", "latency_optimized", NULL};
    static const char *const absent[] = {
        "glossary_ids", "style_id", "translation_memory_id", "custom_instructions"};
    if (!is_one_of(o, "formality", neutral))
        return is_one_of(o, "formality", registers)
                   ? dg_error_field(err, DG_EINVAL, "formality",
                         "Target language '%.32s' doesn't support formality.", target)
                   : dg_deepl_not_supported("formality", err);
    if (!is_one_of(o, "split_sentences", split))
        return dg_deepl_not_supported("split_sentences", err);
    if (!is_one_of(o, "model_type", models))
        return dg_deepl_not_supported("model_type", err);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (dg_deepl_option(o, absent[i]))
            return dg_deepl_not_supported(absent[i], err);
    return DG_OK;
}

/* *out: the served code nearest to code, the arena's; NULL if code is NULL or nothing is near. */
static int served_code(struct dg_models *models, struct dg_arena *arena, const char *code,
    unsigned side, const char **out, struct dg_error *err)
{
    char served[DG_LANGUAGE_MAX];
    *out = NULL;
    if (!code || !dg_models_nearest(models, code, side, served))
        return DG_OK;
    *out = dg_arena_strdup(arena, served);
    return *out ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a language");
}

/* A glossary may have entries for the region that is asked for: puts the code itself in place of
 * the served one if it says more ("en-US"). Not from the same language, which is not translated. */
static int keep_region(struct dg_arena *arena, const char *code, const char *source,
    const char **target, struct dg_error *err)
{
    char own[DG_MEMORY_LANGUAGE];
    if (!dg_language_says_more(dg_language_distance(code, *target)) || !source ||
        dg_language_distance(*target, source) >= 0 || dg_memory_language(code, own, NULL))
        return DG_OK;
    *target = dg_arena_strdup(arena, own);
    return *target ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a language");
}

/* DeepL's message, and the command that would help. */
static int no_language(const char *key, const char *from, const char *to, struct dg_error *err)
{
    char command[DG_WAY_COMMAND];
    dg_way_command(from, to, command);
    return dg_error_field(err, DG_EINVAL, key, "Value for '%s' not supported.%s%s", key,
        command[0] ? " T" : "", command[0] ? command + strlen("; t") : "");
}

int dg_deepl_read_languages(struct dg_models *models, struct dg_arena *arena,
    const struct dg_json *o, const char **source, const char **target, struct dg_error *err)
{
    const struct dg_json *said = dg_deepl_option(o, "source_lang");
    const char *from = dg_json_string(said, NULL), *to = dg_parameter_string(o, "target_lang");
    *source = NULL;
    int rc = served_code(models, arena, to, DG_TARGETS, target, err);
    if (rc == DG_OK)
        rc = served_code(models, arena, from, DG_SOURCES, source, err);
    if (rc != DG_OK)
        return rc;
    if (!*target)
        return to ? no_language("target_lang", from, to, err)
                  : dg_deepl_not_supported("target_lang", err);
    if (said && !*source)
        return from && strcasecmp(from, DG_SOURCE_AUTO) != 0
                   ? no_language("source_lang", from, to, err)
                   : dg_deepl_not_supported("source_lang", err);
    return dg_deepl_option(o, "glossary_id") ? keep_region(arena, to, *source, target, err) : DG_OK;
}

static int read_languages(struct dg_body *b, struct dg_error *err)
{
    struct dg_request *r = b->request;
    int rc =
        dg_deepl_read_languages(r->app->models, &r->arena, r->body, &b->source, &b->target, err);
    if (!b->source)
        b->source = DG_SOURCE_AUTO;
    return rc;
}

/* Reads glossary_id: the name of a glossary of the server, or the id of one of the client's. */
static int read_glossary(struct dg_body *b, struct dg_error *err)
{
    const struct dg_json *v = dg_deepl_option(b->request->body, "glossary_id");
    const char *name = dg_json_string(v, NULL);
    if (!v)
        return DG_OK;
    struct dg_error why = {0};
    int rc = name ? dg_request_name_glossary(b->request, name, &b->options, &why) : DG_ENOTFOUND;
    if (rc == DG_ENOTFOUND)
        return dg_deepl_not_supported("glossary_id", err);
    if (rc != DG_OK)
        return dg_error_set(err, rc, "%s", why.message);
    if (strcmp(b->source, DG_SOURCE_AUTO) == 0)
        return dg_error_field(err, DG_EINVAL, "glossary_id",
            "Use of a glossary requires the source_lang parameter to be specified");
    return rc;
}

/* split_sentences: with "nonewlines" and "0" a line end in plain text counts as a space (in markup
 * it always does), and with "0" a paragraph is one sentence. */
static void read_split(struct dg_body *b)
{
    const char *split = word_of(dg_deepl_option(b->request->body, "split_sentences"));
    if (!split || strcmp(split, "1") == 0)
        return;
    b->options.whole = strcmp(split, "0") == 0;
    if (!b->options.markup)
        b->options.format = DG_FORMAT_WRAPPED;
}

/* Reranking is what we have for DeepL's better models. */
static void read_model_type(struct dg_body *b)
{
    const char *type = dg_json_string(dg_deepl_option(b->request->body, "model_type"), NULL);
    b->options.rerank_if_able = type && strcmp(type, "prefer_quality_optimized") == 0;
    b->options.rerank =
        b->options.rerank_if_able || (type && strcmp(type, "quality_optimized") == 0);
}

static void reply_take(
    const struct dg_mixed *m, struct dg_json *translations, struct dg_buffer *out)
{
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    for (size_t i = 0; i < m->n; i++) {
        const struct dg_json *t = dg_json_at(translations, i);
        struct dg_json *o = dg_json_new_object();
        char language[DG_LANGUAGE_MAX];
        dg_deepl_code(dg_json_string(dg_json_get(t, "source"), NULL), language);
        dg_json_set_string(o, "detected_source_language", language);
        dg_json_set_take(o, "text", dg_mixed_copy_text(t));
        if (m->flags & BILLED)
            dg_json_set_int(o, "billed_characters", (int64_t)m->texts[i].characters);
        if (m->flags & MODEL_TYPE)
            dg_json_set_string(o, "model_type_used",
                m->texts[i].reranked ? "quality_optimized" : "latency_optimized");
        if (m->flags & TAGS)
            dg_json_set_string(o, "tag_handling_version", m->flags & FIRST_TAGS ? "v1" : "v2");
        dg_json_append_take(list, o);
    }
    dg_json_free(translations);
    dg_json_set_take(root, "translations", list);
    dg_answer_put_take(root, out);
}

/* Checks JSON types that would be taken for something else. */
static int check_types(const struct dg_json *o, bool form, struct dg_error *err)
{
    static const char *const strings[] = {"source_lang", "target_lang", "glossary_id", "formality",
        "model_type", "tag_handling", "tag_handling_version", NULL};
    static const char *const flags[] = {"show_billed_characters", "outline_detection", NULL};
    static const char *const words[] = {"0", "1", "true", "false", "True", "False", NULL};
    static const char *const single[] = {
        "show_billed_characters", "outline_detection", "split_sentences", NULL};
    struct dg_error why = {0};
    int rc = dg_parameters_check_strings(o, form, strings, &why);
    if (rc == DG_OK)
        rc = dg_parameters_check_single(o, form, single, &why);
    if (rc != DG_OK)
        return dg_deepl_not_supported(why.field, err);
    for (size_t i = 0; flags[i]; i++)
        if (!is_one_of(o, flags[i], words))
            return dg_deepl_not_supported(flags[i], err);
    return DG_OK;
}

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    struct dg_body b;
    bool form, first_tags = false;
    dg_body_init(&b, r, limits);
    int rc = dg_parameters_read_request(r, &form, err);
    if (rc == DG_OK)
        rc = check_types(r->body, form, err);
    if (rc == DG_OK)
        rc = read_texts(&b, err);
    if (rc == DG_OK)
        rc = read_languages(&b, err);
    if (rc == DG_OK)
        rc = dg_deepl_read_tags(r->body, &r->arena, &b.options, &first_tags, err);
    if (rc == DG_OK)
        rc = dg_deepl_check_options(r->body, dg_parameter_string(r->body, "target_lang"), err);
    if (rc == DG_OK)
        rc = read_glossary(&b, err);
    if (rc != DG_OK)
        return rc;
    read_split(&b);
    read_model_type(&b);
    const unsigned flags = (dg_deepl_is_true(r->body, "show_billed_characters") ? BILLED : 0) |
                           (dg_deepl_option(r->body, "model_type") ? MODEL_TYPE : 0) |
                           (b.options.markup ? TAGS : 0) | (first_tags ? FIRST_TAGS : 0);
    return dg_mixed_make(r, reply_take, &b, flags, err);
}

const struct dg_endpoint dg_deepl_translate = {
    .read = read,
    .kind = {DG_MIXED, .fail = dg_deepl_fail},
};
