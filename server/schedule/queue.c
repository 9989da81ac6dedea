/* DESIGN. One lock guards all lanes, one lane for each model that sentences wait for (lane.h). Done
 * callbacks never run under the lock: dropped entries are collected, and settled after it is
 * released. */
#include "server/schedule/queue_internal.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

int dg_queue_open(
    const struct dg_queue_options *options, struct dg_queue **out, struct dg_error *err)
{
    struct dg_queue *q = calloc(1, sizeof *q);
    if (!q)
        return dg_error_set(err, DG_ENOMEM, "no memory for the queue");
    q->o = *options;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->some, NULL);
    *out = q;
    return DG_OK;
}

void dg_queue_close(struct dg_queue *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->n_lanes; i++)
        dg_batcher_free(&q->lanes[i].batcher);
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->some);
    free(q);
}

void dg_queue_set_bound(
    struct dg_queue *q, size_t max_tokens, double max_seconds, uint64_t patience_max_ns)
{
    pthread_mutex_lock(&q->lock);
    q->o.max_tokens = max_tokens;
    q->o.max_seconds = max_seconds;
    /* Ranks are made from this policy, not from the copies in lanes; workers read its other fields,
     * which stay as they are. */
    q->o.policy.patience_max_ns = patience_max_ns;
    pthread_mutex_unlock(&q->lock);
}

/* The lock is held, as for all static functions but settle_all. */
static void leave_task(struct dg_queue *q, const struct dg_task *t, struct dg_entry **list)
{
    struct dg_lane *l = dg_lane_of(q, t->model);
    dg_lane_leave_task(q, l, t, list);
    dg_lane_retire(q, l);
}

/* Ends the entries' tasks with this outcome, and err (may be NULL), unless they have ended. The
 * lock is not held: done may be called in here. */
static void settle_all(struct dg_entry *list, enum dg_outcome outcome, const struct dg_error *err)
{
    while (list) {
        struct dg_task *t = list->task;
        list = list->next; /* settling the last entry of a task frees them all */
        dg_task_end(t, outcome, err);
        dg_task_settle(t);
    }
}

/* ---- entering ---- */

/* Sets the ranks of t's entries, which are later the more their client has used recently. */
static void set_ranks(struct dg_queue *q, struct dg_task *t, enum dg_class class, uint64_t now)
{
    const struct dg_batch_policy *p = &q->o.policy;
    const struct dg_ahead ahead = dg_queue_ahead(q, t->model, class);
    const uint64_t used = dg_usage_of(&q->usage, t->client, now);
    const uint64_t later = p->usage_ns > 0 && used > p->usage_max_ns / p->usage_ns
                               ? p->usage_max_ns
                               : used * p->usage_ns;
    uint64_t work = 0, cost = 0;
    for (size_t i = 0; i < t->n_entries; i++)
        work += dg_entry_work(&t->entries[i]);
    dg_patience_come(&q->patience, work);
    const bool patient =
        class == DG_CLASS_BULK || dg_patience_is_large(&q->patience, work, t->n_entries);
    work = 0;
    for (size_t i = 0; i < t->n_entries; i++) {
        struct dg_entry *e = &t->entries[i];
        work += dg_entry_work(e);
        cost += dg_queue_cost(e, false);
        const uint64_t patience =
            dg_patience_ns(&q->patience, work, ahead.seconds, (double)cost / ahead.rate);
        e->node = (struct dg_heap_node){.key = dg_batcher_rank(p, class, now + later, patience)};
        e->patient = patient;
    }
}

