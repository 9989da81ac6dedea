/* Sends a request's reply. HTTP threads. */
#include "server/request/steps.h"

#include "server/access/gate.h"
#include "server/http/reply.h"
#include "server/request/feeder.h"
#include "server/schedule/queue.h"

void dg_request_refuse(
    const struct dg_request *r, const struct dg_error *err, struct dg_http_reply *reply)
{
    struct dg_queue_load load;
    r->kind->fail(reply, err);
    if (err->code == DG_EAGAIN && !r->fed && !r->kind->work) {
        /* There is room again when the work that waits now is done. */
        dg_queue_load(r->app->queue, &load);
        dg_reply_retry_after(reply, (int64_t)load.seconds + 1);
    }
}

/* All items are over: sends a whole reply. */
static void finish_whole(void *arg, struct dg_http_exchange *x)
{
    struct dg_request *r = arg;
    struct dg_http_reply reply = {.status = 200, .content_type = "application/json"};
    if (r->direct && r->failed.code == DG_OK)
        dg_request_write_whole(r);
    bool client_gone = atomic_load(&r->ended) == DG_TASK_GONE;
    if (client_gone && (r->failed.code != DG_OK || r->reply.len == 0)) {
        dg_reply_client_gone(&reply);
    } else if (r->failed.code != DG_OK) {
        dg_request_refuse(r, &r->failed, &reply);
    } else {
        reply.body = dg_buffer_take(&r->reply, &reply.body_len);
        dg_http_reply_header(&reply, "Server-Timing", "%s", r->timing);
    }
    if (r->fed && !client_gone && r->failed.code == DG_OK)
        dg_gate_answered(x, r->answered);
    if (r->version[0] != '\0')
        dg_http_reply_header(&reply, "X-Model-Version", "%s", r->version);
    dg_http_reply_take(x, &reply);
}

/* Begins a reply of events or lines, whose outcome is not known yet. */
static void begin(void *arg, struct dg_http_exchange *x)
{
    const struct dg_request *r = arg;
    struct dg_http_reply reply = {.status = 200, .content_type = "application/x-ndjson"};
    if (r->shape == DG_SHAPE_EVENTS) {
        reply.content_type = "text/event-stream";
        reply.ping = ": ping\n\n"; /* a comment, which clients ignore */
        dg_http_reply_header(&reply, "Cache-Control", "no-store");
    }
    dg_http_reply_header(&reply, "X-Accel-Buffering", "no"); /* or nginx would buffer them */
    if (r->version[0] != '\0')
        dg_http_reply_header(&reply, "X-Model-Version", "%s", r->version);
    dg_http_reply_take(x, &reply);
}

static void fill_events(void *arg, struct dg_http_exchange *x, bool last, struct dg_buffer *out)
{
    struct dg_request *r = arg;
    pthread_mutex_lock(&r->lock);
    out->failed |= r->events.failed;
    dg_buffer_add(out, r->events.data, r->events.len);
    dg_buffer_deinit(&r->events);
    pthread_mutex_unlock(&r->lock);
    if (!last || r->failed.code == DG_OK)
        return;
    dg_http_set_outcome(x, dg_reply_status(&r->failed));
    dg_gate_answered(x, r->streamed);
}

/* The deadline passed a second ago, and the engine has not released the request: writes that as the
 * last event. */
static void fill_late(void *arg, struct dg_http_exchange *x, struct dg_buffer *out)
{
    struct dg_request *r = arg;
    struct dg_error err = {0};
    dg_error_set(&err, DG_ETIMEOUT, "the request's deadline passed");
    r->kind->write_end(r->items, &err, out);
    dg_http_set_outcome(x, dg_reply_status(&err));
    pthread_mutex_lock(&r->lock);
    int64_t streamed = r->streamed;
    pthread_mutex_unlock(&r->lock);
    dg_gate_answered(x, streamed);
}

static void fill_lines(void *arg, struct dg_http_exchange *x, bool last, struct dg_buffer *out)
{
    struct dg_request *r = arg;
    dg_feeder_take_lines(r->app->feeder, r, out);
    if (last)
        dg_gate_answered(x, r->answered);
}

static void gone(void *arg)
{
    dg_request_end(arg, DG_TASK_GONE);
}

static void drop(void *arg)
{
    dg_request_free(arg);
}

const struct dg_http_later dg_request_later[3] = {
    [DG_SHAPE_WHOLE] = {.finish = finish_whole, .gone = gone, .drop = drop},
    [DG_SHAPE_EVENTS] =
        {.finish = begin, .gone = gone, .drop = drop, .fill = fill_events, .late = fill_late},
    [DG_SHAPE_LINES] = {.finish = begin, .gone = gone, .drop = drop, .fill = fill_lines}};
