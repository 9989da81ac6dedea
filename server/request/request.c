#include "server/request/request.h"

#include "base/clock.h"
#include "server/access/gate.h"
#include "server/glossaries/collections.h"
#include "server/glossaries/glossaries.h"
#include "server/request/feeder.h"
#include "server/request/planner.h"
#include "server/request/steps.h"
#include "server/request/stream.h"
#include "server/schedule/answer_cache.h"
#include "server/schedule/queue.h"

#include <stdlib.h>
#include <string.h>

#define MS_NS 1000000ull
/* open requests of a kind with `work` that is not brief, until their answers have been read */
#define MAX_WORKS 32

/* ---- memory ---- */

static void late(void *arg);

static bool is_heavy(const struct dg_request_kind *kind)
{
    return kind->work && !kind->brief;
}

int dg_request_open(struct dg_app *app, struct dg_http_exchange *x,
    const struct dg_request_kind *kind, struct dg_request **out, struct dg_error *err)
{
    /* Their answers are large, and stay in memory if a client does not read: the other half of the
     * memory is kept for translations. */
    if (is_heavy(kind) && dg_budget_above_half(&app->budget))
        return dg_error_set(err, DG_EAGAIN,
            "other requests use more than half of the memory for texts and answers");
    if (is_heavy(kind) && atomic_fetch_add(&app->works, 1) >= MAX_WORKS) {
        atomic_fetch_sub(&app->works, 1);
        return dg_error_set(err, DG_EAGAIN,
            "%d requests of this kind are open already, or their answers are still being read",
            MAX_WORKS);
    }
    struct dg_request *r = calloc(1, sizeof *r);
    if (!r) {
        if (is_heavy(kind))
            atomic_fetch_sub(&app->works, 1);
        return dg_error_set(err, DG_ENOMEM, "no memory for a request");
    }
    r->kind = kind;
    r->fed = kind->fed;
    r->app = app;
    r->x = x;
    r->visit = x ? dg_gate_hold(x) : NULL;
    r->bytes = x ? dg_http_request(x)->body_len : 0;
    r->client = x ? dg_gate_client(x) : 0;
    if (x)
        dg_gate_owner(app->auth, x, r->owner);
    dg_arena_init(&r->arena, 0);
    pthread_mutex_init(&r->lock, NULL);
    atomic_init(&r->refs, 1);
    atomic_init(&r->to_come, 2);
    r->late = (struct dg_work){.run = late, .arg = r};
    r->reading = (struct dg_work){.run = dg_request_read, .arg = r};
    r->planning = (struct dg_work){.run = dg_request_plan, .arg = r};
    r->writing = (struct dg_work){.run = dg_request_write, .arg = r};
    *out = r;
    return DG_OK;
}

static int keep_glossary_take(
    struct dg_request *r, const struct dg_request_glossary *g, struct dg_error *err)
{
    struct dg_request_glossary *kept = dg_arena_alloc(&r->arena, sizeof *kept);
    if (!kept) {
        dg_glossary_unref(g->glossary);
        dg_glossary_set_unref(g->named);
        return dg_error_set(err, DG_ENOMEM, "no memory for a glossary");
    }
    *kept = *g;
    kept->next = r->glossaries;
    r->glossaries = kept;
    return DG_OK;
}

int dg_request_keep_glossary_take(struct dg_request *r, struct dg_glossary *g, struct dg_error *err)
{
    return keep_glossary_take(r, &(struct dg_request_glossary){.glossary = g}, err);
}

int dg_request_name_glossary(struct dg_request *r, const char *name,
    struct dg_request_options *options, struct dg_error *err)
{
    struct dg_glossary_set *s = dg_glossaries_find(r->app->glossaries, name);
    int rc = s ? DG_OK : dg_collections_glossary(r->app->collections, r->owner, name, &s, err);
    if (rc == DG_OK)
        rc = keep_glossary_take(r, &(struct dg_request_glossary){.named = s}, err);
    options->named_glossary = rc == DG_OK ? s : NULL;
    return rc;
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

int dg_request_reserve(const struct dg_request *r, size_t bytes, struct dg_error *err)
{
    if (!r->x) /* no client: it was admitted with its document, and must go on */
        dg_budget_add(&r->app->budget, bytes);
    else if (!dg_budget_take(&r->app->budget, bytes))
        return dg_error_set(
            err, DG_EAGAIN, "the texts of other requests use all the memory for texts");
    return DG_OK;
}

int dg_request_take(struct dg_request *r, size_t bytes, struct dg_error *err)
{
    int rc = dg_request_reserve(r, bytes, err);
    if (rc == DG_OK)
        r->taken += bytes;
    return rc;
}

void dg_request_release(struct dg_request *r)
{
    pthread_mutex_lock(&r->lock); /* a thread that ends it early reads its task */
    atomic_store(&r->prepared, false);
    pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; i < r->n; i++)
        dg_item_release(&r->items[i]);
    dg_json_free(r->body);
    r->body = NULL;
    /* What is left is the reply. */
    size_t reply = r->reply.len + r->events.len;
    dg_budget_add(&r->app->budget, reply);
    dg_budget_give(&r->app->budget, r->taken);
    r->taken = reply;
}