int dg_queue_submit(struct dg_queue *q, struct dg_task *t, struct dg_error *err)
{
    int rc = DG_OK;
    pthread_mutex_lock(&q->lock);
    struct dg_lane *l = NULL;
    struct dg_demand demand = {.class = DG_CLASS_BULK};
    const uint64_t now = dg_clock_ns();
    dg_queue_pass(q, now);
    if (atomic_load(&q->stopped))
        rc = dg_error_set(err, DG_ECANCELED, "the server is stopping");
    else
        rc = dg_queue_check_bound(q, t, now, &demand, err);
    if (rc == DG_EAGAIN && t->refused_ns == 0)
        t->refused_ns = now;
    if (rc == DG_OK && !dg_lane_reserve(l = dg_lane_make(q, t->model), t->n_entries))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu waiting sentences", t->n_entries);
    if (rc == DG_OK) {
        t->submitted_ns = now;
        /* For metrics: a large one is bulk, whatever it asked for. */
        t->class = (uint8_t)demand.class;
        t->large = demand.large;
        set_ranks(q, t, demand.class, now);
        dg_usage_come(&q->usage, t->client, demand.cost, now);
        for (size_t i = 0; i < t->n_entries; i++)
            dg_lane_enter(q, l, &t->entries[i]);
        pthread_cond_broadcast(&q->some);
    }
    dg_lane_retire(q, l);
    pthread_mutex_unlock(&q->lock);
    return rc;
}

void dg_queue_cancel(struct dg_queue *q, struct dg_task *t, enum dg_outcome outcome)
{
    struct dg_entry *list = NULL;
    dg_task_end(t, outcome, NULL);
    pthread_mutex_lock(&q->lock);
    dg_queue_pass(q, dg_clock_ns());
    leave_task(q, t, &list);
    pthread_mutex_unlock(&q->lock);
    settle_all(list, outcome, NULL);
}

void dg_queue_stop(struct dg_queue *q)
{
    struct dg_entry *list = NULL;
    pthread_mutex_lock(&q->lock);
    atomic_store(&q->stopped, true);
    while (q->n_lanes > 0) {
        struct dg_batcher *b = &q->lanes[0].batcher;
        leave_task(q, dg_batcher_first(b)->task, &list);
    }
    pthread_cond_broadcast(&q->some);
    pthread_mutex_unlock(&q->lock);
    settle_all(list, DG_TASK_STOPPED, NULL);
}

bool dg_queue_stopped(const struct dg_queue *q)
{
    return atomic_load(&q->stopped);
}

/* Under the lock. */
static void measure(struct dg_queue *q, struct dg_queue_load *out)
{
    dg_queue_pass(q, dg_clock_ns());
    struct dg_backlog b = dg_queue_backlog(q, DG_CLASS_BULK);
    struct dg_backlog interactive = dg_queue_backlog(q, DG_CLASS_INTERACTIVE);
    double rate = b.seconds > 0 ? (double)b.cost / b.seconds : DG_QUEUE_START_RATE;
    size_t most = q->o.max_tokens > 0 ? q->o.max_tokens : (size_t)(q->o.max_seconds * rate);
    *out = (struct dg_queue_load){.entries = b.entries,
        .interactive = interactive.entries,
        .tokens = b.tokens,
        .seconds = b.seconds,
        .interactive_seconds = interactive.seconds,
        .most = most};
}

void dg_queue_load(struct dg_queue *q, struct dg_queue_load *out)
{
    pthread_mutex_lock(&q->lock);
    measure(q, out);
    pthread_mutex_unlock(&q->lock);
}

size_t dg_queue_depths(
    struct dg_queue *q, struct dg_queue_load *load, struct dg_queue_depth *out, size_t cap)
{
    pthread_mutex_lock(&q->lock);
    measure(q, load);
    size_t n = q->n_lanes < cap ? q->n_lanes : cap;
    for (size_t i = 0; i < n; i++) {
        out[i].model = q->lanes[i].model;
        memcpy(out[i].entries, q->lanes[i].entries, sizeof out[i].entries);
        dg_served_ref(out[i].model);
    }
    pthread_mutex_unlock(&q->lock);
    return n;
}

/* ---- for workers ---- */

bool dg_queue_wait(struct dg_queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->n_lanes == 0 && !atomic_load(&q->stopped))
        pthread_cond_wait(&q->some, &q->lock);
    pthread_mutex_unlock(&q->lock);
    return !atomic_load(&q->stopped);
}

size_t dg_queue_models(struct dg_queue *q, struct dg_served **out, size_t cap)
{
    pthread_mutex_lock(&q->lock);
    size_t n = q->n_lanes < cap ? q->n_lanes : cap;
    for (size_t i = 0; i < n; i++) {
        out[i] = q->lanes[i].model;
        dg_served_ref(out[i]);
    }
    pthread_mutex_unlock(&q->lock);
    return n;
}

