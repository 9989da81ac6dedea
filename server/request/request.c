#include "server/request/request.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/access/gate.h"
#include "server/http/reply.h"
#include "server/metrics.h"
#include "server/request/feeder.h"
#include "server/request/stream.h"
#include "server/schedule/queue.h"

#include <stdlib.h>

#define MS_NS 1000000ull
/* What a fed request has done by its deadline is worth this wait. */
#define PARTS_NS 10000000000ull
#define MAX_WORKS 32 /* requests of a kind with `work` whose answers are not read to their end */

/* ---- memory ---- */

static void late(void *arg);

int dg_request_open(struct dg_app *app, struct dg_http_exchange *x,
    const struct dg_request_kind *kind, struct dg_request **out, struct dg_error *err)
{
    if (kind->work && atomic_fetch_add(&app->works, 1) >= MAX_WORKS) {
        atomic_fetch_sub(&app->works, 1);
        return dg_error_set(err, DG_EAGAIN,
            "%d requests of this kind are open already, or their answers are being read",
            MAX_WORKS);
    }
    struct dg_request *r = calloc(1, sizeof *r);
    if (!r) {
        if (kind->work)
            atomic_fetch_sub(&app->works, 1);
        return dg_error_set(err, DG_ENOMEM, "no memory for a request");
    }
    r->kind = kind;
    r->app = app;
    r->x = x;
    dg_arena_init(&r->arena, 0);
    atomic_init(&r->refs, 1);
    r->late = (struct dg_work){.run = late, .arg = r};
    *out = r;
    return DG_OK;
}

int dg_request_make_items(struct dg_request *r, size_t n, struct dg_error *err)
{
    r->items = dg_arena_array(&r->arena, n, sizeof *r->items);
    if (!r->items)
        return dg_error_set(err, DG_ENOMEM, "no memory for a request of %zu items", n);
    for (r->n = 0; r->n < n; r->n++) {
        r->items[r->n].request = r;
        r->items[r->n].index = r->n;
    }
    return DG_OK;
}

