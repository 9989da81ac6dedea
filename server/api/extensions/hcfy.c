/* hcfy (划词翻译): {"name","text","destination":[…],"source"?} → {"text","from","to","result":[…]}.
 * Languages go by their Chinese names; a text that is in the first destination's language is
 * translated to the second; result has one string per paragraph. */
#include "server/api/answer.h"
#include "server/api/dialect_request.h"
#include "server/api/extensions/extensions.h"
#include "server/api/mixed.h"
#include "server/api/parameters.h"
#include "text/language_name.h"

#include <string.h>

/* The request's data that the writer needs. */
struct asked {
    struct dg_text text;
    const char *target;
};

/* A language's name as hcfy writes it: in Chinese; the two kinds of Chinese with half-width
 * brackets. */
static void name_of(const char *code, char out[DG_LANGUAGE_NAME])
{
    const char *chinese = dg_dialect_code(code);
    if (strcmp(chinese, "zh-CN") == 0 || strcmp(code, "zh") == 0)
        strcpy(out, "中文(简体)");
    else if (strcmp(chinese, "zh-TW") == 0)
        strcpy(out, "中文(繁体)");
    else
        dg_language_name_in(code, "zh", out);
}

static struct dg_json *paragraphs(const struct dg_json *translation)
{
    struct dg_json *list = dg_json_new_array();
    size_t n;
    const char *s = dg_json_string(dg_json_get(translation, "text"), &n);
    for (const char *end = s + n;; s++) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        const size_t len = (size_t)((stop ? stop : end) - s);
        dg_json_append_take(list, dg_json_new_string(s, len));
        s += len;
        if (s == end)
            return list;
    }
}

static void reply_take(
    const struct dg_mixed *m, struct dg_json *translations, struct dg_buffer *out)
{
    const struct asked *a = m->extra;
    struct dg_json *root = dg_json_new_object();
    char from[DG_LANGUAGE_NAME], to[DG_LANGUAGE_NAME];
    name_of(m->texts[0].source, from);
    name_of(a->target, to);
    dg_json_set_take(root, "text", dg_json_new_string(a->text.s, a->text.len));
    dg_json_set_string(root, "from", from);
    dg_json_set_string(root, "to", to);
    dg_json_set_take(root, "result", paragraphs(dg_json_at(translations, 0)));
    dg_json_free(translations);
    dg_answer_put_take(root, out);
}

/* Finds the served language with this name or code; *out is the arena's. */
static int find_language(struct dg_request *r, const char *field, const struct dg_json *v,
    unsigned side, const char **out, struct dg_error *err)
{
    struct dg_model_languages all;
    char name[DG_LANGUAGE_NAME], near[DG_LANGUAGE_MAX];
    const char *asked = dg_json_string(v, NULL), *code = NULL;
    if (!asked)
        return dg_error_field(err, DG_EINVAL, field, "%s must be a language's name, not %s", field,
            dg_json_type_name(dg_json_typeof(v)));
    dg_models_languages(r->app->models, side, &all);
    for (size_t i = 0; i < all.n && !code; i++) {
        name_of(all.codes[i], name);
        code = strcmp(name, asked) == 0 ? all.codes[i] : NULL;
    }
    if (!code && dg_models_nearest(r->app->models, asked, side, near))
        code = near;
    if (!code)
        return dg_dialect_request_not_served(r, field, asked, side, err);
    *out = dg_arena_strdup(&r->arena, code);
    return *out ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a language code");
}

/* Reads the named source, else detects the text's language. */
static int read_source(struct dg_body *b, struct dg_error *err)
{
    struct dg_request *r = b->request;
    const struct dg_json *v = dg_json_get(r->body, "source");
    const char *said = dg_json_string(v, NULL);
    int confidence;
    if (dg_json_typeof(v) == DG_JSON_NULL || (said && (!*said || !strcmp(said, DG_SOURCE_AUTO))))
        return dg_source_detect(r, b->texts, &b->source, &confidence, err);
    return find_language(r, "source", v, DG_SOURCES, &b->source, err);
}

/* Reads the first destination or, if the text is in its language, the second, if there is one. */
static int read_destination(struct dg_body *b, struct dg_error *err)
{
    static const char field[] = "destination";
    struct dg_request *r = b->request;
    const struct dg_json *v = dg_json_get(r->body, field);
    if (dg_json_typeof(v) != DG_JSON_ARRAY || dg_json_length(v) == 0)
        return dg_error_field(
            err, DG_EINVAL, field, "destination must be an array of one or two names of languages");
    int rc = find_language(r, field, dg_json_at(v, 0), DG_TARGETS, &b->target, err);
    if (rc == DG_OK && dg_json_length(v) > 1 && dg_language_distance(b->source, b->target) >= 0)
        rc = find_language(r, field, dg_json_at(v, 1), DG_TARGETS, &b->target, err);
    return rc;
}

/* Copies what the writer needs: the body is gone by then. */
static int keep_asked(struct dg_body *b, struct dg_error *err)
{
    struct dg_arena *arena = &b->request->arena;
    struct asked *a = dg_arena_alloc(arena, sizeof *a);
    const char *text = dg_arena_strndup(arena, b->texts->s, b->texts->len);
    if (!a || !text)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text");
    *a = (struct asked){{text, b->texts->len}, b->target};
    b->extra = a;
    return DG_OK;
}

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    struct dg_body b;
    dg_body_init(&b, r, limits);
    int rc = dg_parameters_read_request(r, NULL, err);
    if (rc == DG_OK && dg_json_typeof(dg_json_get(r->body, "text")) == DG_JSON_ARRAY)
        rc = dg_error_field(err, DG_EINVAL, "text", "text must be a string, not an array");
    if (rc == DG_OK)
        rc = dg_dialect_request_texts(&b, "text", err);
    if (rc == DG_OK)
        rc = read_source(&b, err);
    if (rc == DG_OK)
        rc = read_destination(&b, err);
    if (rc == DG_OK)
        rc = keep_asked(&b, err);
    return rc == DG_OK ? dg_mixed_make(r, reply_take, &b, 0, err) : rc;
}

const struct dg_endpoint dg_hcfy_translate = {
    .read = read,
    .kind = {DG_MIXED, .fail = dg_extension_fail},
};
