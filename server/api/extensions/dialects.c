/* How the extensions' APIs take keys and report errors. */
#include "server/access/auth.h"
#include "server/api/extensions/extensions.h"
#include "server/api/parameters.h"
#include "server/http/reply.h"

#include <string.h>

static void error(struct dg_http_reply *r, int status, const char *message)
{
    dg_reply_message(r, status, "error", message);
}

void dg_extension_fail(struct dg_http_reply *r, const struct dg_error *err)
{
    error(r, dg_reply_status(err), err->message);
}

static void deeplx_error(struct dg_http_reply *r, int status, const char *message)
{
    struct dg_json *root = dg_json_new_object();
    dg_json_set_int(root, "code", status);
    dg_reply_set_text(root, "message", message);
    dg_reply_refusal_take(r, status, root);
}

void dg_deeplx_fail(struct dg_http_reply *r, const struct dg_error *err)
{
    const bool empty = err->code == DG_ENOTFOUND && strcmp(err->field, "text") == 0;
    deeplx_error(r, empty ? 404 : dg_reply_status(err), err->message);
}

static int status_of(enum dg_auth_verdict why)
{
    return why == DG_AUTH_RATE ? 429 : why == DG_AUTH_SCOPE ? 403 : 401;
}

static void refuse_key(struct dg_http_reply *r, enum dg_auth_verdict why, const char *message)
{
    error(r, status_of(why), message);
}

static void deeplx_refuse_key(
    struct dg_http_reply *r, enum dg_auth_verdict why, const char *message)
{
    const int status = status_of(why);
    deeplx_error(r, status, status == 401 ? "Invalid access token" : message);
}

/* "?token=KEY", or as DeepL's clients send it. */
static bool find_key(const struct dg_http_exchange *x, char out[DG_GATE_KEY])
{
    return dg_parameters_scheme_key(x, "DeepL-Auth-Key", out) ||
           dg_parameters_query_key(x, "token", out);
}

#define EXTENSION(title)                                                                           \
    {                                                                                              \
        .name = (title), .for_pages = true, .gate = {.find_key = find_key, .refuse = refuse_key},  \
        .refuse = error,                                                                           \
    }

const struct dg_dialect dg_imme = EXTENSION("imme");
const struct dg_dialect dg_kiss = EXTENSION("kiss");
const struct dg_dialect dg_hcfy = EXTENSION("hcfy");
const struct dg_dialect dg_deeplx = {
    .name = "deeplx",
    .for_pages = true,
    .gate = {.find_key = find_key, .refuse = deeplx_refuse_key},
    .refuse = deeplx_error,
};
