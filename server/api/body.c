#include "server/api/body.h"

#include "text/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dg_body_init(struct dg_body *b, struct dg_request *r, const struct dg_limits *limits)
{
    *b = (struct dg_body){.request = r, .limits = limits, .options.search.alpha = -1};
}

int dg_body_parse(struct dg_request *r, const char *text, size_t n, struct dg_error *err)
{
    const struct dg_json_check check = {dg_request_check_any, r};
    struct dg_error why = {0};
    r->body = dg_json_parse_checked(text, n, &check, &why);
    if (!r->body && why.code == DG_ENOMEM)
        return dg_error_set(err, DG_ENOMEM, "no memory for a body of %zu bytes", n);
    if (!r->body && why.code != DG_EINVAL) /* the request has ended */
        return dg_error_set(err, why.code, "%s", why.message);
    if (!r->body)
        return dg_error_field(err, DG_EINVAL, "body", "the body is not JSON: %s", why.message);
    if (dg_json_typeof(r->body) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, "body", "the body must be an object, not %s",
            dg_json_type_name(dg_json_typeof(r->body)));
    return DG_OK;
}

/* expected: "a string", or more kinds of values, for the message. */
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

int dg_body_read_texts(struct dg_body *b, const char *name, const struct dg_json *v, bool one,
    struct dg_text **list, struct dg_error *err)
{
    const bool array = !one && dg_json_typeof(v) == DG_JSON_ARRAY;
    const char *expected = one ? "a string" : "a string or an array of strings";
    const size_t n = array ? dg_json_length(v) : 1, most = b->limits->texts;
    int rc = DG_OK;
    if (n == 0)
        return dg_error_field(err, DG_EINVAL, name, "%s is an empty array", name);
    if (n > most)
        return dg_error_field(
            err, DG_ELIMIT, name, "%s has %zu texts, the limit is %zu", name, n, most);
    *list = dg_arena_array(&b->request->arena, n, sizeof **list);
    if (!*list)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu texts", n);
    for (size_t i = 0; i < n && rc == DG_OK; i++)
        rc = take_text(array ? dg_json_at(v, i) : v, name, expected, &(*list)[i], err);
    *(list == &b->texts ? &b->n_texts : &b->n_given) = n;
    return rc;
}

static size_t count_characters(const struct dg_text *list, size_t n)
{
    size_t characters = 0;
    for (size_t i = 0; i < n; i++)
        characters += dg_utf8_count(list[i].s, list[i].len);
    return characters;
}

/* Counts the characters of the client's part of the translations: given and target_prefix. */
static size_t count_given(const struct dg_body *b, size_t first, size_t n)
{
    const char *prefix = b->options.target_prefix;
    return (b->given ? count_characters(b->given + first, n) : 0) +
           (prefix ? dg_utf8_count(prefix, strlen(prefix)) : 0);
}

int dg_body_check_characters(const struct dg_body *b, const char *where, struct dg_error *err)
{
    char name[64];
    const size_t most = b->limits->characters,
                 n = count_characters(b->texts, b->n_texts) + count_given(b, 0, b->n_given);
    if (n <= most)
        return DG_OK;
    if (!where)
        return dg_error_field(
            err, DG_ELIMIT, "text", "the request has %zu characters, the limit is %zu", n, most);
    snprintf(name, sizeof name, "%s.text", where);
    return dg_error_field(
        err, DG_ELIMIT, name, "%s has %zu characters, the limit of one item is %zu", name, n, most);
}

void dg_body_put(const struct dg_body *b, size_t first, size_t n, struct dg_item *item)
{
    item->source = b->source;
    item->target = b->target;
    item->texts = b->texts + first;
    item->given = b->given ? b->given + first : NULL;
    item->n_texts = n;
    item->options = b->options;
    item->source_characters = count_characters(item->texts, n);
    item->characters = item->source_characters + count_given(b, first, n);
}

int dg_body_timeout_header(
    const char *text, int64_t limit_ms, int64_t *out_ms, struct dg_error *err)
{
    char *end;
    double s = strtod(text, &end);
    bool number =
        (isdigit((unsigned char)text[0]) || text[0] == '.') && *end == '\0' && isfinite(s);
    if (!number || s < 0.001)
        return dg_error_field(err, DG_EINVAL, "X-Request-Timeout",
            "X-Request-Timeout is \"%.32s\", expected seconds from 0.001", text);
    double ms = ceil(s * 1000);
    *out_ms = ms < (double)limit_ms ? (int64_t)ms : limit_ms;
    return DG_OK;
}
