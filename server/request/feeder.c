/* DESIGN. A single work on the executor does everything but planning, so one thread at a time
 * submits, ends and writes items. Other threads only append to lists under the lock (new requests,
 * items that come back from the planner or the queue), take lines out, and post the work; so no
 * other module is called with the lock held. An item being planned belongs to the planner. While
 * any request is in progress the work runs every TICK_NS, because the queue does not signal when it
 * has room.
 *
 * A request that is not fed may be freed as soon as it is woken. */
#include "server/request/feeder_internal.h"

#include "base/clock.h"
#include "server/config.h"
#include "server/request/steps.h"
#include "server/schedule/queue.h"

#include <stdlib.h>

#define MAX_REQUESTS 64 /* as many as full-size bodies are held, service_http.c */
#define TICK_NS 5000000
#define LINES_BYTES 65536      /* written and not yet taken; from here on no item is started */
#define STARTS 32              /* items started before checking for finished ones */
#define INTERACTIVE_ENTRIES 64 /* interactive ones in the queue; then fed such requests wait */

/* ---- from other threads ---- */

void dg_feeder_poke(struct dg_feeder *f)
{
    dg_executor_post(f->app->executor, &f->work);
}

int dg_feeder_add(struct dg_feeder *f, struct dg_request *r, struct dg_error *err)
{
    pthread_mutex_lock(&f->lock);
    bool room = f->n_requests < MAX_REQUESTS;
    if (room) {
        f->n_requests++;
        r->next = f->arrived;
        f->arrived = r;
    }
    pthread_mutex_unlock(&f->lock);
    if (!room)
        return dg_error_set(
            err, DG_EAGAIN, "%d batches are in progress, which is the limit", MAX_REQUESTS);
    dg_feeder_poke(f);
    return DG_OK;
}

void dg_feeder_give(struct dg_feeder *f, struct dg_item *item)
{
    pthread_mutex_lock(&f->lock);
    item->next = NULL;
    *f->back_end = item;
    f->back_end = &item->next;
    pthread_mutex_unlock(&f->lock);
    dg_feeder_poke(f);
}

size_t dg_feeder_requests(struct dg_feeder *f)
{
    pthread_mutex_lock(&f->lock);
    size_t n = f->n_requests;
    pthread_mutex_unlock(&f->lock);
    return n;
}

void dg_feeder_take_lines(struct dg_feeder *f, struct dg_request *r, struct dg_buffer *out)
{
    pthread_mutex_lock(&f->lock);
    bool full = r->lines.len >= LINES_BYTES;
    if (r->lines.failed)
        out->failed = true;
    dg_buffer_add(out, r->lines.data, r->lines.len);
    dg_buffer_reset(&r->lines);
    pthread_mutex_unlock(&f->lock);
    if (full)
        dg_feeder_poke(f);
}

/* ---- an item's end ---- */

/* Appends an item's answer to its request's lines. */
static void add_line(struct dg_feeder *f, struct dg_item *item)
{
    struct dg_request *r = item->request;
    pthread_mutex_lock(&f->lock);
    r->lines.failed |= item->answer.failed;
    dg_buffer_add(&r->lines, item->answer.data, item->answer.len);
    dg_buffer_adds(&r->lines, "\n");
    pthread_mutex_unlock(&f->lock);
    dg_buffer_deinit(&item->answer);
    dg_http_poke(r->x);
}

/* Ends an item with err or its task's outcome: writes its answer and keeps it, or adds it to the
 * lines. For a request that is not fed, ends the request instead. */
static void settle(struct dg_feeder *f, struct dg_item *item, struct dg_error *err)
{
    struct dg_request *r = item->request;
    if (!r->fed) {
        item->failed = *err;
        dg_request_over(r);
        return;
    }
    bool gone = atomic_load(&r->ended) == DG_TASK_GONE; /* nobody will read it */
    item->running = false;
    if (!gone)
        dg_feeder_answer(item, err);
    if (r->x) /* a document's texts are no items of a batch */
        dg_item_count_outcome(item, gone, err);
    struct dg_buffer answer = item->answer;
    dg_buffer_init(&item->answer);
    dg_item_release(item);
    dg_feeder_count(f, item);
    item->answer = answer;
    if (r->shape == DG_SHAPE_LINES && !gone)
        add_line(f, item);
    r->n_over++;
}

