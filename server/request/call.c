#include "server/request/call.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/api/api.h"
#include "server/request/call_stream.h"
#include "server/request/pivot.h"
#include "server/http/reply.h"
#include "server/schedule/queue.h"
#include "server/metrics.h"

#include <stdlib.h>

#define MS_NS 1000000ull

int dg_call_open(struct dg_app *app, struct dg_http_exchange *x, struct dg_served *model, size_t n,
    struct dg_call **out, struct dg_error *err)
{
    struct dg_call *c = calloc(1, sizeof *c);
    struct dg_job **jobs = calloc(n, sizeof *jobs);
    if (!c || !jobs) {
        free(c);
        free(jobs);
        dg_served_release(model);
        return dg_error_set(err, DG_ENOMEM, "no memory for a request of %zu texts", n);
    }
    c->app = app;
    c->x = x;
    c->model = model;
    c->jobs = jobs;
    c->n_jobs = n;
    *out = c;
    return DG_OK;
}

void dg_call_free(struct dg_call *c)
{
    if (!c)
        return;
    dg_call_stream_free(c->stream);
    dg_pivot_free(c->pivot);
    dg_task_free(c->task);
    for (size_t i = 0; i < c->n_jobs; i++)
        dg_job_free(c->jobs[i]);
    free(c->jobs);
    dg_served_release(c->model);
    free(c);
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* Browsers' developer tools show these; durations in milliseconds. */
static void add_timing(const struct dg_call *c, struct dg_http_reply *r)
{
    const struct dg_task *t = c->task;
    uint64_t start = dg_http_request(c->x)->handled_ns, engine = 0;
    if (t->last_finished_ns > t->first_admitted_ns)
        engine = t->last_finished_ns - t->first_admitted_ns;
    uint64_t decode = engine > t->encode_ns ? engine - t->encode_ns : 0;
    dg_http_reply_header(r, "Server-Timing",
        "plan;dur=%.2f, queue;dur=%.2f, encode;dur=%.2f, decode;dur=%.2f, total;dur=%.2f",
        ms(c->planned_ns - start), ms(t->queue_ns), ms(t->encode_ns), ms(decode),
        ms(dg_clock_ns() - start));
}

int dg_call_result(struct dg_call *c, struct dg_json **body, struct dg_error *err)
{
    uint64_t begin = dg_clock_ns();
    const struct dg_task *t = c->task;
    switch ((enum dg_outcome)atomic_load(&t->outcome)) {
    case DG_TASK_OK: break;
    case DG_TASK_LATE: return dg_error_set(err, DG_ETIMEOUT, "the request's deadline passed");
    case DG_TASK_GONE:
    case DG_TASK_STOPPED: return dg_error_set(err, DG_ECANCELED, "the server is stopping");
    case DG_TASK_FAILED:
        *err = t->error;
        if (err->code != DG_ELIMIT && err->code != DG_EINVAL)
            dg_log(DG_LOG_ERROR, "request failed id=%s message=\"%s\"", dg_http_request(c->x)->id,
                err->message);
        return err->code;
    }
    int rc = c->answer(c, body, err);
    if (rc != DG_OK)
        dg_log(DG_LOG_ERROR, "answer failed id=%s message=\"%s\"", dg_http_request(c->x)->id,
            err->message);
    dg_metrics_observe(
        c->app->metrics, DG_TIME_STAGE, DG_STAGE_DETOKENIZE, (double)(dg_clock_ns() - begin) / 1e9);
    return rc;
}

static const char *version_of(const struct dg_served *model)
{
    return dg_bundle_version(dg_translator_bundle(model->translator));
}

/* Of each model that had a part in it, in order. */
static void add_version(const struct dg_call *c, struct dg_http_reply *r)
{
    const struct dg_served *models[2];
    if (!c->pivot) {
        dg_http_reply_header(r, "X-Model-Version", "%s", version_of(c->model));
        return;
    }
    dg_pivot_models(c, models);
    dg_http_reply_header(
        r, "X-Model-Version", "%s, %s", version_of(models[0]), version_of(models[1]));
}

/* The task is over. */
static void finish(void *arg, struct dg_http_exchange *x)
{
    struct dg_call *c = arg;
    struct dg_http_reply r = {0};
    struct dg_error err = {0};
    struct dg_json *body = NULL;
    if (atomic_load(&c->task->outcome) == DG_TASK_GONE) {
        dg_reply_client_gone(&r);
    } else if (dg_call_result(c, &body, &err) != DG_OK) {
        dg_reply_failure(&r, &err);
    } else {
        dg_reply_json_take(&r, 200, body);
        add_timing(c, &r);
    }
    add_version(c, &r);
    dg_http_reply_take(x, &r);
}

/* A stream begins: what comes is not known yet. */
static void begin(void *arg, struct dg_http_exchange *x)
{
    const struct dg_call *c = arg;
    struct dg_http_reply r = {.status = 200, .content_type = "text/event-stream"};
    dg_http_reply_header(&r, "Cache-Control", "no-store");
    dg_http_reply_header(&r, "X-Accel-Buffering", "no"); /* nginx would hold the events back */
    add_version(c, &r);
    dg_http_reply_take(x, &r);
}

static void fill(void *arg, struct dg_http_exchange *x, bool last, struct dg_buffer *out)
{
    (void)x;
    dg_call_stream_write(arg, last, out);
}

static void late(void *arg, struct dg_http_exchange *x, struct dg_buffer *out)
{
    (void)x;
    dg_call_stream_late(arg, out);
}

static void gone(void *arg)
{
    struct dg_call *c = arg;
    if (c->pivot)
        dg_pivot_cancel(c, DG_TASK_GONE);
    else
        dg_queue_cancel(c->app->queue, c->task, DG_TASK_GONE);
}

static void drop(void *arg)
{
    dg_call_free(arg);
}

static void done(void *arg)
{
    struct dg_call *c = arg;
    if (!c->pivot || !dg_pivot_next(c))
        dg_http_wake(c->x);
}

/* The queue would not have it: when what waits now is done, there is room again. */
static void refuse(struct dg_app *app, struct dg_http_exchange *x, const struct dg_error *err)
{
    struct dg_http_reply r = {0};
    struct dg_queue_load load;
    dg_reply_failure(&r, err);
    dg_queue_load(app->queue, &load);
    if (err->code == DG_EAGAIN)
        dg_reply_retry_after(&r, (int64_t)load.seconds + 1);
    dg_http_reply_take(x, &r);
}

static void progress(void *arg, size_t entry)
{
    const struct dg_call *c = arg;
    (void)entry;
    dg_http_poke(c->x);
}

void dg_call_submit_take(struct dg_call *c, int64_t timeout_ms)
{
    static const struct dg_http_later whole = {.finish = finish, .gone = gone, .drop = drop},
                                      stream = {.finish = begin,
                                          .gone = gone,
                                          .drop = drop,
                                          .fill = fill,
                                          .late = late};
    struct dg_http_exchange *x = c->x;
    struct dg_app *app = c->app;
    struct dg_error err = {0};
    int rc = dg_task_open(c->model, c->jobs, c->n_jobs, &c->task, &err);
    c->planned_ns = dg_clock_ns();
    dg_metrics_observe(app->metrics, DG_TIME_STAGE, DG_STAGE_TOKENIZE,
        (double)(c->planned_ns - dg_http_request(x)->handled_ns) / 1e9);
    if (rc != DG_OK) {
        dg_call_free(c);
        dg_api_fail(x, &err);
        return;
    }
    uint64_t limit = (uint64_t)(timeout_ms > 0 ? timeout_ms : app->config.request_timeout_ms);
    c->task->deadline_ns = dg_http_request(x)->start_ns + limit * MS_NS;
    c->task->class = (uint8_t)c->priority;
    c->task->progress = c->stream ? progress : NULL;
    c->task->done = done;
    c->task->arg = c;
    dg_http_later(x, c->stream ? &stream : &whole,
        c); /* before submitting: it may be done at once, and then c belongs to x */
    dg_http_due(x, c->task->deadline_ns);
    if (c->task->n_entries == 0) { /* no letters, or all is in the cache */
        done(c);
        return;
    }
    rc = dg_queue_submit(app->queue, c->task, &err);
    if (rc != DG_OK)
        refuse(app, x, &err);
}
