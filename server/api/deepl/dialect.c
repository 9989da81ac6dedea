#include "server/api/deepl/deepl.h"
#include "server/api/parameters.h"
#include "server/http/reply.h"

#include <ctype.h>
#include <string.h>

static void error(struct dg_http_reply *r, int status, const char *message)
{
    dg_reply_message(r, status, "message", message);
}

/* A used-up quota is 456 rather than 429: clients try again after 429 and 5xx. */
void dg_deepl_fail(struct dg_http_reply *r, const struct dg_error *err)
{
    struct dg_error own = {0};
    const int status = err->code == DG_EQUOTA ? 456 : dg_reply_status(err);
    if (strcmp(err->field, "rerank") == 0) { /* what model_type asks for (translate.c) */
        dg_deepl_not_supported("model_type", &own);
        err = &own;
    }
    error(r, status, err->code == DG_EQUOTA ? "Quota exceeded" : err->message);
}

void dg_deepl_fail_resource(struct dg_http_reply *r, const struct dg_error *err)
{
    if (err->code == DG_ENOTFOUND)
        error(r, 404, err->message);
    else if (err->code == DG_EUNSUP)
        error(r, 415, err->message);
    else
        dg_deepl_fail(r, err);
}

void dg_deepl_reply_take(
    struct dg_http_reply *r, int status, struct dg_json *value, const struct dg_error *err)
{
    if (err->code == DG_OK && status != 204) {
        dg_reply_json_take(r, status, value);
    } else if (err->code == DG_OK) {
        r->status = status;
    } else {
        dg_json_free(value);
        dg_deepl_fail_resource(r, err);
    }
}

int dg_deepl_not_supported(const char *key, struct dg_error *err)
{
    return dg_error_field(err, DG_EINVAL, key, "Value for '%s' not supported.", key);
}

static void refuse_key(struct dg_http_reply *r, enum dg_auth_verdict why, const char *message)
{
    switch (why) {
    case DG_AUTH_RATE: error(r, 429, "Too many requests"); break;
    case DG_AUTH_SCOPE: error(r, 403, message); break;
    default: error(r, 403, "Authorization failure, check auth_key"); break;
    }
}

/* "Authorization: DeepL-Auth-Key KEY"; older clients send parameter auth_key. */
static bool find_key(const struct dg_http_exchange *x, char out[DG_GATE_KEY])
{
    return dg_parameters_scheme_key(x, "DeepL-Auth-Key", out) ||
           dg_parameters_key(x, "auth_key", out);
}

void dg_deepl_code(const char *code, char out[36])
{
    size_t n = 0;
    for (; n < 35 && code[n] != '\0'; n++)
        out[n] = code[n] == '_' ? '-' : (char)toupper((unsigned char)code[n]);
    out[n] = '\0';
}

const struct dg_dialect dg_deepl = {
    .name = "deepl",
    .id_header = "X-Trace-ID",
    .prefixes = {"/v2/", "/v3/"},
    .gate = {.find_key = find_key, .in_body = true, .refuse = refuse_key},
    .refuse = error,
};