/* With the outcome of the item's task, or why its request ended early. */
static void settle_ended(struct dg_feeder *f, struct dg_item *item)
{
    struct dg_error err = {0};
    settle(f, item, &err);
}

/* ---- an item's progress ---- */

/* A hop is over: plans the next one if there is one, or settles the item. */
static void hop_over(struct dg_feeder *f, struct dg_item *item)
{
    item->running = false;
    if (!dg_item_goes_on(item) || atomic_load(&item->request->ended) != DG_TASK_OK) {
        settle_ended(f, item);
    } else {
        dg_feeder_plan_next(item);
    }
}

/* Takes an item back from the planner: it is ready for the queue, or it failed. */
static void take_planned(struct dg_feeder *f, struct dg_item *item)
{
    struct dg_request *r = item->request;
    struct dg_error err = item->failed;
    const bool first = r->ahead == item;
    if (r->fed)
        dg_feeder_count(f, item);
    if (err.code != DG_OK || (first && r->cut)) {
        if (first)
            r->ahead = NULL;
        settle(f, item, &err);
    } else if (first) {
        r->ahead_planned = true;
    } else {
        if (r->stream) /* some sentences may be answered already */
            dg_request_news(r);
        item->next = NULL;
        *f->between_end = item;
        f->between_end = &item->next;
    }
}

/* False: the queue has no room. Otherwise the item is in the queue, or over. */
static bool submit(struct dg_feeder *f, struct dg_item *item)
{
    struct dg_error err = {0};
    int rc = dg_request_submit(item, &err);
    if (rc == DG_EAGAIN)
        item->running = false;
    else if (rc != DG_OK)
        settle(f, item, &err);
    return rc != DG_EAGAIN;
}

/* Submits second hops before any new item is started, even where has_room would say no: half of
 * their work is done. */
static void go_on(struct dg_feeder *f)
{
    struct dg_item **at = &f->between, *item;
    while ((item = *at) != NULL) {
        struct dg_item *next = item->next; /* submit may end the item */
        if (atomic_load(&item->request->ended) != DG_TASK_OK) {
            settle_ended(f, item);
        } else if (!submit(f, item)) {
            at = &item->next;
            continue;
        }
        *at = next;
    }
    f->between_end = at;
}

/* True if the request may put more items into the queue. The queue itself limits bulk work; a fed
 * interactive request must leave room for other interactive ones. */
static bool has_room(struct dg_feeder *f, const struct dg_request *r)
{
    struct dg_queue_load load;
    if (r->priority == DG_CLASS_BULK)
        return true;
    dg_queue_load(f->app->queue, &load);
    return load.interactive < INTERACTIVE_ENTRIES;
}

/* Starts the request's next item, or submits the planned one. False: neither is possible now. */
static bool start_next(struct dg_feeder *f, struct dg_request *r)
{
    struct dg_error err = {0};
    struct dg_item *item = r->ahead;
    if (!item) {
        if (f->taken > f->app->budget.most / DG_BUDGET_FED)
            return false; /* answer the planned items first */
        item = &r->items[r->n_started++];
        if (item->wrong) {
            settle(f, item, &err);
        } else {
            r->ahead = item;
            r->ahead_planned = false;
            dg_feeder_plan(item);
        }
        return true;
    }
    if (!r->ahead_planned || !has_room(f, r))
        return false;
    r->ahead = NULL; /* submit may end the item */
    if (submit(f, item))
        return true;
    r->ahead = item;
    return false;
}

static bool may_start(struct dg_feeder *f, struct dg_request *r)
{
    if (atomic_load(&r->ended) != DG_TASK_OK || (r->n_started == r->n && !r->ahead))
        return false;
    if (r->shape != DG_SHAPE_LINES)
        return true;
    pthread_mutex_lock(&f->lock);
    bool read = r->lines.len < LINES_BYTES;
    pthread_mutex_unlock(&f->lock);
    return read;
}

/* Starts an item of each request. Requests that started one go to the end of the list, so that the
 * next room is another's. Returns how many did. */
