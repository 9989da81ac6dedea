#include "server/api/parameters.h"

#include "base/json_scan.h"
#include "server/http/form.h"
#include "server/http/multipart.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FORM_TYPE "application/x-www-form-urlencoded"
/* Longest key when escaped, with its quotes; longer strings are no keys of this server. */
#define LONGEST_KEY ((size_t)6 * DG_GATE_KEY)

/* Many clients declare JSON on every request: a GET or DELETE without a body has its parameters in
 * the query all the same. */
static bool is_query_alone(const struct dg_http_request *q)
{
    return q->body_len == 0 && (!strcmp(q->method, "GET") || !strcmp(q->method, "HEAD") ||
                                   !strcmp(q->method, "DELETE"));
}

/* True if the body is "application/json" or "application/vnd.api+json", by its media type. */
static bool is_json(const struct dg_http_request *q)
{
    const size_t n = strcspn(q->type, "; \t");
    return !is_query_alone(q) && (dg_http_is_type(q->type, "application/json") ||
                                     (n > 17 && strncasecmp(q->type, "application/", 12) == 0 &&
                                         strncasecmp(q->type + n - 5, "+json", 5) == 0));
}

/* check: decides whether parsing goes on; NULL: it always does. */
static int read_json(const struct dg_http_request *q, const struct dg_json_check *check,
    struct dg_json **out, struct dg_error *err)
{
    struct dg_error why = {0};
    *out = dg_json_parse_checked(q->body, q->body_len, check, &why);
    if (!*out && (why.code == DG_ETIMEOUT || why.code == DG_ECANCELED))
        return dg_error_set(err, why.code, "%s", why.message);
    if (!*out)
        return dg_error_field(err, why.code == DG_ENOMEM ? DG_ENOMEM : DG_EINVAL, "body",
            "Invalid JSON format: %s", why.message);
    if (dg_json_typeof(*out) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, "body", "Invalid JSON format");
    return DG_OK;
}

static int read(const struct dg_http_request *q, const struct dg_json_check *check,
    struct dg_json **out, bool *form, struct dg_error *err)
{
    const bool json = is_json(q);
    if (form)
        *form = !json;
    *out = NULL;
    if (json)
        return read_json(q, check, out, err);
    *out = dg_json_new_object();
    if (!*out)
        return dg_error_set(err, DG_ENOMEM, "no memory for a form");
    int rc = dg_form_read(q->query, strlen(q->query), *out, err);
    if (rc == DG_OK && dg_http_is_type(q->type, FORM_TYPE))
        rc = dg_form_read(q->body, q->body_len, *out, err);
    if (rc == DG_OK && dg_multipart_is(q->type))
        rc = dg_multipart_read(q->type, q->body, q->body_len, "", *out, NULL, err);
    return rc;
}

int dg_parameters_read(
    const struct dg_http_request *q, struct dg_json **out, bool *form, struct dg_error *err)
{
    return read(q, NULL, out, form, err);
}

int dg_parameters_read_request(struct dg_request *r, bool *form, struct dg_error *err)
{
    const struct dg_json_check check = {dg_request_check_any, r};
    return read(dg_http_request(r->x), &check, &r->body, form, err);
}

static int refuse_type(
    const char *key, const char *wanted, const struct dg_json *v, struct dg_error *err)
{
    return dg_error_field(err, DG_EINVAL, key, "Invalid request: %s must be %s, not %s", key,
        wanted, dg_json_type_name(dg_json_typeof(v)));
}

int dg_parameters_check_single(
    const struct dg_json *o, bool form, const char *const *keys, struct dg_error *err)
{
    for (; *keys && !form; keys++) {
        const struct dg_json *v = dg_json_get(o, *keys);
        if (dg_json_typeof(v) == DG_JSON_ARRAY)
            return refuse_type(*keys, "one value", v, err);
    }
    return DG_OK;
}

