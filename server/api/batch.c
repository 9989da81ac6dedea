#include "server/api/batch.h"

#include "base/clock.h"
#include "server/api/api.h"
#include "server/request/batch.h"
#include "server/access/gate.h"
#include "server/http/reply.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PARTS_NS 10000000000ull /* what was done by the deadline is worth this wait */
#define MS_NS 1000000ull
#define LINES "application/x-ndjson"

/* Does the client ask for lines? Quality values are not weighed: who names lines gets them. */
static bool wants_lines(const struct dg_http_exchange *x)
{
    const char *accept = dg_http_header(x, "Accept");
    for (const char *p = accept; p && *p; p++)
        if (strncasecmp(p, LINES, sizeof LINES - 1) == 0)
            return true;
    return false;
}

struct reply {
    struct dg_http_exchange *x;
    struct dg_batch *batch;
    atomic_bool gone;
};

static void finish_lines(void *arg, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {.status = 200, .content_type = LINES};
    (void)arg;
    dg_http_reply_header(&r, "X-Accel-Buffering", "no"); /* nginx would hold the lines back */
    dg_http_reply_take(x, &r);
}

static void fill_lines(void *arg, struct dg_http_exchange *x, bool last, struct dg_buffer *out)
{
    struct reply *r = arg;
    dg_batch_take_lines(r->batch, out);
    if (last)
        dg_gate_answered(x, dg_batch_answered(r->batch));
}

static void finish_json(void *arg, struct dg_http_exchange *x)
{
    struct reply *reply = arg;
    struct dg_http_reply r = {.status = 200, .content_type = "application/json"};
    struct dg_error err = {0};
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_batch_write(reply->batch, &b);
    if (atomic_load(&reply->gone)) {
        dg_reply_client_gone(&r);
        dg_http_reply_take(x, &r);
    } else if (b.failed) {
        dg_error_set(&err, DG_ENOMEM, "no memory for the answers");
        dg_api_fail(x, &err);
    } else {
        dg_gate_answered(x, dg_batch_answered(reply->batch));
        r.body = dg_buffer_take(&b, &r.body_len);
        dg_http_reply_header(&r, "Server-Timing", "total;dur=%.2f",
            (double)(dg_clock_ns() - dg_http_request(x)->handled_ns) / 1e6);
        dg_http_reply_take(x, &r);
    }
    dg_buffer_deinit(&b);
}

static void gone(void *arg)
{
    struct reply *r = arg;
    atomic_store(&r->gone, true);
    dg_batch_cancel(r->batch);
}

static void drop(void *arg)
{
    struct reply *r = arg;
    dg_batch_free(r->batch);
    free(r);
}

static void ready(void *arg)
{
    struct reply *r = arg;
    dg_http_poke(r->x);
}

static void done(void *arg)
{
    struct reply *r = arg;
    dg_http_wake(r->x);
}

static struct dg_batch_limits limits_of(const struct dg_app *app)
{
    struct dg_batch_limits limits = {
        .item = dg_api_limits(app),
        .items = (size_t)app->config.max_batch_items,
        .characters = (size_t)app->config.max_batch_characters,
    };
    limits.item.timeout_ms = app->config.batch_timeout_ms;
    return limits;
}

/* The characters of the items that are well-formed count for the key's day, in the end those of the
 * items that were translated. */
static int use_quota(struct dg_app *app, struct dg_http_exchange *x, const struct dg_v1_batch *r,
    struct dg_error *err)
{
    int64_t characters = 0;
    for (size_t i = 0; i < r->n; i++)
        if (!r->items[i].error)
            characters += (int64_t)dg_request_characters(&r->items[i].text);
    return dg_gate_use(app->auth, x, characters, err);
}

/* From here on the batch answers; request is taken over. */
static void start(struct dg_app *app, struct dg_http_exchange *x, struct dg_v1_batch *request)
{
    static const struct dg_http_later whole = {.finish = finish_json, .gone = gone, .drop = drop},
                                      lines = {.finish = finish_lines,
                                          .gone = gone,
                                          .drop = drop,
                                          .fill = fill_lines};
    struct dg_error err = {0};
    struct reply *r = calloc(1, sizeof *r);
    int64_t ms = request->timeout_ms > 0 ? request->timeout_ms : app->config.batch_timeout_ms;
    struct dg_batch_options o = {
        .deadline_ns = dg_http_request(x)->start_ns + (uint64_t)ms * MS_NS,
        .lines = wants_lines(x),
        .ready = ready,
        .done = done,
        .arg = r,
    };
    int rc = DG_OK;
    if (!r) {
        rc = dg_error_set(&err, DG_ENOMEM, "no memory for a batch");
        dg_v1_batch_free(request);
    } else {
        r->x = x;
        rc = dg_batch_open(app->feeder, request, &o, &r->batch, &err);
    }
    if (rc != DG_OK) {
        free(r);
        dg_api_fail(x, &err);
        return;
    }
    dg_http_later(x, o.lines ? &lines : &whole, r); /* before the start: it may end at once */
    dg_http_due(x, o.deadline_ns + PARTS_NS);
    rc = dg_batch_start(r->batch, &err);
    if (rc != DG_OK)
        dg_api_fail(x, &err);
}

void dg_api_batch(struct dg_app *app, struct dg_http_exchange *x)
{
    const struct dg_http_request *request = dg_http_request(x);
    struct dg_batch_limits limits = limits_of(app);
    struct dg_v1_batch r;
    struct dg_error err = {0};
    if (!dg_api_accept(app, x))
        return;
    int rc = dg_v1_batch_read(request->body, request->body_len, &limits, &r, &err);
    if (rc == DG_OK)
        rc = dg_api_timeout(x, limits.item.timeout_ms, &r.timeout_ms, &err);
    if (rc == DG_OK)
        rc = use_quota(app, x, &r, &err);
    if (rc == DG_OK) {
        start(app, x, &r);
        return;
    }
    dg_v1_batch_free(&r);
    dg_api_fail(x, &err);
}