static int start_each(struct dg_feeder *f)
{
    struct dg_request *moved = NULL, **end = &moved, **at = &f->requests;
    int started = 0;
    for (struct dg_request *r; (r = *at) != NULL;) {
        if (!may_start(f, r) || !start_next(f, r)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->next = NULL;
        *end = r;
        end = &r->next;
        started++;
    }
    *at = moved;
    return started;
}

/* Starts items while the queue has room. True: there may be more. */
static bool start_some(struct dg_feeder *f)
{
    int started = 0;
    for (int n = 1; n > 0 && started < STARTS; started += n)
        n = start_each(f);
    return started >= STARTS;
}

/* Settles the item ahead. If it is being planned right now, take_planned does so later. */
static void cut_ahead(struct dg_feeder *f, struct dg_request *r)
{
    struct dg_item *item = r->ahead;
    if (!item || (!r->ahead_planned && !dg_feeder_plan_cancel(item)))
        return;
    r->ahead = NULL;
    settle_ended(f, item);
}

/* Ends a request early: cancels running items, and settles those not started. */
static void cut(struct dg_feeder *f, struct dg_request *r)
{
    const enum dg_outcome why = (enum dg_outcome)atomic_load(&r->ended);
    r->cut = true;
    for (size_t i = 0; i < r->n_started; i++)
        if (r->items[i].running)
            dg_queue_cancel(f->app->queue, dg_item_hop(&r->items[i])->task, why);
    while (r->n_started < r->n)
        settle_ended(f, &r->items[r->n_started++]);
    cut_ahead(f, r);
}

/* Cuts one request per run, so that no other is delayed. True: there are more. */
static bool cut_one(struct dg_feeder *f)
{
    struct dg_request *first = NULL;
    bool more = false;
    for (struct dg_request *r = f->requests; r; r = r->next) {
        if (r->cut || atomic_load(&r->ended) == DG_TASK_OK)
            continue;
        if (r->x)
            dg_http_due(r->x, dg_clock_ns() + DG_PARTS_NS);
        more = first != NULL;
        first = first ? first : r;
    }
    if (first)
        cut(f, first);
    return more;
}

/* Removes requests whose items are all over, and has them answered. */
static void retire(struct dg_feeder *f)
{
    for (struct dg_request **at = &f->requests; *at;) {
        struct dg_request *r = *at;
        if (r->n_over < r->n) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        pthread_mutex_lock(&f->lock);
        f->n_requests--;
        pthread_mutex_unlock(&f->lock);
        void (*over)(struct dg_request * r) = r->kind->over ? r->kind->over : dg_request_over;
        if (r->x)
            dg_http_due(r->x, 0); /* no time limit: only writing is left */
        over(r);
    }
}

/* Takes new requests; returns the items that came back. */
static struct dg_item *receive(struct dg_feeder *f)
{
    pthread_mutex_lock(&f->lock);
    struct dg_request *arrived = f->arrived;
    struct dg_item *back = f->back;
    f->arrived = NULL;
    f->back = NULL;
    f->back_end = &f->back;
    pthread_mutex_unlock(&f->lock);
    while (arrived) {
        struct dg_request *r = arrived;
        arrived = r->next;
        r->next = f->requests;
        f->requests = r;
    }
    return back;
}

static void feed(void *arg)
{
    struct dg_feeder *f = arg;
    struct dg_item *next;
    for (struct dg_item *item = receive(f); item; item = next) {
        next = item->next;
        if (item->running)
            hop_over(f, item);
        else
            take_planned(f, item);
    }
    bool more = cut_one(f);
    go_on(f);
    if (start_some(f) || more)
        dg_feeder_poke(f);
    retire(f);
    if (f->requests || f->between)
        dg_executor_post_at(f->app->executor, &f->work, dg_clock_ns() + TICK_NS);
}

int dg_feeder_open(struct dg_app *app, struct dg_feeder **out, struct dg_error *err)
{
    struct dg_feeder *f = calloc(1, sizeof *f);
    if (!f)
        return dg_error_set(err, DG_ENOMEM, "no memory for feeding requests");
    f->app = app;
    f->work = (struct dg_work){.run = feed, .arg = f};
    f->back_end = &f->back;
    f->between_end = &f->between;
    pthread_mutex_init(&f->lock, NULL);
    *out = f;
    return DG_OK;
}

void dg_feeder_close(struct dg_feeder *f)
{
    if (!f)
        return;
    pthread_mutex_destroy(&f->lock);
    free(f);
}
