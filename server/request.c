#include "server/request.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TIMEOUT_MS                                                                             \
    86400000 /* what a request may write; more than the server's limit is granted the limit */

static int read_object(const char *body, size_t n, const char *const *allowed,
    struct dg_json **root, struct dg_error *err)
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

static int require(const struct dg_json *root, const char *key, struct dg_error *err)
{
    if (dg_json_get(root, key))
        return DG_OK;
    return dg_error_field(err, DG_EINVAL, key, "%s is missing", key);
}

/* A string that must be there and not be empty. */
static int read_code(
    const struct dg_json *root, const char *key, const char **out, struct dg_error *err)
{
    int rc = require(root, key, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(root, NULL, key, out, err);
    if (rc == DG_OK && (*out)[0] == '\0')
        rc = dg_error_field(err, DG_EINVAL, key, "%s is empty, expected a language code", key);
    return rc;
}

/* The JSON parser has checked the UTF-8: every byte but a continuation begins a code point. */
static size_t count_characters(const struct dg_text *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->len; i++)
        n += ((unsigned char)t->s[i] & 0xC0) != 0x80;
    return n;
}

static int take_text(
    const struct dg_json *v, const char *key, struct dg_text *out, struct dg_error *err)
{
    if (dg_json_typeof(v) != DG_JSON_STRING)
        return dg_error_field(err, DG_EINVAL, key,
            "%s must be a string or an array of strings, not %s", key,
            dg_json_type_name(dg_json_typeof(v)));
    out->s = dg_json_string(v, &out->len);
    if (memchr(out->s, '\0', out->len))
        return dg_error_field(err, DG_EINVAL, key, "%s must not contain the character U+0000", key);
    return DG_OK;
}

/* A string, or an array of 1 .. limits->texts strings. */
static int read_texts(const struct dg_json *root, const char *key,
    const struct dg_request_limits *limits, struct dg_texts *out, struct dg_error *err)
{
    int rc = require(root, key, err);
    if (rc != DG_OK)
        return rc;
    const struct dg_json *v = dg_json_get(root, key);
    bool array = dg_json_typeof(v) == DG_JSON_ARRAY;
    size_t n = array ? dg_json_length(v) : 1;
    if (n == 0)
        return dg_error_field(err, DG_EINVAL, key, "%s is an empty array", key);
    if (n > limits->texts)
        return dg_error_field(
            err, DG_ELIMIT, key, "%s has %zu texts, the limit is %zu", key, n, limits->texts);
    out->list = calloc(n, sizeof *out->list);
    if (!out->list)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu texts", n);
    for (; out->n < n && rc == DG_OK; out->n++)
        rc = take_text(array ? dg_json_at(v, out->n) : v, key, &out->list[out->n], err);
    return rc;
}

static int check_characters(const struct dg_texts *a, const struct dg_texts *b, const char *key,
    const struct dg_request_limits *limits, struct dg_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        n += count_characters(&a->list[i]);
    for (size_t i = 0; b && i < b->n; i++)
        n += count_characters(&b->list[i]);
    if (n <= limits->characters)
        return DG_OK;
    return dg_error_field(err, DG_ELIMIT, key, "the request has %zu characters, the limit is %zu",
        n, limits->characters);
}

static int read_timeout(const struct dg_json *root, const struct dg_request_limits *limits,
    int64_t *out, struct dg_error *err)
{
    int rc = dg_json_field_int(root, NULL, "timeout_ms", 1, MAX_TIMEOUT_MS, out, err);
    if (rc == DG_OK && *out > limits->timeout_ms)
        *out = limits->timeout_ms;
    return rc;
}

static int read_search(const struct dg_json *root, const struct dg_request_limits *limits,
    struct dg_search *out, struct dg_error *err)
{
    int64_t beam = 0, n_best = 0;
    double alpha = -1; /* the model's default */
    int rc = dg_json_field_int(root, NULL, "beam_size", 1, limits->beam, &beam, err);
    if (rc == DG_OK)
        rc = dg_json_field_int(root, NULL, "n_best", 1, limits->beam, &n_best, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(root, NULL, "length_penalty", 0, 10, &alpha, err);
    out->beam = (uint32_t)beam;
    out->n_best = (uint32_t)n_best;
    out->alpha = (float)alpha;
    return rc;
}

int dg_v1_translate_read(const char *body, size_t n, const struct dg_request_limits *limits,
    struct dg_v1_translate *out, struct dg_error *err)
{
    static const char *const allowed[] = {"text", "source", "target", "beam_size", "length_penalty",
        "n_best", "scores", "timeout_ms", NULL};
    memset(out, 0, sizeof *out);
    int rc = read_object(body, n, allowed, &out->root, err);
    if (rc == DG_OK)
        rc = read_texts(out->root, "text", limits, &out->text, err);
    if (rc == DG_OK)
        rc = read_code(out->root, "source", &out->source, err);
    if (rc == DG_OK)
        rc = read_code(out->root, "target", &out->target, err);
    if (rc == DG_OK)
        rc = read_search(out->root, limits, &out->search, err);
    if (rc == DG_OK)
        rc = dg_json_field_bool(out->root, NULL, "scores", &out->scores, err);
    if (rc == DG_OK)
        rc = read_timeout(out->root, limits, &out->timeout_ms, err);
    if (rc == DG_OK)
        rc = check_characters(&out->text, NULL, "text", limits, err);
    return rc;
}

void dg_v1_translate_free(struct dg_v1_translate *r)
{
    free(r->text.list);
    dg_json_free(r->root);
    memset(r, 0, sizeof *r);
}

int dg_v1_score_read(const char *body, size_t n, const struct dg_request_limits *limits,
    struct dg_v1_score *out, struct dg_error *err)
{
    static const char *const allowed[] = {
        "source", "target", "source_lang", "target_lang", "timeout_ms", NULL};
    memset(out, 0, sizeof *out);
    int rc = read_object(body, n, allowed, &out->root, err);
    if (rc == DG_OK)
        rc = read_texts(out->root, "source", limits, &out->source, err);
    if (rc == DG_OK)
        rc = read_texts(out->root, "target", limits, &out->target, err);
    if (rc == DG_OK && out->source.n != out->target.n)
        rc = dg_error_field(err, DG_EINVAL, "target", "target has %zu texts, source has %zu",
            out->target.n, out->source.n);
    if (rc == DG_OK)
        rc = read_code(out->root, "source_lang", &out->source_lang, err);
    if (rc == DG_OK)
        rc = read_code(out->root, "target_lang", &out->target_lang, err);
    if (rc == DG_OK)
        rc = read_timeout(out->root, limits, &out->timeout_ms, err);
    if (rc == DG_OK)
        rc = check_characters(&out->source, &out->target, "source", limits, err);
    return rc;
}

void dg_v1_score_free(struct dg_v1_score *r)
{
    free(r->source.list);
    free(r->target.list);
    dg_json_free(r->root);
    memset(r, 0, sizeof *r);
}

int dg_request_timeout_read(
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
