/* One item of a batch: text -> job -> answer. */
#include "server/request/batch_internal.h"

#include "base/log.h"
#include "server/api/answer.h"
#include "server/api/api.h"
#include "server/request/pivot.h"
#include "server/http/reply.h"
#include "server/models/models.h"

#include <stdio.h>
#include <string.h>

/* Which models translate it. */
static int find_way(
    struct dg_feeder *f, struct dg_batch_entry *e, const char *pair[2], struct dg_error *err)
{
    struct dg_way way;
    int rc = dg_models_way(f->app->models, e->request->source, e->request->target, true, &way, err);
    if (rc != DG_OK)
        return rc;
    e->model = way.hops[0].model;
    dg_served_hold(e->model);
    pair[0] = e->pair[0] = way.hops[0].pair[0];
    pair[1] = way.hops[0].pair[1];
    e->pair[1] = way.hops[way.n - 1].pair[1];
    if (way.n > 1)
        rc = dg_batch_pivot_open_take(e, &way, err);
    dg_way_release(&way);
    return rc;
}

int dg_batch_entry_plan(struct dg_feeder *f, struct dg_batch_entry *e, struct dg_error *err)
{
    const struct dg_batch_item *r = e->request;
    struct dg_request_options first = r->options;
    struct dg_translate_options o;
    const char *pair[2];
    int rc = find_way(f, e, pair, err);
    if (rc == DG_OK && e->pivot)
        first = dg_pivot_first_options(&r->options);
    if (rc == DG_OK)
        rc = dg_request_options_plan(&first, e->model, pair, &o, err);
    if (rc == DG_OK)
        rc = dg_job_plan(e->model->translator, r->text.s, r->text.len, &o, &e->job, err);
    if (rc == DG_OK)
        rc = dg_api_check_sentences(f->app, &e->job, 1, "text", err);
    if (rc == DG_OK)
        rc = dg_task_open(e->model, &e->job, 1, &e->task, err);
    return rc;
}

/* How the task ended, as an error. */
static void explain(const struct dg_task *t, struct dg_error *err)
{
    switch ((enum dg_outcome)atomic_load(&t->outcome)) {
    case DG_TASK_OK: break;
    case DG_TASK_LATE: dg_error_set(err, DG_ETIMEOUT, "the batch's deadline passed"); break;
    case DG_TASK_GONE:
    case DG_TASK_STOPPED: dg_error_set(err, DG_ECANCELED, "the server is stopping"); break;
    case DG_TASK_FAILED: *err = t->error; break;
    }
}

/* A field of the item, as the request names it. */
static void name_field(const struct dg_batch_entry *e, struct dg_error *err)
{
    char name[sizeof err->field];
    if (err->field[0] == '\0' || strncmp(err->field, "items[", 6) == 0)
        return;
    snprintf(name, sizeof name, "items[%zu].%.40s", (size_t)(e - e->batch->entries), err->field);
    memcpy(err->field, name, sizeof name);
}

static enum dg_metrics_outcome outcome_of(const struct dg_error *err)
{
    switch (err->code) {
    case DG_OK: return DG_OUTCOME_OK;
    case DG_ETIMEOUT: return DG_OUTCOME_TIMEOUT;
    case DG_ECANCELED:
    case DG_EAGAIN:
    case DG_ENOMEM: return DG_OUTCOME_OVERLOADED;
    case DG_EINTERNAL:
    case DG_EIO: return DG_OUTCOME_ERROR;
    default: return DG_OUTCOME_INVALID;
    }
}

/* {"index","id"?, and all members of rest}; rest is freed. */
static void write_answer(struct dg_batch_entry *e, struct dg_json *rest)
{
    struct dg_json *head = dg_json_new_object();
    struct dg_buffer b, tail;
    dg_json_set_int(head, "index", (int64_t)(e - e->batch->entries));
    if (e->request->id)
        dg_json_set_take(head, "id", dg_json_copy(e->request->id));
    dg_buffer_init(&b);
    dg_buffer_init(&tail);
    if (dg_json_write(head, 0, &b) == DG_OK && dg_json_write(rest, 0, &tail) == DG_OK &&
        b.len > 1 && tail.len > 1) {
        b.data[b.len - 1] = ','; /* "{...," + "...}" */
        dg_buffer_add(&b, tail.data + 1, tail.len - 1);
    }
    e->answer = dg_buffer_take(&b, &e->answer_len);
    dg_buffer_deinit(&tail);
    dg_json_free(head);
    dg_json_free(rest);
}

static struct dg_json *translation(
    struct dg_feeder *f, struct dg_batch_entry *e, struct dg_error *err)
{
    struct dg_answers a;
    if (dg_job_finish(e->job, &a, err) != DG_OK)
        return NULL;
    if (e->pivot && dg_batch_pivot_answers(e->pivot, &a, err) != DG_OK)
        return NULL;
    dg_answer_count(f->app->metrics, e->pair, &a);
    struct dg_json *o = dg_answer_translation(e->model, e->pair, &e->request->options, &a);
    if (e->pivot)
        dg_json_set_string(o, "pivot", e->pivot->pair[0]);
    return o;
}

void dg_batch_entry_settle(
    struct dg_feeder *f, struct dg_batch_entry *e, const struct dg_error *error)
{
    struct dg_error err = {0};
    struct dg_json *o = NULL;
    bool cancelled = atomic_load(&e->batch->cancelled);
    if (error)
        err = *error;
    else
        explain(e->task, &err);
    if (err.code == DG_OK && !cancelled)
        o = translation(f, e, &err);
    if (o)
        e->batch->answered += (int64_t)dg_request_characters(&e->request->text);
    if (!o && !cancelled) {
        if (err.code == DG_EINTERNAL || err.code == DG_EIO)
            dg_log(DG_LOG_ERROR, "batch item failed message=\"%s\"", err.message);
        name_field(e, &err);
        o = dg_json_new_object();
        dg_json_set_take(o, "error", dg_reply_error_json(&err));
    }
    if (!cancelled)
        write_answer(e, o);
    dg_metrics_add(f->app->metrics, DG_COUNT_BATCH_ITEMS,
        cancelled ? DG_OUTCOME_CANCELLED : outcome_of(&err), 1);
    dg_task_free(e->task);
    dg_job_free(e->job);
    dg_batch_pivot_free(e->pivot);
    dg_served_release(e->model);
    e->pivot = NULL;
    e->task = NULL;
    e->job = NULL;
    e->model = NULL;
}