/* Removes a picked sentence and its duplicates from the rest of the queue; the batcher has removed
 * it. Entries whose task has ended go onto *over; returns the first of the others, or NULL. */
static struct dg_entry *hand_out(
    struct dg_queue *q, struct dg_lane *l, struct dg_entry *first, struct dg_entry **over)
{
    struct dg_entry *kept = NULL, **end = &kept;
    l->tokens[dg_batcher_class(first->node.key)] -= first->source_tokens;
    dg_duplicates_remove(&q->duplicates, first);
    for (struct dg_entry *e = first, *next; e; e = next) {
        next = e->next;
        dg_lane_count_out(q, l, e);
        if (dg_task_over(e->task)) {
            e->next = *over;
            *over = e;
            continue;
        }
        dg_queue_drained(q, e, true);
        e->task->begun++;
        if (!kept && e != first)
            dg_entry_succeed(e, first);
        *end = e;
        end = &e->next;
    }
    *end = NULL;
    return kept;
}

/* Refuses the next interactive requests if they have waited for too long, before a worker spends
 * time on them, so that later ones get their answers in time. */
static void refuse_overdue(
    struct dg_queue *q, struct dg_lane *l, uint64_t now_ns, struct dg_entry **over)
{
    for (const struct dg_entry *e; (e = dg_batcher_first(&l->batcher)) != NULL;) {
        struct dg_error err = {0}; /* each task's own: it says how long that one waited */
        struct dg_task *t = e->task;
        /* The first may be of a bulk task, whose rank a duplicate has made an interactive one. */
        if (!dg_queue_overdue(q, t, now_ns, &err))
            return;
        dg_task_end(t, DG_TASK_FAILED, &err);
        dg_lane_leave_task(q, l, t, over);
    }
}

size_t dg_queue_pick(struct dg_queue *q, struct dg_served *model, const struct dg_turn *turn,
    struct dg_entry **out, size_t cap)
{
    struct dg_entry *over = NULL;
    size_t n = 0, got = 0;
    pthread_mutex_lock(&q->lock);
    dg_queue_pass(q, turn->now_ns);
    struct dg_lane *l = dg_lane_of(q, model);
    if (l)
        refuse_overdue(q, l, turn->now_ns, &over);
    if (l)
        n = dg_batcher_pick(&l->batcher, &turn->room, turn->live, turn->n_live, out, cap);
    for (size_t i = 0; i < n; i++) {
        struct dg_entry *e = hand_out(q, l, out[i], &over);
        if (e)
            out[got++] = e;
    }
    dg_lane_retire(q, l);
    pthread_mutex_unlock(&q->lock);
    settle_all(over, DG_TASK_FAILED, NULL); /* their outcomes are set already */
    return got;
}

void dg_queue_return(struct dg_queue *q, struct dg_entry *const *entries, size_t n)
{
    struct dg_error err = {0};
    if (n == 0)
        return;
    pthread_mutex_lock(&q->lock);
    bool stopped = atomic_load(&q->stopped);
    struct dg_lane *l = stopped ? NULL : dg_lane_make(q, entries[0]->task->model);
    size_t total = 0, i = 0;
    for (; i < n; i++)
        for (const struct dg_entry *e = entries[i]; e; e = e->next)
            total++;
    bool ok = dg_lane_reserve(l, total);
    if (!ok && !stopped)
        dg_error_set(&err, DG_ENOMEM, "no memory for %zu waiting sentences", total);
    for (i = 0; i < n && ok; i++) {
        dg_lane_add(q, l, entries[i]);
        for (struct dg_entry *e = entries[i]; e; e = e->next) {
            dg_lane_count_in(q, l, e, entries[i]);
            dg_queue_drained(q, e, false);
            e->task->begun--;
        }
    }
    dg_lane_retire(q, l);
    pthread_mutex_unlock(&q->lock);
    for (i = 0; i < n && !ok; i++)
        settle_all(entries[i], stopped ? DG_TASK_STOPPED : DG_TASK_FAILED, &err);
}
