#include "server/api/dispatch.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "server/access/gate.h"
#include "server/api/cors.h"
#include "server/api/endpoints.h"
#include "server/api/health.h"
#include "server/api/metrics_page.h"
#include "server/api/routes.h"
#include "server/http/request_id.h"
#include "server/metrics.h"

#include <stdio.h>
#include <string.h>

/* Sets the headers that every reply of a dialect has. */
static void mark(
    const struct dg_app *app, struct dg_http_exchange *x, const struct dg_dialect *dialect)
{
    dg_cors_mark(app->cors, x, dialect);
    dg_http_set_id_header(x, dialect ? dialect->id_header : NULL);
}

/* Refuses a request that has no route. */
static void refuse(
    struct dg_http_exchange *x, int status, const char *allow, const struct dg_dialect *dialect)
{
    const struct dg_http_request *request = dg_http_request(x);
    struct dg_http_reply r = {.status = status};
    char message[192] = "no such path: GET / lists the routes";
    if (status == 405)
        snprintf(message, sizeof message, "%.80s takes %s, not %.16s", request->path, allow,
            request->method);
    if (status != 204)
        dg_dialect_error(
            dialect, &r, status, status == 405 ? "method_not_allowed" : "not_found", NULL, message);
    if (status != 404)
        dg_http_reply_header(&r, "Allow", "%s", allow);
    dg_http_reply_take(x, &r);
}

static enum dg_gate_verdict enter(
    const struct dg_app *app, struct dg_http_exchange *x, const struct dg_route *route)
{
    const struct dg_gate gate = {app->auth, app->rates};
    unsigned scope = dg_routes_scope(route, strcmp(app->config.keys_open, "pages") == 0);
    /* Without keys anybody may read, as at /metrics; changes need the Unix socket. */
    if (!app->auth && strcmp(route->method, "GET") == 0 && !route->endpoint)
        scope = 0;
    return dg_gate_enter(&gate, x, scope, route->dialect ? &route->dialect->gate : NULL);
}

/* Checks the headers of a request that has a route, and refuses it if they rule it out. */
static void admit(struct dg_app *app, struct dg_http_exchange *x, const struct dg_route *route)
{
    /* Without models, translations are impossible and lists of languages are empty, and clients
     * keep an empty list for days. A request that is refused for this does not count in its key's
     * rate. */
    if (atomic_load(&app->state) == DG_APP_STARTING && dg_routes_need_models(route)) {
        dg_dialect_reply_error(x, route->dialect, 503, "starting", "the models are loading");
        return;
    }
    const enum dg_gate_verdict verdict = enter(app, x, route);
    if (verdict == DG_GATE_REFUSED)
        return;
    if (verdict == DG_GATE_WAITS)
        dg_http_unproven(x);
    if (app->uploader && route->flags & DG_ROUTE_UPLOAD)
        dg_http_upload(x);
    /* Without keys, every page that somebody on this machine opens can reach the server. */
    const char *why = app->auth ? NULL : dg_cors_refusal(app->cors, x, route->dialect);
    if (why)
        dg_dialect_reply_error(x, route->dialect, 403, "forbidden", why);
}

void dg_dispatch_admit(void *arg, struct dg_http_exchange *x)
{
    const struct dg_http_request *request = dg_http_request(x);
    struct dg_app *app = arg;
    char allow[64];
    int status;
    const struct dg_dialect *dialect;
    dg_json_begin();
    const struct dg_route *route = dg_routes_find(
        request->method, request->path, app->config.dialects, &status, allow, &dialect);
    mark(app, x, dialect);
    if (!route) {
        refuse(x, status, allow, dialect);
    } else if (dg_gate_open(x, route)) {
        atomic_fetch_add(&app->in_flight, 1);
        admit(app, x, route);
    }
}

void dg_dispatch_handle(void *arg, struct dg_http_exchange *x)
{
    struct dg_app *app = arg;
    const struct dg_route *route = dg_gate_route(x);
    dg_json_begin();
    if (dg_gate_waits(x) && enter(app, x, route) == DG_GATE_REFUSED)
        return;
    if (route->endpoint)
        dg_endpoint_handle(app, x, route->endpoint);
    else if (route->answer)
        dg_side_run(app, x, route->answer);
    else
        route->handle(app, x);
}