int dg_parameters_check_strings(
    const struct dg_json *o, bool form, const char *const *keys, struct dg_error *err)
{
    for (; *keys && !form; keys++) {
        const struct dg_json *v = dg_json_get(o, *keys);
        if (v && dg_json_typeof(v) != DG_JSON_NULL && dg_json_typeof(v) != DG_JSON_STRING)
            return refuse_type(*keys, "a string", v, err);
    }
    return DG_OK;
}

/* The first value that is not empty, else the first: the query of a form may hold an empty one. */
static const struct dg_json *pick(const struct dg_json *list)
{
    for (size_t i = 0; i < dg_json_length(list); i++) {
        size_t n = 1;
        dg_json_string(dg_json_at(list, i), &n);
        if (n > 0)
            return dg_json_at(list, i);
    }
    return dg_json_at(list, 0);
}

const struct dg_json *dg_parameter(const struct dg_json *o, const char *key)
{
    const struct dg_json *v = dg_json_get(o, key);
    if (dg_json_typeof(v) == DG_JSON_ARRAY)
        v = pick(v);
    return dg_json_typeof(v) == DG_JSON_NULL ? NULL : v;
}

const char *dg_parameter_string(const struct dg_json *o, const char *key)
{
    return dg_json_string(dg_parameter(o, key), NULL);
}

/* The body is not parsed: a client without a valid key costs only one pass over it. */
static bool json_key(const char *s, size_t n, const char *name, char out[DG_GATE_KEY])
{
    const size_t begin = dg_json_scan_key(s, n, name);
    const size_t end = begin < n && s[begin] == '"' ? dg_json_scan_string(s, n, begin) : n;
    struct dg_json *v = NULL;
    if (end < n && end - begin <= LONGEST_KEY)
        v = dg_json_parse(s + begin, end - begin + 1, NULL);
    const char *key = end < n && !v ? "?" : dg_json_string(v, NULL);
    snprintf(out, DG_GATE_KEY, "%s", key ? key : "");
    dg_json_free(v);
    return out[0] != '\0';
}

/* Skips files; the fields are few. */
static bool multipart_key(const struct dg_http_request *q, const char *name, char out[DG_GATE_KEY])
{
    struct dg_json *parameters = dg_json_new_object();
    const char *key = NULL;
    if (parameters &&
        dg_multipart_read(q->type, q->body, q->body_len, "", parameters, NULL, NULL) == DG_OK)
        key = dg_parameter_string(parameters, name);
    snprintf(out, DG_GATE_KEY, "%s", key ? key : "");
    dg_json_free(parameters);
    return out[0] != '\0';
}

bool dg_parameters_key(const struct dg_http_exchange *x, const char *name, char out[DG_GATE_KEY])
{
    const struct dg_http_request *q = dg_http_request(x);
    if (is_json(q))
        return json_key(q->body, q->body_len, name, out);
    if (dg_parameters_query_key(x, name, out))
        return true;
    if (dg_http_is_type(q->type, FORM_TYPE))
        return dg_form_find(q->body, q->body_len, name, out, DG_GATE_KEY);
    return dg_multipart_is(q->type) && memmem(q->body, q->body_len, name, strlen(name)) &&
           multipart_key(q, name, out);
}

bool dg_parameters_query_key(
    const struct dg_http_exchange *x, const char *name, char out[DG_GATE_KEY])
{
    const char *query = dg_http_request(x)->query;
    return dg_form_find(query, strlen(query), name, out, DG_GATE_KEY);
}

bool dg_parameters_scheme_key(
    const struct dg_http_exchange *x, const char *scheme, char out[DG_GATE_KEY])
{
    const char *value = dg_http_header(x, "Authorization");
    const size_t n = strlen(scheme);
    if (!value || strncasecmp(value, scheme, n) != 0 || value[n] != ' ')
        return false;
    value += n;
    snprintf(out, DG_GATE_KEY, "%s", value + strspn(value, " "));
    return out[0] != '\0';
}
