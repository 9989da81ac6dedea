#include "server/api/api.h"

#include "server/http/reply.h"

#include <strings.h>

/* "application/json", with or without parameters. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (!type || strncasecmp(type, json, sizeof json - 1) != 0)
        return false;
    char next = type[sizeof json - 1];
    return next == '\0' || next == ';' || next == ' ' || next == '\t';
}

bool dg_api_accept(const struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    if (!is_json(dg_http_header(x, "Content-Type")))
        dg_reply_error(&r, 415, "unsupported_media_type", "Content-Type",
            "Content-Type must be application/json");
    else if (atomic_load(&app->state) == DG_APP_STARTING)
        dg_reply_error(&r, 503, "starting", NULL, "the models are being loaded");
    else if (dg_http_gone(x)) /* before any work is done for it */
        dg_reply_client_gone(&r);
    else
        return true;
    dg_http_reply_take(x, &r);
    return false;
}

struct dg_request_limits dg_api_limits(const struct dg_app *app)
{
    return (struct dg_request_limits){
        .characters = (size_t)app->config.max_characters,
        .texts = (size_t)app->config.max_texts,
        .beam = (uint32_t)app->config.max_beam,
        .timeout_ms = app->config.request_timeout_ms,
    };
}

int dg_api_timeout(
    const struct dg_http_exchange *x, int64_t limit_ms, int64_t *timeout_ms, struct dg_error *err)
{
    const char *header = dg_http_header(x, "X-Request-Timeout");
    if (*timeout_ms > 0 || !header)
        return DG_OK;
    return dg_request_timeout_read(header, limit_ms, timeout_ms, err);
}

int dg_api_check_sentences(const struct dg_app *app, struct dg_job *const *jobs, size_t n,
    const char *field, struct dg_error *err)
{
    size_t sentences = 0;
    for (size_t i = 0; i < n; i++)
        sentences += dg_job_sentences(jobs[i]);
    if (sentences <= (size_t)app->config.max_sentences)
        return DG_OK;
    return dg_error_field(err, DG_ELIMIT, field, "%s has %zu sentences, the limit is %lld", field,
        sentences, (long long)app->config.max_sentences);
}

void dg_api_fail(struct dg_http_exchange *x, const struct dg_error *err)
{
    struct dg_http_reply r = {0};
    dg_reply_failure(&r, err);
    dg_http_reply_take(x, &r);
}
