/* POST /translate. LibreTranslate detects one language for an array of texts; this detects the
 * language of each. */
#include "server/api/answer.h"
#include "server/api/libretranslate/languages.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/libretranslate/parameters.h"
#include "server/api/mixed.h"
#include "text/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bits of dg_mixed.flags: q was an array; alternatives are asked for. */
enum { ARRAY = 1, ALTERNATIVES = 2 };

/* Gives a form's text LF line ends, and removes the last one, as LibreTranslate does. */
static int unix_lines(struct dg_arena *arena, struct dg_text *t, struct dg_error *err)
{
    char *s = dg_arena_alloc(arena, t->len + 1);
    size_t n = 0;
    if (!s)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text");
    for (size_t i = 0; i < t->len; i++) {
        if (t->s[i] == '\r' && i + 1 < t->len && t->s[i + 1] == '\n')
            continue;
        s[n++] = t->s[i] == '\r' ? '\n' : t->s[i];
    }
    if (n > 0 && s[n - 1] == '\n')
        n--;
    *t = (struct dg_text){s, n};
    return DG_OK;
}

static int read_text(const struct dg_json *v, struct dg_text *out, struct dg_error *err)
{
    out->s = dg_json_string(v, &out->len);
    if (!out->s)
        return dg_error_field(err, DG_EINVAL, "q",
            "Invalid request: q must be a string or an array of strings, not %s",
            dg_json_type_name(dg_json_typeof(v)));
    return memchr(out->s, '\0', out->len)
               ? dg_error_field(err, DG_EINVAL, "q", "Invalid request: q has the character U+0000")
               : DG_OK;
}

/* Reads q: a string, or in JSON an array of them; a form's first value. */
static int read_q(struct dg_body *b, bool form, bool *array, struct dg_error *err)
{
    struct dg_arena *arena = &b->request->arena;
    const struct dg_limits *limits = b->limits;
    const struct dg_json *q = dg_json_get(b->request->body, "q");
    size_t characters = 0, len = 0;
    if (form)
        q = dg_parameter(b->request->body, "q");
    *array = dg_json_typeof(q) == DG_JSON_ARRAY;
    const size_t n = *array ? dg_json_length(q) : 1;
    if (dg_json_typeof(q) == DG_JSON_NULL || n == 0 || (dg_json_string(q, &len) && len == 0))
        return dg_error_field(err, DG_EINVAL, "q", "Invalid request: missing q parameter");
    if (dg_lt_check_size(n, limits->texts, err) != DG_OK)
        return DG_EINVAL;
    b->texts = dg_arena_array(arena, n, sizeof *b->texts);
    if (!b->texts)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu texts", n);
    for (; b->n_texts < n; b->n_texts++) {
        struct dg_text *t = &b->texts[b->n_texts];
        int rc = read_text(*array ? dg_json_at(q, b->n_texts) : q, t, err);
        if (rc == DG_OK && form)
            rc = unix_lines(arena, t, err);
        if (rc != DG_OK)
            return rc;
        characters += dg_utf8_count(t->s, t->len);
    }
    return dg_lt_check_size(characters, limits->characters, err);
}

static int read_format(const struct dg_json *o, enum dg_format *out, struct dg_error *err)
{
    const char *format = dg_parameter_string(o, "format"); /* dg_lt_read accepted only strings */
    if (!format || !*format)
        format = "text";
    *out = strcmp(format, "html") == 0 ? DG_FORMAT_HTML : DG_FORMAT_TEXT;
    if (*out == DG_FORMAT_HTML || strcmp(format, "text") == 0)
        return DG_OK;
    return dg_error_field(err, DG_EINVAL, "format", "%.40s format is not supported", format);
}

