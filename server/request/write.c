/* Writes a request's answers, which HTTP threads send (reply.c). Planner threads or the feeder;
 * HTTP threads if direct. */
#include "server/request/steps.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/metrics.h"
#include "server/request/stream.h"

#include <stdio.h>

static void log_failure(const struct dg_request *r, const struct dg_error *err)
{
    if (err->code == DG_EINTERNAL || err->code == DG_EIO || err->code == DG_ENOMEM)
        dg_log(DG_LOG_ERROR, "request failed id=%s message=\"%s\"",
            r->x ? dg_http_request(r->x)->id : "-", err->message);
}

int dg_request_settle(struct dg_item *item, struct dg_error *err)
{
    struct dg_request *r = item->request;
    struct dg_arena arena;
    uint64_t begin = dg_clock_ns();
    dg_arena_init(&arena, 0);
    dg_json_begin();
    if (err->code == DG_OK && dg_item_outcome(item, err) == DG_OK && r->kind->write)
        r->kind->write(item, &arena, err);
    if (err->code == DG_OK && item->answer.failed)
        dg_error_set(err, DG_ENOMEM, "no memory for an answer");
    dg_arena_deinit(&arena);
    if (err->code == DG_OK) {
        if (item->n_hops > 0) /* a model's answer */
            atomic_store(&r->app->last_success_s, dg_clock_wall_s());
        dg_metrics_observe(r->app->metrics, DG_TIME_STAGE, DG_STAGE_DETOKENIZE,
            (double)(dg_clock_ns() - begin) / 1e9);
    } else {
        log_failure(r, err);
    }
    return err->code;
}

/* ---- headers ---- */

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* Sets the Server-Timing header, which browsers' developer tools show; durations in milliseconds.
 */
static void say_timing(struct dg_request *r)
{
    uint64_t start = dg_http_request(r->x)->handled_ns, queue = 0, encode = 0, engine = 0;
    const struct dg_item *item = r->items;
    if (r->fed || r->kind->work || item->n_hops == 0) {
        snprintf(r->timing, sizeof r->timing, "total;dur=%.2f", ms(dg_clock_ns() - start));
        return;
    }
    for (size_t i = 0; i < item->n_hops; i++) {
        const struct dg_task *t = item->hops[i].task;
        queue += t->queue_ns;
        encode += t->encode_ns;
        if (t->last_finished_ns > t->first_admitted_ns)
            engine += t->last_finished_ns - t->first_admitted_ns;
    }
    snprintf(r->timing, sizeof r->timing,
        "plan;dur=%.2f, queue;dur=%.2f, encode;dur=%.2f, decode;dur=%.2f, total;dur=%.2f",
        ms(r->planned_ns - start), ms(queue), ms(encode), ms(engine > encode ? engine - encode : 0),
        ms(dg_clock_ns() - start));
}

void dg_request_say_version(struct dg_request *r)
{
    const char *version[DG_HOPS_MAX];
    const struct dg_item *item = r->items;
    if (r->fed || item->same_language || item->n_hops == 0)
        return;
    for (size_t i = 0; i < item->n_hops; i++)
        version[i] = dg_bundle_version(item->hops[i].listing->bundle);
    snprintf(r->version, sizeof r->version, "%s%s%s", version[0], item->n_hops > 1 ? ", " : "",
        item->n_hops > 1 ? version[1] : "");
}

/* ---- writing ---- */

/* Writes the body of a whole reply. */
static void write_whole(struct dg_request *r, struct dg_error *err)
{
    bool gone = atomic_load(&r->ended) == DG_TASK_GONE; /* nobody will read it */
    if (r->fed && !gone) {
        r->kind->write_whole(r, &r->reply, err);
    } else if (!r->fed && (!gone || r->items->answered)) {
        dg_request_settle(r->items, err);
        r->reply = r->items->answer;
        dg_buffer_init(&r->items->answer);
    }
    if (err->code == DG_OK && r->reply.failed)
        dg_error_set(err, DG_ENOMEM, "no memory for the answers");
}

/* Writes events for newly finished sentences; last: also the final event. */
static void write_events(struct dg_request *r, bool last)
{
    struct dg_item *item = r->items;
    struct dg_buffer out;
    struct dg_error err = {0};
    dg_buffer_init(&out);
    if (dg_stream_show(r->stream, item, r->kind->write_sentence, &out) && !r->shown) {
        r->shown = true;
        dg_metrics_observe(r->app->metrics, DG_TIME_FIRST, 0,
            (double)(dg_clock_ns() - dg_http_request(r->x)->handled_ns) / 1e9);
    }
    if (last) {
        dg_request_settle(item, &err);
        if (err.code == DG_OK && dg_stream_lost(r->stream))
            dg_error_set(&err, DG_ENOMEM, "no memory for a sentence");
        r->kind->write_end(item, err.code != DG_OK ? &err : NULL, &out);
        r->failed = err;
    }
    pthread_mutex_lock(&r->lock);
    r->streamed = (int64_t)dg_stream_characters(r->stream);
    r->events.failed |= out.failed;
    dg_buffer_add(&r->events, out.data, out.len);
    pthread_mutex_unlock(&r->lock);
    dg_buffer_deinit(&out);
}

void dg_request_write_whole(struct dg_request *r)
{
    struct dg_error err = {0};
    write_whole(r, &err);
    r->failed = err;
    if (err.code == DG_OK && r->reply.len > 0) /* otherwise a hop may be missing */
        say_timing(r);
    dg_request_say_version(r);
    dg_request_release(r);
}

static void write_last(struct dg_request *r)
{
    if (r->shape == DG_SHAPE_WHOLE) {
        dg_request_write_whole(r);
    } else {
        if (r->shape == DG_SHAPE_EVENTS)
            write_events(r, true);
        dg_request_release(r);
    }
    dg_request_arrive(r);
}

void dg_request_write(void *request)
{
    struct dg_request *r = request;
    for (unsigned news;;) {
        news = atomic_load(&r->news);
        if (news >= DG_OVER) {
            write_last(r);
            return; /* it may be freed by now */
        }
        write_events(r, false);
        dg_http_poke(r->x);
        if (atomic_fetch_sub(&r->news, news) == news)
            return;
    }
}