void dg_dispatch_mark(void *arg, struct dg_http_exchange *x, struct dg_http_reply *r)
{
    const struct dg_app *app = arg;
    const struct dg_gate gate = {app->auth, app->rates};
    dg_gate_mark(&gate, x, r);
}

void dg_dispatch_refuse(void *arg, struct dg_http_exchange *x, int status, const char *code,
    const char *message, struct dg_http_reply *r)
{
    const struct dg_http_request *request = dg_http_request(x);
    const struct dg_app *app = arg;
    const struct dg_dialect *dialect;
    char allow[64];
    int found;
    dg_routes_find(request->method, request->path, app->config.dialects, &found, allow, &dialect);
    mark(app, x, dialect);
    dg_dialect_error(dialect, r, status, code, status == 413 ? "body" : NULL, message);
}

/* The metrics' name for how a translation request ended. */
static enum dg_metrics_outcome outcome_of(int status)
{
    switch (status) {
    case 200:
    case 201: return DG_OUTCOME_OK;
    case 503: return DG_OUTCOME_OVERLOADED;
    case 401:
    case 403:
    case 429:
    case 456: return DG_OUTCOME_REFUSED;
    case 499: return DG_OUTCOME_CANCELLED;
    case 504: return DG_OUTCOME_TIMEOUT;
    default: return status < 500 ? DG_OUTCOME_INVALID : DG_OUTCOME_ERROR;
    }
}

static void count(struct dg_app *app, const struct dg_route *route,
    const struct dg_metrics_exchange *e, int outcome)
{
    size_t n;
    const struct dg_route *routes = dg_routes(&n);
    const size_t i = route ? (size_t)(route - routes) : n;
    dg_metrics_http(app->metrics, i, e);
    if (!route)
        return;
    atomic_fetch_sub(&app->in_flight, 1);
    if (dg_routes_translate(route))
        dg_metrics_request(app->metrics, i, outcome_of(outcome));
}

/* True for one in --access-log requests, and for all server errors. */
static bool is_logged(struct dg_app *app, int status)
{
    uint64_t every = (uint64_t)app->config.access_log;
    return status >= 500 || (every > 0 && atomic_fetch_add(&app->answered, 1) % every == 0);
}

/* The access log: paths of known routes only, no text and no address. */
void dg_dispatch_finished(void *arg, struct dg_http_exchange *x, int status)
{
    struct dg_app *app = arg;
    const struct dg_http_request *request = dg_http_request(x);
    const struct dg_route *route = dg_gate_route(x);
    double ms = request->start_ns > 0 ? (double)(dg_clock_ns() - request->start_ns) / 1e6 : 0;
    const struct dg_metrics_exchange e = {.status = status,
        .seconds = ms / 1e3,
        .bytes_in = request->body_len,
        .bytes_out = dg_http_sent(x)};
    /* A stream sends 200 before it can fail, or before its client leaves. */
    int outcome = status == 200 && dg_http_outcome(x) != 0 ? dg_http_outcome(x) : status;
    count(app, route, &e, outcome);
    /* Successful probes come every few seconds and are no news: they are logged at debug level. */
    bool probe = status == 200 && route &&
                 (route->handle == dg_health_live || route->handle == dg_health_ready ||
                     route->handle == dg_metrics_page);
    if (!is_logged(app, status))
        return dg_gate_leave(app->auth, x, outcome);
    char trace[33];
    dg_trace_id(request->trace, trace);
    dg_log(probe ? DG_LOG_DEBUG : DG_LOG_INFO,
        "request method=%s route=%s status=%d ms=%.2f bytes_in=%zu bytes_out=%zu id=%s trace=%s "
        "key=%s",
        route ? route->method : "-", route ? route->path : "-", status, ms, request->body_len,
        e.bytes_out, request->id[0] != '\0' ? request->id : "-", trace, dg_gate_key(x));
    dg_gate_leave(app->auth, x, outcome);
}