/* Reads alternatives: how many besides the best translation; none if it is absent or below 0. */
static int read_alternatives(struct dg_body *b, struct dg_error *err)
{
    static const char key[] = "alternatives";
    const struct dg_json *v = dg_parameter(b->request->body, key);
    const char *text = dg_json_string(v, NULL);
    const uint32_t beam = b->limits->beam;
    char *end = NULL;
    errno = 0;
    const int64_t n = text ? strtoll(text, &end, 10) : dg_json_int(v);
    if (text ? errno || end == text || *end : v && dg_json_typeof(v) != DG_JSON_INT)
        return dg_error_field(
            err, DG_EINVAL, key, "Invalid request: alternatives parameter is not a number");
    if (n >= (int64_t)beam)
        return dg_error_field(err, DG_EINVAL, key,
            "Invalid request: alternatives parameter must be <= %" PRIu32, beam - 1);
    b->options.search.n_best = n > 0 ? (uint32_t)n + 1 : 0;
    b->options.wide = true;
    return DG_OK;
}

/* The translations other than the best. */
static struct dg_json *alternatives_of(const struct dg_json *translation)
{
    struct dg_json *out = dg_json_new_array();
    const struct dg_json *list = dg_json_get(translation, "n_best");
    for (size_t i = 1; i < dg_json_length(list); i++)
        dg_json_append_take(out, dg_mixed_copy_text(dg_json_at(list, i)));
    return out;
}

static struct dg_json *detected(const struct dg_mixed_text *t)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "confidence", t->confidence);
    dg_json_set_string(o, "language", t->source);
    return o;
}

/* Sets all values for an array, else the single value. */
static void set_values_take(
    struct dg_json *root, const char *key, bool array, struct dg_json *values)
{
    dg_json_set_take(root, key, array ? dg_json_copy(values) : dg_json_copy(dg_json_at(values, 0)));
    dg_json_free(values);
}

static void reply_take(
    const struct dg_mixed *m, struct dg_json *translations, struct dg_buffer *out)
{
    struct dg_json *root = dg_json_new_object(), *texts = dg_json_new_array();
    struct dg_json *languages = dg_json_new_array(), *others = dg_json_new_array();
    const bool array = m->flags & ARRAY;
    for (size_t i = 0; i < m->n; i++) {
        const struct dg_json *o = dg_json_at(translations, i);
        dg_json_append_take(texts, dg_mixed_copy_text(o));
        if (m->detected)
            dg_json_append_take(languages, detected(&m->texts[i]));
        dg_json_append_take(others, alternatives_of(o));
    }
    set_values_take(root, "translatedText", array, texts);
    if (m->detected)
        set_values_take(root, "detectedLanguage", array, languages);
    else
        dg_json_free(languages);
    if (m->flags & ALTERNATIVES)
        set_values_take(root, "alternatives", array, others);
    else
        dg_json_free(others);
    dg_json_free(translations);
    dg_answer_put_take(root, out);
}

/* ---- the endpoint ---- */

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    struct dg_models *models = r->app->models;
    struct dg_body b;
    bool form = false, array = false;
    dg_body_init(&b, r, limits);
    int rc = dg_lt_read(r, &form, err);
    if (rc == DG_OK)
        rc = read_q(&b, form, &array, err);
    if (rc == DG_OK)
        rc = dg_lt_string(r->body, "source", &b.source, err);
    if (rc == DG_OK)
        rc = dg_lt_string(r->body, "target", &b.target, err);
    if (rc == DG_OK)
        rc = read_format(r->body, &b.options.format, err);
    if (rc == DG_OK)
        rc = read_alternatives(&b, err);
    if (rc == DG_OK)
        rc = dg_lt_languages(models, &b.source, &b.target, err);
    if (rc == DG_OK)
        rc = dg_mixed_make(r, reply_take, &b,
            (array ? ARRAY : 0) | (b.options.search.n_best > 0 ? ALTERNATIVES : 0), err);
    for (size_t i = 0; i < r->n && rc == DG_OK; i++)
        rc = dg_lt_pair(models, r->items[i].source, b.target, err);
    return rc;
}

const struct dg_endpoint dg_libretranslate_translate = {
    .read = read,
    .kind = {DG_MIXED, .fail = dg_libretranslate_fail},
};