static void unref(struct dg_request *r)
{
    if (atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    for (size_t i = 0; i < r->n; i++)
        dg_item_release(&r->items[i]);
    dg_stream_free(r->stream);
    dg_buffer_deinit(&r->lines);
    dg_json_free(r->body);
    dg_arena_deinit(&r->arena);
    if (r->kind->work)
        atomic_fetch_sub(&r->app->works, 1);
    free(r);
}

void dg_request_free(struct dg_request *r)
{
    if (!r)
        return;
    if (r->deadline_ns > 0 && dg_executor_cancel(r->app->executor, &r->late))
        unref(r);
    unref(r);
}

/* ---- the early end ---- */

/* The one place where a deadline is enforced. */
static void late(void *arg)
{
    struct dg_request *r = arg;
    dg_request_end(r, DG_TASK_LATE);
    unref(r);
}

void dg_request_end(struct dg_request *r, enum dg_outcome why)
{
    int running = DG_TASK_OK;
    if (!atomic_compare_exchange_strong(&r->ended, &running, (int)why))
        return;
    if (r->kind->fed)
        dg_feeder_poke(r->app->feeder);
    else if (!r->kind->work)
        dg_queue_cancel(r->app->queue, dg_item_hop(r->items)->task, why);
    else if (dg_executor_cancel(r->app->low, &r->items->work))
        dg_http_wake(r->x);
}

static void gone(void *arg)
{
    dg_request_end(arg, DG_TASK_GONE);
}

static void drop(void *arg)
{
    dg_request_free(arg);
}

/* ---- an item's way ---- */

static void item_over(void *arg)
{
    struct dg_item *item = arg;
    struct dg_request *r = item->request;
    bool goes_on = dg_item_goes_on(item);
    item->answered = !goes_on && !dg_task_over(dg_item_hop(item)->task);
    if (r->kind->fed || goes_on)
        dg_feeder_over(r->app->feeder, item);
    else
        dg_http_wake(r->x);
}

static void progress(void *arg, size_t entry)
{
    const struct dg_item *item = arg;
    (void)entry;
    dg_http_poke(item->request->x);
}

int dg_request_submit(struct dg_item *item, struct dg_error *err)
{
    struct dg_request *r = item->request;
    struct dg_task *t = dg_item_hop(item)->task;
    t->class = (uint8_t)r->priority;
    t->progress = r->stream ? progress : NULL;
    t->done = item_over;
    t->arg = item;
    if (t->n_entries > 0)
        return dg_queue_submit(r->app->queue, t, err);
    item_over(item); /* no letters, or all is in the cache */
    return DG_OK;
}

/* An item's own work, on the low-priority thread. */
static void work(void *arg)
{
    struct dg_item *item = arg;
    struct dg_request *r = item->request;
    if (dg_queue_stopped(r->app->queue))
        dg_error_set(&r->err, DG_ECANCELED, "the server is stopping");
    else if (atomic_load(&r->ended) == DG_TASK_OK)
        item->answered = r->kind->work(item, &r->err) == DG_OK;
    dg_http_wake(r->x);
}

/* ---- the answer ---- */

static void log_failure(const struct dg_request *r, const struct dg_error *err)
{
    if (err->code == DG_EINTERNAL || err->code == DG_EIO || err->code == DG_ENOMEM)
        dg_log(DG_LOG_ERROR, "request failed id=%s message=\"%s\"", dg_http_request(r->x)->id,
            err->message);
}

int dg_request_settle(struct dg_item *item, struct dg_error *err)
{
    struct dg_request *r = item->request;
    struct dg_arena arena;
    uint64_t begin = dg_clock_ns();
    dg_arena_init(&arena, 0);
    if (err->code == DG_OK && dg_item_outcome(item, err) == DG_OK && r->kind->write)
        r->kind->write(item, &arena, err);
    if (err->code == DG_OK && item->answer.failed)
        dg_error_set(err, DG_ENOMEM, "no memory for an answer");
    dg_arena_deinit(&arena);
    if (err->code == DG_OK) {
        r->answered += (int64_t)item->characters;
        dg_metrics_observe(r->app->metrics, DG_TIME_STAGE, DG_STAGE_DETOKENIZE,
            (double)(dg_clock_ns() - begin) / 1e9);
    } else {
        log_failure(r, err);
    }
    return err->code;
}

/* ---- the reply ---- */

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* Browsers' developer tools show these; durations in milliseconds. */
static void add_timing(const struct dg_request *r, struct dg_http_reply *reply)
{
    uint64_t start = dg_http_request(r->x)->handled_ns, queue = 0, encode = 0, engine = 0;
    const struct dg_item *item = r->items;
    if (r->kind->fed || r->kind->work) {
        dg_http_reply_header(reply, "Server-Timing", "total;dur=%.2f", ms(dg_clock_ns() - start));
        return;
    }
    for (size_t i = 0; i < item->n_hops; i++) {
        const struct dg_task *t = item->hops[i].task;
        queue += t->queue_ns;
        encode += t->encode_ns;
        if (t->last_finished_ns > t->first_admitted_ns)
            engine += t->last_finished_ns - t->first_admitted_ns;
    }
    dg_http_reply_header(reply, "Server-Timing",
        "plan;dur=%.2f, queue;dur=%.2f, encode;dur=%.2f, decode;dur=%.2f, total;dur=%.2f",
        ms(r->planned_ns - start), ms(queue), ms(encode), ms(engine > encode ? engine - encode : 0),
        ms(dg_clock_ns() - start));
}

/* Of each model that had a part in it, in order; of a fed request that would be one an item. */
static void add_version(const struct dg_request *r, struct dg_http_reply *reply)
{
    const char *version[DG_HOPS_MAX];
    const struct dg_item *item = r->items;
    if (r->kind->fed || item->same_language)
        return;
    for (size_t i = 0; i < item->n_hops; i++)
        version[i] = dg_bundle_version(dg_translator_bundle(item->hops[i].model->translator));
    if (item->n_hops == 1)
        dg_http_reply_header(reply, "X-Model-Version", "%s", version[0]);
    else
        dg_http_reply_header(reply, "X-Model-Version", "%s, %s", version[0], version[1]);
}

/* All items are over. */
static void finish_whole(void *arg, struct dg_http_exchange *x)
{
    struct dg_request *r = arg;
    struct dg_http_reply reply = {.status = 200, .content_type = "application/json"};
    struct dg_error err = {0};
    struct dg_buffer whole, *body = &whole;
    bool client_gone = atomic_load(&r->ended) == DG_TASK_GONE;
    dg_buffer_init(&whole);
    if (!r->kind->fed) {
        body = &r->items->answer;
        if (!client_gone || r->items->answered)
            dg_request_settle(r->items, &err);
    } else if (!client_gone) {
        if (r->kind->write_whole(r, &whole, &err) == DG_OK)
            dg_gate_answered(x, r->answered);
    }
    if (err.code == DG_OK && body->failed)
        dg_error_set(&err, DG_ENOMEM, "no memory for the answers");
    if (client_gone && (r->kind->fed || !r->items->answered)) {
        dg_reply_client_gone(&reply);
    } else if (err.code != DG_OK) {
        r->kind->fail(&reply, &err);
    } else {
        reply.body = dg_buffer_take(body, &reply.body_len);
        add_timing(r, &reply);
    }
    add_version(r, &reply);
    dg_http_reply_take(x, &reply);
    dg_buffer_deinit(&whole);
}

/* Events or lines begin: what comes is not known yet. */
static void begin(void *arg, struct dg_http_exchange *x)
{
    const struct dg_request *r = arg;
    struct dg_http_reply reply = {.status = 200, .content_type = "application/x-ndjson"};
    if (r->shape == DG_SHAPE_EVENTS) {
        reply.content_type = "text/event-stream";
        dg_http_reply_header(&reply, "Cache-Control", "no-store");
    }
    dg_http_reply_header(&reply, "X-Accel-Buffering", "no"); /* nginx would hold them back */
    add_version(r, &reply);
    dg_http_reply_take(x, &reply);
}

static void fill_events(void *arg, struct dg_http_exchange *x, bool last, struct dg_buffer *out)
{
    struct dg_request *r = arg;
    struct dg_item *item = r->items;
    struct dg_error err = {0};
    if (dg_stream_show(r->stream, item, r->kind->write_sentence, out) && !r->shown) {
        r->shown = true;
        dg_metrics_observe(r->app->metrics, DG_TIME_FIRST, 0,
            (double)(dg_clock_ns() - dg_http_request(x)->handled_ns) / 1e9);
    }
    if (!last)
        return;
    if (dg_request_settle(item, &err) != DG_OK) {
        dg_http_set_outcome(x, dg_reply_status(&err));
        dg_gate_answered(x, (int64_t)dg_stream_characters(r->stream));
    }
    r->kind->write_end(item, err.code != DG_OK ? &err : NULL, out);
}

/* The deadline passed a second ago, and the engine does not let go: the last event says so. */
static void fill_late(void *arg, struct dg_http_exchange *x, struct dg_buffer *out)
{
    struct dg_request *r = arg;
    struct dg_error err = {0};
    dg_error_set(&err, DG_ETIMEOUT, "the request's deadline passed");
    r->kind->write_end(r->items, &err, out);
    dg_http_set_outcome(x, dg_reply_status(&err));
    dg_gate_answered(x, (int64_t)dg_stream_characters(r->stream));
}

static void fill_lines(void *arg, struct dg_http_exchange *x, bool last, struct dg_buffer *out)
{
    struct dg_request *r = arg;
    dg_feeder_take_lines(r->app->feeder, r, out);
    if (last)
        dg_gate_answered(x, r->answered);
}

/* ---- the start ---- */

/* It cannot be taken: reply at once. Where the queue would not have it, there is room again when
 * what waits now is done. */
static void refuse(const struct dg_request *r, const struct dg_error *err)
{
    struct dg_http_reply reply = {0};
    struct dg_queue_load load;
    r->kind->fail(&reply, err);
    if (err->code == DG_EAGAIN && !r->kind->fed && !r->kind->work) {
        dg_queue_load(r->app->queue, &load);
        dg_reply_retry_after(&reply, (int64_t)load.seconds + 1);
    }
    dg_http_reply_take(r->x, &reply);
}

/* All is there to begin with, or the reply says why not; then it may be freed already. */
static int run(struct dg_request *r, struct dg_error *err)
{
    if (r->kind->fed)
        return dg_feeder_add(r->app->feeder, r, err);
    if (!r->kind->work)
        return dg_request_submit(r->items, err);
    r->items->work = (struct dg_work){.run = work, .arg = r->items};
    return dg_executor_post(r->app->low, &r->items->work)
               ? DG_OK
               : dg_error_set(err, DG_EAGAIN, "%d requests of this kind are waiting already",
                     DG_MAX_LOW_WAITING);
}

void dg_request_start_take(struct dg_request *r)
{
    static const struct dg_http_later later[] = {
        [DG_SHAPE_WHOLE] = {.finish = finish_whole, .gone = gone, .drop = drop},
        [DG_SHAPE_EVENTS] =
            {.finish = begin, .gone = gone, .drop = drop, .fill = fill_events, .late = fill_late},
        [DG_SHAPE_LINES] = {.finish = begin, .gone = gone, .drop = drop, .fill = fill_lines}};
    struct dg_error err = {0};
    int rc = DG_OK;
    r->deadline_ns = dg_http_request(r->x)->start_ns + (uint64_t)r->timeout_ms * MS_NS;
    if (r->shape == DG_SHAPE_EVENTS)
        rc = dg_stream_open(&r->stream, &err);
    if (rc == DG_OK && !r->kind->fed)
        rc = dg_item_plan(r->items, &err);
    r->planned_ns = dg_clock_ns();
    if (rc != DG_OK) {
        refuse(r, &err);
        dg_request_free(r);
        return;
    }
    if (!r->kind->fed && !r->kind->work && r->items->n_hops == 1) {
        dg_json_free(r->body); /* all that was read is in the jobs now */
        r->body = NULL;
    }
    dg_http_later(r->x, &later[r->shape], r); /* before it runs: it may be over at once */
    dg_http_due(r->x, r->deadline_ns + (r->kind->fed ? PARTS_NS : 0));
    atomic_fetch_add(&r->refs, 1);
    dg_executor_post_at(r->app->executor, &r->late, r->deadline_ns);
    rc = run(r, &err);
    if (rc != DG_OK)
        refuse(r, &err);
}
