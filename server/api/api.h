/* What every POST of the API does before its own work. HTTP threads. */
#ifndef DG_SERVER_API_API_H
#define DG_SERVER_API_API_H

#include "server/app.h"
#include "server/http/http.h"
#include "server/api/request_fields.h"

/* Is the body JSON, are there models, is the client still there? False: it was refused. */
bool dg_api_accept(const struct dg_app *app, struct dg_http_exchange *x);
/* The limits of one request. */
struct dg_request_limits dg_api_limits(const struct dg_app *app);
/* The body's timeout_ms (in *timeout_ms) stands; else header X-Request-Timeout, up to limit_ms;
 * else 0. */
int dg_api_timeout(
    const struct dg_http_exchange *x, int64_t limit_ms, int64_t *timeout_ms, struct dg_error *err);
/* DG_ELIMIT, naming field, when the jobs[n] of one request have too many sentences. */
int dg_api_check_sentences(const struct dg_app *app, struct dg_job *const *jobs, size_t n,
    const char *field, struct dg_error *err);
/* Reply with an error. */
void dg_api_fail(struct dg_http_exchange *x, const struct dg_error *err);

#endif
