#include "server/api/endpoints.h"

#include "base/json_scan.h"
#include "server/access/gate.h"
#include "server/config.h"
#include "server/http/reply.h"

#include <strings.h>

#define LINES "application/x-ndjson"

/* Does the client ask for lines? Quality values are not weighed: a client that names lines gets
 * them. */
static bool wants_lines(const struct dg_http_exchange *x)
{
    const char *accept = dg_http_header(x, "Accept");
    for (const char *p = accept; p && *p; p++)
        if (strncasecmp(p, LINES, sizeof LINES - 1) == 0)
            return true;
    return false;
}

/* Checks the media type of our own API's bodies, and that somebody waits for the answer. */
static bool accept(struct dg_http_exchange *x, const struct dg_endpoint *endpoint)
{
    struct dg_http_reply r = {0};
    if (!endpoint->read && !dg_http_is_type(dg_http_header(x, "Content-Type"), "application/json"))
        dg_reply_error(&r, 415, "unsupported_media_type", "Content-Type",
            "Content-Type must be application/json");
    else if (dg_http_gone(x)) /* before any work is done for it */
        dg_reply_client_gone(&r);
    else
        return true;
    dg_http_reply_take(x, &r);
    return false;
}

/* The limits of one request; fed: of a batch. */
static struct dg_limits limits_of(const struct dg_app *app, bool fed)
{
    const struct dg_server_config *c = &app->config;
    return (struct dg_limits){
        .characters = (size_t)c->max_characters,
        .texts = (size_t)c->max_texts,
        .beam = (uint32_t)c->max_beam,
        .items = (size_t)c->max_batch_items,
        .all_characters = (size_t)c->max_batch_characters,
        .timeout_ms = fed ? c->batch_timeout_ms : c->request_timeout_ms,
    };
}

/* The body's timeout_ms; else header X-Request-Timeout; else the limit. */
static int read_timeout(struct dg_request *r, int64_t limit_ms, struct dg_error *err)
{
    int64_t said_ms = limit_ms;
    int rc = r->timeout_header ? dg_body_timeout_header(r->timeout_header, limit_ms, &said_ms, err)
                               : DG_OK;
    if (r->timeout_ms == 0)
        r->timeout_ms = said_ms;
    return rc;
}

/* Finds the deadline that the client asks for before the body is parsed, which may take longer than
 * that. An invalid one is ignored here, and refused after parsing. */
static void find_timeout(const struct dg_endpoint *endpoint, struct dg_request *r, int64_t limit_ms)
{
    const struct dg_http_request *request = dg_http_request(r->x);
    int64_t ms = endpoint->read ? -1 /* its body has no timeout_ms */
                                : dg_json_scan_int(request->body, request->body_len, "timeout_ms");
    if (ms < 0 && r->timeout_header)
        dg_body_timeout_header(r->timeout_header, limit_ms, &ms, NULL);
    if (ms > 0 && ms < limit_ms)
        dg_request_set_timeout(r, ms);
}

/* Takes the characters of the well-formed items from the key's daily quota; those of items that are
 * not answered are given back later. */
static int use_quota(const struct dg_request *r, struct dg_error *err)
{
    int64_t characters = 0;
    for (size_t i = 0; i < r->n; i++)
        characters += r->items[i].wrong ? 0 : (int64_t)r->items[i].characters;
    return dg_gate_use(r->app->auth, r->visit, characters, err);
}

int dg_endpoint_read(const struct dg_endpoint *endpoint, struct dg_request *r, const char *body,
    size_t n, const struct dg_limits *limits, struct dg_error *err)
{
    struct dg_body b;
    dg_body_init(&b, r, limits);
    int rc = dg_body_parse(r, body, n, err);
    if (rc == DG_OK)
        rc = dg_body_read(&b, r->body, NULL, endpoint->fields, err);
    r->priority = b.priority;
    r->timeout_ms = b.timeout_ms;
    if (rc == DG_OK && endpoint->take)
        return endpoint->take(r, &b, err);
    if (rc == DG_OK)
        rc = dg_request_make_items(r, 1, err);
    if (rc == DG_OK)
        dg_body_put(&b, 0, b.n_texts, r->items);
    return rc;
}

/* On a planner's thread. */
static int read_body(struct dg_request *r, struct dg_error *err)
{
    const struct dg_endpoint *endpoint = r->reader;
    const struct dg_http_request *request = dg_http_request(r->x);
    struct dg_limits limits = limits_of(r->app, endpoint->kind.fed);
    if (!r->direct)
        find_timeout(endpoint, r, limits.timeout_ms);
    r->timeout_ms = 0;
    int rc = endpoint->read
                 ? endpoint->read(r, &limits, err)
                 : dg_endpoint_read(endpoint, r, request->body, request->body_len, &limits, err);
    if (rc == DG_OK)
        rc = read_timeout(r, limits.timeout_ms, err);
    if (rc == DG_OK && !endpoint->kind.at_once)
        rc = use_quota(r, err);
    if (rc == DG_OK && endpoint->kind.fed && r->wants_lines)
        r->shape = DG_SHAPE_LINES;
    return rc;
}

/* Copies what is needed of the headers, which are not available later. */
static int take_headers(struct dg_request *r, struct dg_error *err)
{
    const char *timeout = dg_http_header(r->x, "X-Request-Timeout");
    r->wants_lines = wants_lines(r->x);
    r->timeout_header = timeout ? dg_arena_strdup(&r->arena, timeout) : NULL;
    return timeout && !r->timeout_header ? dg_error_set(err, DG_ENOMEM, "no memory for a header")
                                         : DG_OK;
}

void dg_endpoint_handle(
    struct dg_app *app, struct dg_http_exchange *x, const struct dg_endpoint *endpoint)
{
    struct dg_request *r = NULL;
    struct dg_http_reply reply = {0};
    struct dg_error err = {0};
    if (!accept(x, endpoint))
        return;
    int rc = dg_request_open(app, x, &endpoint->kind, &r, &err);
    if (rc == DG_OK)
        rc = take_headers(r, &err);
    if (rc == DG_OK) {
        r->read = read_body;
        r->reader = endpoint;
        r->timeout_ms = limits_of(app, endpoint->kind.fed).timeout_ms;
        dg_request_start_take(r);
        return;
    }
    dg_request_free(r);
    endpoint->kind.fail(&reply, &err);
    dg_http_reply_take(x, &reply);
}
