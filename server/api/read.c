#include "server/api/read.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a request may write; more than the server's limit is granted the limit. */
#define MAX_TIMEOUT_MS 86400000

int dg_read_object(const char *body, size_t n, const char *const *allowed, struct dg_json **root,
    struct dg_error *err)
{
    struct dg_error why = {0};
    *root = dg_json_parse(body, n, &why);
    if (!*root)
        return dg_error_field(err, why.code == DG_ENOMEM ? DG_ENOMEM : DG_EINVAL, "body",
            "the body is not JSON: %s", why.message);
    if (dg_json_typeof(*root) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, "body", "the body must be an object, not %s",
            dg_json_type_name(dg_json_typeof(*root)));
    return dg_json_only(*root, NULL, allowed, err);
}

/* "where.key" */
static const char *full_name(const char *where, const char *key, char out[64])
{
    snprintf(out, 64, "%s%s%s", where ? where : "", where && where[0] ? "." : "", key);
    return out;
}

static int require(
    const struct dg_json *o, const char *where, const char *key, struct dg_error *err)
{
    char name[64];
    if (dg_json_get(o, key))
        return DG_OK;
    full_name(where, key, name);
    return dg_error_field(err, DG_EINVAL, name, "%s is missing", name);
}

/* A language code that must be there. */
static int read_code(const struct dg_json *o, const char *where, const char *key, const char **out,
    struct dg_error *err)
{
    char name[64];
    int rc = require(o, where, key, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(o, where, key, out, err);
    if (rc != DG_OK || (*out)[0] != '\0')
        return rc;
    full_name(where, key, name);
    return dg_error_field(err, DG_EINVAL, name, "%s is empty, expected a language code", name);
}

int dg_read_languages(
    const struct dg_json *o, const char *where, struct dg_item *out, struct dg_error *err)
{
    int rc = read_code(o, where, "source", &out->source, err);
    return rc == DG_OK ? read_code(o, where, "target", &out->target, err) : rc;
}

/* The JSON parser has checked the UTF-8: every byte but a continuation begins a code point. */
static size_t count_characters(const struct dg_text *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->len; i++)
        n += ((unsigned char)t->s[i] & 0xC0) != 0x80;
    return n;
}

int dg_read_characters(struct dg_item *item, const char *where, size_t most, struct dg_error *err)
{
    char name[64];
    const char *prefix = item->options.target_prefix;
    item->source_characters = item->characters = 0;
    for (size_t i = 0; i < item->n_texts; i++) {
        item->source_characters += count_characters(&item->texts[i]);
        item->characters += item->given ? count_characters(&item->given[i]) : 0;
    }
    item->characters += item->source_characters;
    if (prefix)
        item->characters += count_characters(&(struct dg_text){prefix, strlen(prefix)});
    if (item->characters <= most)
        return DG_OK;
    full_name(where, "text", name);
    return where ? dg_error_field(err, DG_ELIMIT, name,
                       "%s has %zu characters, the limit of one item is %zu", name,
                       item->characters, most)
                 : dg_error_field(err, DG_ELIMIT, name,
                       "the request has %zu characters, the limit is %zu", item->characters, most);
}

/* expected: "a string" or more. */
static int take_text(const struct dg_json *v, const char *name, const char *expected,
    struct dg_text *out, struct dg_error *err)
{
    if (dg_json_typeof(v) != DG_JSON_STRING)
        return dg_error_field(err, DG_EINVAL, name, "%s must be %s, not %s", name, expected,
            dg_json_type_name(dg_json_typeof(v)));
    out->s = dg_json_string(v, &out->len);
    if (memchr(out->s, '\0', out->len))
        return dg_error_field(
            err, DG_EINVAL, name, "%s must not contain the character U+0000", name);
    return DG_OK;
}

int dg_read_text(const struct dg_json *o, const char *where, const char *key, struct dg_text *out,
    struct dg_error *err)
{
    char name[64];
    int rc = require(o, where, key, err);
    if (rc != DG_OK)
        return rc;
    return take_text(dg_json_get(o, key), full_name(where, key, name), "a string", out, err);
}

int dg_read_one_text(
    const struct dg_json *o, const char *where, struct dg_item *item, struct dg_error *err)
{
    item->texts = dg_arena_array(&item->request->arena, 1, sizeof *item->texts);
    if (!item->texts)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text");
    item->n_texts = 1;
    return dg_read_text(o, where, "text", item->texts, err);
}

int dg_read_texts(const struct dg_json *o, const char *key, const struct dg_limits *limits,
    struct dg_arena *arena, struct dg_text **list, size_t *n, struct dg_error *err)
{
    static const char expected[] = "a string or an array of strings";
    int rc = require(o, NULL, key, err);
    if (rc != DG_OK)
        return rc;
    const struct dg_json *v = dg_json_get(o, key);
    bool array = dg_json_typeof(v) == DG_JSON_ARRAY;
    *n = array ? dg_json_length(v) : 1;
    if (*n == 0)
        return dg_error_field(err, DG_EINVAL, key, "%s is an empty array", key);
    if (*n > limits->texts)
        return dg_error_field(
            err, DG_ELIMIT, key, "%s has %zu texts, the limit is %zu", key, *n, limits->texts);
    *list = dg_arena_array(arena, *n, sizeof **list);
    if (!*list)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu texts", *n);
    for (size_t i = 0; i < *n && rc == DG_OK; i++)
        rc = take_text(array ? dg_json_at(v, i) : v, key, expected, &(*list)[i], err);
    return rc;
}

int dg_read_priority(const struct dg_json *o, enum dg_class *out, struct dg_error *err)
{
    const char *name = NULL;
    int rc = dg_json_field_string(o, NULL, "priority", &name, err);
    if (rc != DG_OK || !name)
        return rc;
    if (strcmp(name, "interactive") == 0)
        *out = DG_CLASS_INTERACTIVE;
    else if (strcmp(name, "bulk") == 0)
        *out = DG_CLASS_BULK;
    else
        rc = dg_error_field(err, DG_EINVAL, "priority",
            "priority is \"%.32s\", expected interactive or bulk", name);
    return rc;
}

int dg_read_timeout(const struct dg_json *o, int64_t limit_ms, int64_t *out, struct dg_error *err)
{
    int rc = dg_json_field_int(o, NULL, "timeout_ms", 1, MAX_TIMEOUT_MS, out, err);
    if (rc == DG_OK && *out > limit_ms)
        *out = limit_ms;
    return rc;
}

int dg_read_timeout_header(
    const char *text, int64_t limit_ms, int64_t *out_ms, struct dg_error *err)
{
    char *end;
    double s = strtod(text, &end);
    bool number =
        (isdigit((unsigned char)text[0]) || text[0] == '.') && *end == '\0' && isfinite(s);
    if (!number || s <= 0)
        return dg_error_field(err, DG_EINVAL, "X-Request-Timeout",
            "X-Request-Timeout is \"%.32s\", expected seconds above 0", text);
    double ms = ceil(s * 1000);
    *out_ms = ms < (double)limit_ms ? (int64_t)ms : limit_ms;
    return DG_OK;
}
