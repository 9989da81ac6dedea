#include "server/api/libretranslate/parameters.h"

#include "server/http/form.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The media type, without parameters, in small letters. */
static void media_type(const struct dg_http_exchange *x, char out[80])
{
    const char *type = dg_http_header(x, "Content-Type");
    size_t n = type ? strcspn(type, "; \t") : 0;
    n = n < 79 ? n : 79;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(type[i] >= 'A' && type[i] <= 'Z' ? type[i] | 0x20 : type[i]);
    out[n] = '\0';
}

/* "application/json" or "application/vnd.api+json" */
static bool is_json(const char *type)
{
    const size_t n = strlen(type);
    return !strcmp(type, "application/json") ||
           (!strncmp(type, "application/", 12) && n > 17 && !strcmp(type + n - 5, "+json"));
}

static int read_json(const struct dg_http_request *q, struct dg_json **out, struct dg_error *err)
{
    struct dg_error why = {0};
    *out = dg_json_parse(q->body, q->body_len, &why);
    if (!*out)
        return dg_error_field(err, why.code == DG_ENOMEM ? DG_ENOMEM : DG_EINVAL, "body",
            "Invalid JSON format: %s", why.message);
    if (dg_json_typeof(*out) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, "body", "Invalid JSON format");
    return DG_OK;
}

int dg_lt_parameters(
    const struct dg_http_exchange *x, struct dg_json **out, bool *form, struct dg_error *err)
{
    const struct dg_http_request *q = dg_http_request(x);
    char type[80];
    media_type(x, type);
    *form = !is_json(type);
    *out = NULL;
    if (!*form)
        return read_json(q, out, err);
    *out = dg_json_new_object();
    if (!*out)
        return dg_error_set(err, DG_ENOMEM, "no memory for a form");
    int rc = dg_form_read(q->query, strlen(q->query), *out, err);
    if (rc == DG_OK && !strcmp(type, "application/x-www-form-urlencoded"))
        rc = dg_form_read(q->body, q->body_len, *out, err);
    return rc;
}

/* Of a form's several values the first, as LibreTranslate does. */
static const struct dg_json *first(const struct dg_json *v)
{
    return dg_json_typeof(v) == DG_JSON_ARRAY ? dg_json_at(v, 0) : v;
}

int dg_lt_string(const struct dg_json *o, const char *key, const char **out, struct dg_error *err)
{
    const struct dg_json *v = dg_json_get(o, key);
    *out = dg_json_string(first(v), NULL);
    if (!v || dg_json_typeof(v) == DG_JSON_NULL || (*out && (*out)[0] == '\0'))
        return dg_error_field(err, DG_EINVAL, key, "Invalid request: missing %s parameter", key);
    if (!*out)
        return dg_error_field(
            err, DG_EINVAL, key, "Invalid request: %s parameter is not a string", key);
    return DG_OK;
}

int dg_lt_alternatives(const struct dg_json *o, int64_t *out, struct dg_error *err)
{
    const struct dg_json *v = first(dg_json_get(o, "alternatives"));
    *out = 0;
    if (!v || dg_json_typeof(v) == DG_JSON_NULL)
        return DG_OK;
    const char *text = dg_json_string(v, NULL);
    char *end = NULL;
    errno = 0;
    *out = text ? strtoll(text, &end, 10) : dg_json_int(v);
    const bool number =
        text ? !errno && end != text && *end == '\0' : dg_json_typeof(v) == DG_JSON_INT;
    if (!number || *out < 0)
        return dg_error_field(err, DG_EINVAL, "alternatives",
            "Invalid request: alternatives parameter is not a number");
    return DG_OK;
}

bool dg_lt_key(const struct dg_http_exchange *x, char out[DG_GATE_KEY])
{
    static const char name[] = "api_key";
    const struct dg_http_request *q = dg_http_request(x);
    struct dg_json *parameters = NULL;
    const char *key = NULL;
    bool form;
    /* Mostly there is none, and the body is not to be read twice to find that out. */
    if (!strstr(q->query, name) && !memmem(q->body, q->body_len, name, sizeof name - 1))
        return false;
    if (dg_lt_parameters(x, &parameters, &form, NULL) == DG_OK)
        key = dg_json_string(first(dg_json_get(parameters, name)), NULL);
    const bool found = key && key[0] != '\0';
    if (found)
        snprintf(out, DG_GATE_KEY, "%s", key); /* what is longer is no key of this server anyway */
    dg_json_free(parameters);
    return found;
}