static void unref(struct dg_request *r)
{
    if (atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    dg_request_release(r);
    dg_stream_free(r->stream);
    dg_buffer_deinit(&r->lines);
    dg_buffer_deinit(&r->events);
    dg_buffer_deinit(&r->reply);
    for (struct dg_request_glossary *g = r->glossaries; g; g = g->next) {
        dg_glossary_unref(g->glossary);
        dg_glossary_set_unref(g->named);
    }
    dg_arena_deinit(&r->arena);
    dg_budget_give(&r->app->budget, r->taken);
    dg_gate_release(r->visit);
    pthread_mutex_destroy(&r->lock);
    if (is_heavy(r->kind))
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

/* Fails a request that waits for a planner thread or its models. False: it does not wait. */
static bool end_waiting(struct dg_request *r)
{
    struct dg_planner *p = r->app->planner;
    struct dg_error err = {0};
    if (!dg_planner_cancel(p, DG_STEP_READ, r->bytes, &r->reading) &&
        !dg_planner_cancel(p, DG_STEP_PLAN, r->bytes, &r->planning) &&
        (!atomic_load(&r->opens) || !dg_item_cancel_opening(r->items)))
        return false;
    dg_request_check(r, &err);
    dg_request_fail(r, &err);
    return true;
}

struct dg_executor *dg_request_executor(const struct dg_request *r)
{
    return r->kind->brief ? r->app->files : r->app->low;
}

void dg_request_tell(struct dg_request *r)
{
    enum dg_outcome why = (enum dg_outcome)atomic_load(&r->ended);
    pthread_mutex_lock(&r->lock);
    if (!atomic_load(&r->prepared))
        ; /* planning checks regularly; after the release nothing is left to cancel */
    else if (r->fed)
        dg_feeder_poke(r->app->feeder);
    else if (!r->kind->work)
        dg_queue_cancel(r->app->queue, dg_item_hop(r->items)->task, why);
    else if (dg_executor_cancel(dg_request_executor(r), &r->items->work))
        dg_request_over(r);
    pthread_mutex_unlock(&r->lock);
}

void dg_request_end(struct dg_request *r, enum dg_outcome why)
{
    int running = DG_TASK_OK;
    if (atomic_compare_exchange_strong(&r->ended, &running, (int)why) && !end_waiting(r))
        dg_request_tell(r);
}

int dg_request_check(const struct dg_request *r, struct dg_error *err)
{
    const int ended = atomic_load(&r->ended);
    if (ended == DG_TASK_LATE)
        return dg_error_set(err, DG_ETIMEOUT, "the request's deadline passed");
    if (ended == DG_TASK_GONE)
        return dg_error_set(err, DG_ECANCELED, "the client closed its connection");
    if (ended == DG_TASK_STOPPED || dg_queue_stopped(r->app->queue))
        return dg_error_set(err, DG_ECANCELED, "the server is stopping");
    return DG_OK;
}

int dg_request_check_any(const void *request, struct dg_error *err)
{
    return dg_request_check(request, err);
}

/* ---- an item's progress ---- */

static void item_over(void *arg)
{
    struct dg_item *item = arg;
    struct dg_request *r = item->request;
    bool goes_on = dg_item_goes_on(item);
    item->answered = !goes_on && !dg_task_over(dg_item_hop(item)->task);
    if (r->fed || goes_on)
        dg_feeder_give(r->app->feeder, item);
    else
        dg_request_over(r);
}

/* Adds to `news`, and posts the writing unless that is posted or running already. In that case the
 * writer may free r as soon as DG_OVER is added, so r must not be touched afterwards. */
static void tell_news(struct dg_request *r, unsigned what)
{
    if (atomic_fetch_add(&r->news, what) == 0)
        dg_planner_post(r->app->planner, DG_STEP_WRITE, r->bytes, &r->writing);
}

void dg_request_news(struct dg_request *r)
{
    tell_news(r, 1);
}

/* A sentence of a stream has its answer. */
static void progress(void *arg)
{
    dg_request_news(((const struct dg_item *)arg)->request);
}

void dg_request_over(struct dg_request *r)
{
    if (r->direct && r->shape == DG_SHAPE_WHOLE)
        dg_request_arrive(r);
    else
        tell_news(r, DG_OVER);
}

int dg_request_submit(struct dg_item *item, struct dg_error *err)
{
    struct dg_request *r = item->request;
    struct dg_task *t = dg_item_hop(item)->task;
    t->class = (uint8_t)r->priority;
    t->client = r->client;
    t->came_ns = r->came_ns;
    /* These must not be refused later: a stream's reply has begun, a second hop's first is done. */
    t->patient = r->fed || r->stream || atomic_load(&item->at) > 0;
    /* A stream shows only the last hop. Planning that hop writes the stream, which must not be read
     * meanwhile. */
    t->progress = r->stream && t == dg_item_last_hop(item)->task ? progress : NULL;
    t->done = item_over;
    t->arg = item;
    item->running = true;
    if (t->n_entries > 0)
        return dg_queue_submit(r->app->queue, t, err);
    item_over(item); /* no letters, or the cache has all answers */
    return DG_OK;
}

/* ---- the start ---- */

/* The first admission, before its texts are looked at. A fed request is planned item by item, and
 * one that is answered at once not at all: they wait only to be read, and bodies have a bound of
 * their own. */
static int admit(struct dg_request *r, struct dg_error *err)
{
    struct dg_planner *p = r->app->planner;
    int rc = dg_request_take(r, r->bytes * (r->fed ? DG_BUDGET_READ_BATCH : DG_BUDGET_READ), err);
    if (rc != DG_OK)
        return rc;
    if (r->fed || r->kind->at_once)
        return DG_OK;
    bool queued = !r->kind->work && !dg_answer_cache_is_on(r->app->cache);
    if (queued)
        rc = dg_queue_check(r->app->queue, r->client, dg_planner_tokens(p, r->bytes), err);
    if (rc == DG_OK)
        rc = dg_planner_admit(p, r->bytes, err);
    atomic_store(&r->waits, rc == DG_OK);
    return rc;
}

/* True if the HTTP thread does all text work: the body is small and names no glossary, which may
 * have to be read from a file first. */
static bool is_direct(const struct dg_request *r)
{
    static const char word[] = "glossary";
    const struct dg_http_request *q = dg_http_request(r->x);
    return r->bytes <= DG_DIRECT_BYTES && !r->fed && !r->kind->work &&
           !memmem(q->body, q->body_len, word, sizeof word - 1) && !strstr(q->query, word);
}

void dg_request_start_take(struct dg_request *r)
{
    struct dg_error err = {0};
    struct dg_http_reply reply = {0};
    if (admit(r, &err) != DG_OK) {
        dg_request_refuse(r, &err, &reply);
        dg_http_reply_take(r->x, &reply);
        dg_request_free(r);
        return;
    }
    r->came_ns = dg_clock_ns();
    r->direct = is_direct(r);
    /* Before anything runs: the request may be over at once. */
    dg_http_later(r->x, &dg_request_later[DG_SHAPE_WHOLE], r);
    if (r->direct) {
        dg_request_read(r);
        return;
    }
    dg_request_set_deadline(r);
    dg_planner_post(r->app->planner, DG_STEP_READ, r->bytes, &r->reading);
}

void dg_request_set_deadline(struct dg_request *r)
{
    /* If an earlier deadline can no longer be cancelled, `late` has ended the request or is about
     * to; it must not run again, as it has only one reference. */
    if (r->deadline_ns > 0 && !dg_executor_cancel(r->app->executor, &r->late))
        return;
    if (r->deadline_ns == 0)
        atomic_fetch_add(&r->refs, 1); /* late's */
    r->deadline_ns = dg_http_request(r->x)->start_ns + (uint64_t)r->timeout_ms * MS_NS;
    dg_http_due(r->x, r->deadline_ns + (r->fed ? DG_PARTS_NS : 0));
    dg_executor_post_at(r->app->executor, &r->late, r->deadline_ns);
}

void dg_request_set_timeout(struct dg_request *r, int64_t timeout_ms)
{
    r->timeout_ms = timeout_ms;
    dg_request_set_deadline(r);
}

void dg_request_waited(struct dg_request *r, uint64_t took_ns, size_t tokens)
{
    if (atomic_exchange(&r->waits, false))
        dg_planner_planned(r->app->planner, r->bytes, took_ns, tokens);
}

void dg_request_arrive(struct dg_request *r)
{
    if (atomic_fetch_sub(&r->to_come, 1) == 1)
        dg_http_wake(r->x);
}

void dg_request_fail(struct dg_request *r, const struct dg_error *err)
{
    dg_request_waited(r, 0, 0);
    r->failed = *err;
    dg_request_release(r);
    dg_http_wake(r->x);
}
