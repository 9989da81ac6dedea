#include "server/access/auth.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/parameters.h"
#include "server/http/reply.h"

static void error(struct dg_http_reply *r, int status, const char *message)
{
    dg_reply_message(r, status, "error", message);
}

/* In LibreTranslate, limits are 400, and messages of 429 begin with "Slowdown". */
void dg_libretranslate_fail(struct dg_http_reply *r, const struct dg_error *err)
{
    struct dg_error slow = {0};
    int status = dg_reply_status(err);
    if (status == 413)
        status = 400;
    if (status == 429)
        dg_error_set(&slow, err->code, "Slowdown: %.400s", err->message);
    error(r, status, status == 429 ? slow.message : err->message);
}

static void refuse_key(struct dg_http_reply *r, enum dg_auth_verdict verdict, const char *message)
{
    switch (verdict) {
    case DG_AUTH_MISSING:
        error(r, 400, "Please contact the server operator to get an API key");
        break;
    case DG_AUTH_UNKNOWN: error(r, 403, "Invalid API key"); break;
    case DG_AUTH_RATE: error(r, 429, "Slowdown: the requests of this minute are used up"); break;
    default: error(r, 403, message); break;
    }
}

static bool find_key(const struct dg_http_exchange *x, char out[DG_GATE_KEY])
{
    return dg_parameters_key(x, "api_key", out);
}

const struct dg_dialect dg_libretranslate = {
    .name = "libretranslate",
    .for_pages = true,
    .gate = {.find_key = find_key, .in_body = true, .refuse = refuse_key},
    .refuse = error,
};
