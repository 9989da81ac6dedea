/* A request that waits for workers: its jobs, its task and the exchange to wake. What ends the task
 * (answers, deadline, client gone, stop) turns into a reply here; only the answer's body is the
 * API's own. HTTP threads. */
#ifndef DG_SERVER_REQUEST_CALL_H
#define DG_SERVER_REQUEST_CALL_H

#include "server/app.h"
#include "server/http/http.h"
#include "server/api/request_options.h"

struct dg_call_stream;
struct dg_pivot;

struct dg_call {
    struct dg_app *app;
    struct dg_http_exchange *x;
    struct dg_served *model; /* held */
    const char *pair[2];     /* borrowed from the model */
    struct dg_job **jobs;    /* [n_jobs], owned; in the order of the request's texts */
    size_t n_jobs;
    struct dg_task *task;
    struct dg_call_stream *stream; /* NULL: one answer at the end; else see call_stream.h */
    struct dg_pivot *pivot;        /* NULL: one model translates; else see pivot.h */
    /* Build the body of a 200 from the finished jobs. Called once. */
    int (*answer)(struct dg_call *c, struct dg_json **body, struct dg_error *err);
    struct dg_request_options options; /* for answer */
    enum dg_class priority;
    uint64_t planned_ns;
};

/* A call for n jobs (none planned yet) on a model whose hold is taken over, also on failure. */
int dg_call_open(struct dg_app *app, struct dg_http_exchange *x, struct dg_served *model, size_t n,
    struct dg_call **out, struct dg_error *err);
void dg_call_free(struct dg_call *c); /* NULL is fine */

/* What came of it, once the task is over: the answer's body, or how else it ended. Once. */
int dg_call_result(struct dg_call *c, struct dg_json **body, struct dg_error *err);

/* All jobs are planned: queue them and answer later, or at once when there is nothing to translate
 * or no room. The call and the reply are taken care of from here on. timeout_ms 0: the server's. */
void dg_call_submit_take(struct dg_call *c, int64_t timeout_ms);

#endif
