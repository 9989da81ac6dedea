/* DESIGN. Live sentences stand in a table; the engine's id is the row. `order` lists the rows by
 * rank, which is what the batcher wants. A live sentence answers all its twins: they hang on its
 * entry by next, and it is dropped with the last of them. A model is held as long as one of its
 * sentences is live (through its task), so engines never vanish under a step. */
#include "server/schedule/worker.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/schedule/pace.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LIVE 4096
#define MAX_MODELS 256
#define PICK 256 /* entries asked for at once */

struct live {
    struct dg_entry *entry;  /* with its twins; NULL: free row */
    struct dg_served *model; /* their tasks hold it */
    uint64_t rank;
    uint32_t rows, source_tokens;
    bool held;
    uint64_t admitted_ns, encoded_ns;
    uint32_t next_free;
};

struct worker {
    pthread_t thread;
    uint32_t number;
    struct dg_queue *queue;
    struct dg_metrics *metrics;
    struct dg_core_share *share;
    struct dg_batch_policy policy;
    struct live live[MAX_LIVE];
    uint32_t first_free, n_live, top;    /* rows at and above top were never used */
    uint32_t order[MAX_LIVE];            /* [n_live] rows, ascending by rank */
    struct dg_running running[MAX_LIVE]; /* of one model, in that order */
    uint32_t running_row[MAX_LIVE];
    uint32_t newcomers;                   /* source pieces that the step to come encodes */
    struct dg_served *models[MAX_MODELS]; /* those with something to do, held for one turn */
    size_t n_models;
    bool busy;   /* counted in share */
    bool broken; /* its device failed */
};

struct dg_workers {
    uint32_t n;
    struct worker *workers[];
};

static struct dg_replica *replica_of(const struct worker *w, const struct dg_served *model)
{
    return &model->replicas[w->number];
}

static struct dg_engine *engine_of(const struct worker *w, const struct dg_served *model)
{
    return replica_of(w, model)->engine;
}

/* ---- the table ---- */

static bool row_new(struct worker *w, uint32_t *row)
{
    if (w->first_free != UINT32_MAX) {
        *row = w->first_free;
        w->first_free = w->live[*row].next_free;
    } else if (w->top < MAX_LIVE) {
        *row = w->top++;
    } else {
        return false;
    }
    return true;
}

static void row_free(struct worker *w, uint32_t row)
{
    w->live[row].entry = NULL;
    w->live[row].next_free = w->first_free;
    w->first_free = row;
}

static void order_put(struct worker *w, uint32_t row)
{
    uint32_t at = w->n_live++;
    for (; at > 0 && w->live[w->order[at - 1]].rank > w->live[row].rank; at--)
        w->order[at] = w->order[at - 1];
    w->order[at] = row;
}

static void order_remove(struct worker *w, uint32_t row)
{
    uint32_t at = 0;
    while (w->order[at] != row)
        at++;
    w->n_live--;
    memmove(&w->order[at], &w->order[at + 1], (w->n_live - at) * sizeof *w->order);
}

/* The live sentences of a model as the batcher wants them; returns how many. */
static size_t list_running(struct worker *w, const struct dg_served *model)
{
    size_t n = 0;
    for (uint32_t i = 0; i < w->n_live; i++) {
        const struct live *l = &w->live[w->order[i]];
        if (l->model != model)
            continue;
        w->running[n] = (struct dg_running){.rank = l->rank, .rows = l->rows};
        w->running_row[n++] = w->order[i];
    }
    return n;
}

/* What the metrics and the queue say of an engine between steps. */
static void publish(struct dg_replica *replica)
{
    struct dg_capacity c;
    dg_engine_capacity(replica->engine, &c);
    double rate = replica->pace ? dg_pace_rate(replica->pace) : 0;
    uint32_t whole = rate < 1 ? rate > 0 : rate < 4e9 ? (uint32_t)rate : UINT32_MAX;
    atomic_store_explicit(
        &replica->blocks_used, c.blocks_total - c.blocks_free, memory_order_relaxed);
    atomic_store_explicit(&replica->blocks_total, c.blocks_total, memory_order_relaxed);
    atomic_store_explicit(&replica->sentences_live, c.sentences_live, memory_order_relaxed);
    atomic_store_explicit(&replica->tokens_per_s, whole, memory_order_relaxed);
}

/* ---- leaving early ---- */

/* Entries of a live sentence whose task has ended or whose deadline has passed; true: none is
 * left. */
static bool drop_entries(struct live *l, bool stop, uint64_t now)
{
    for (struct dg_entry **link = &l->entry, *e; (e = *link) != NULL;) {
        struct dg_task *t = e->task;
        bool late = t->deadline_ns != 0 && t->deadline_ns <= now;
        if (!stop && !late && !dg_task_over(t)) {
            link = &e->next;
            continue;
        }
        *link = e->next;
        dg_task_end(t, stop ? DG_TASK_STOPPED : DG_TASK_LATE, NULL);
        dg_task_settle(t, 1);
    }
    return l->entry == NULL;
}

/* Rows of those that nobody waits for any more are free for the next step. */
static void drop_over(struct worker *w, uint64_t now)
{
    bool stop = dg_queue_stopped(w->queue);
    for (uint32_t i = 0; i < w->n_live;) {
        uint32_t row = w->order[i];
        struct live *l = &w->live[row];
        struct dg_served *model = l->model;
        dg_served_hold(model); /* the last entry may take its task, and that the model, along */
        if (drop_entries(l, stop, now)) {
            dg_engine_cancel(engine_of(w, model), row);
            publish(replica_of(w, model));
            order_remove(w, row);
            row_free(w, row);
        } else {
            i++;
        }
        dg_served_release(model);
    }
}

/* The engine will not have it: the tasks of all twins end, with what else of them waits. */
static void fail(struct worker *w, struct dg_entry *e, const struct dg_error *err)
{
    for (struct dg_entry *next; e; e = next) {
        next = e->next;
        dg_task_end(e->task, DG_TASK_FAILED, err);
        dg_queue_cancel(w->queue, e->task, DG_TASK_FAILED);
        dg_task_settle(e->task, 1);
    }
}

/* ---- joining ---- */

static void joined(struct worker *w, uint32_t row, struct dg_entry *e, uint64_t now)
{
    struct live *l = &w->live[row];
    *l = (struct live){.entry = e,
        .model = e->task->model,
        .rank = e->waiting.node.key,
        .rows = e->rows,
        .source_tokens = e->source_tokens,
        .admitted_ns = now};
    order_put(w, row);
    w->newcomers += e->source_tokens;
    for (; e; e = e->next)
        dg_metrics_observe(
            w->metrics, DG_TIME_QUEUE, 0, (double)(now - e->task->submitted_ns) / 1e9);
}

/* False: no room now. */
static bool admit_one(struct worker *w, struct dg_entry *e, uint64_t now)
{
    struct dg_sentence s;
    struct dg_error err = {0};
    uint32_t row;
    if (!row_new(w, &row))
        return false;
    dg_job_sentence(e->job, e->index, &s);
    int rc = dg_engine_admit(engine_of(w, e->task->model), row, &s, &err);
    if (rc == DG_OK) {
        joined(w, row, e, now);
        return true;
    }
    row_free(w, row);
    if (rc != DG_EAGAIN)
        fail(w, e, &err);
    return rc != DG_EAGAIN;
}

/* Who joins, and who of those that live now advances in the step to come. */
static void admit(struct worker *w, struct dg_served *model, uint64_t now)
{
    struct dg_entry *picked[PICK];
    struct dg_replica *replica = replica_of(w, model);
    struct dg_engine *engine = replica->engine;
    struct dg_capacity c;
    dg_engine_capacity(engine, &c);
    bool paced = w->policy.batching == DG_BATCHING_CONTINUOUS;
    struct dg_turn turn = {.now_ns = now,
        .pace = paced ? replica->pace : NULL,
        .live = w->running,
        .n_live = list_running(w, model),
        .most = c.rows_free + c.rows_live,
        .room = {.rows = c.rows_free,
            .sentences = c.sentences_free,
            .step = atomic_load_explicit(&replica->steps, memory_order_relaxed)}};
    size_t n = dg_queue_pick(w->queue, model, &turn, picked, PICK);
    now = n > 0 ? dg_clock_ns() : now; /* picked ones may have come since: the queue has a lock */
    for (size_t i = 0; i < n; i++) {
        if (!admit_one(w, picked[i], now)) {
            picked[i]->waiting.refused = true;
            dg_queue_return(w->queue, picked + i, n - i);
            break;
        }
    }
    n = list_running(w, model);
    dg_batcher_run(&w->policy, turn.room.knee, turn.room.step, w->running, n);
    for (size_t i = 0; i < n; i++) {
        struct live *l = &w->live[w->running_row[i]];
        if (l->held == !w->running[i].runs)
            continue;
        l->held = !l->held;
        dg_engine_hold(engine, w->running_row[i], l->held);
    }
}

/* Which models have something to do, waiting or live. Held: the last task of a model that is served
 * no more may end within the turn. */
static void hold_models(struct worker *w)
{
    w->n_models = dg_queue_models(w->queue, w->models, MAX_MODELS);
    for (uint32_t i = 0; i < w->n_live; i++) {
        struct dg_served *m = w->live[w->order[i]].model;
        size_t k = 0;
        while (k < w->n_models && w->models[k] != m)
            k++;
        if (k == w->n_models && k < MAX_MODELS) {
            dg_served_hold(m);
            w->models[w->n_models++] = m;
        }
    }
}

/* ---- one step ---- */

/* The step in which a sentence is encoded also takes its first position: that is counted as
 * encoding. */
static void mark_encoded(struct worker *w, const struct dg_served *m, uint64_t now)
{
    for (uint32_t i = 0; i < w->n_live; i++) {
        struct live *l = &w->live[w->order[i]];
        if (l->model != m || l->encoded_ns != 0)
            continue;
        l->encoded_ns = now;
        dg_metrics_observe(
            w->metrics, DG_TIME_STAGE, DG_STAGE_ENCODE, (double)(now - l->admitted_ns) / 1e9);
    }
}

/* A sentence's second round, on the row and in the room that its first has just left. */
static bool admit_again(struct worker *w, uint32_t row)
{
    struct live *l = &w->live[row];
    struct dg_sentence s;
    struct dg_error err = {0};
    dg_job_sentence(l->entry->job, l->entry->index, &s);
    if (dg_engine_admit(engine_of(w, l->model), row, &s, &err) != DG_OK) {
        fail(w, l->entry, &err);
        return false;
    }
    l->held = false;
    w->newcomers += l->source_tokens;
    return true;
}

/* One answer for all twins. Those that want a second round stay; true: there are some. */
static bool accept(struct worker *w, struct live *l, const struct dg_result *r, uint64_t now)
{
    struct dg_entry_times times = {l->admitted_ns, l->encoded_ns, now};
    for (struct dg_entry **link = &l->entry, *e; (e = *link) != NULL;) {
        if (!dg_task_accept(e, r, &times)) {
            link = &e->next;
            continue;
        }
        *link = e->next;
        if (dg_task_over(e->task))
            dg_queue_cancel(w->queue, e->task, DG_TASK_FAILED);
        dg_task_settle(e->task, 1);
    }
    return l->entry != NULL;
}

static void collect(struct worker *w, struct dg_replica *replica, uint64_t now)
{
    const struct dg_result *r;
    while ((r = dg_engine_poll(replica->engine)) != NULL) {
        uint32_t row = (uint32_t)r->id;
        struct live *l = &w->live[row];
        bool again = accept(w, l, r, now);
        dg_engine_release(replica->engine, r);
        if (again && admit_again(w, row))
            continue;
        dg_metrics_observe(
            w->metrics, DG_TIME_STAGE, DG_STAGE_DECODE, (double)(now - l->encoded_ns) / 1e9);
        if (replica->pace)
            dg_pace_answered(replica->pace, l->source_tokens);
        order_remove(w, row);
        row_free(w, row);
    }
}

/* A device that failed computes nothing any more, and what it gave last is worth nothing: everybody
 * is told that this server stops, and it stops. */
static void give_up(struct worker *w, const struct dg_error *sick)
{
    if (!w->broken)
        dg_log(DG_LOG_ERROR, "device failed worker=%u reason=\"%s\"", w->number, sick->message);
    w->broken = true;
    dg_queue_stop(w->queue);
    kill(getpid(), SIGTERM);
}

static void take_cores(const struct worker *w, struct dg_replica *replica)
{
    int n = dg_core_share_threads(w->share);
    if (n == 0 || n == replica->threads || !replica->be->ops->use_threads)
        return;
    replica->be->ops->use_threads(replica->be, n);
    replica->threads = n;
}

static void step(struct worker *w, struct dg_served *model)
{
    struct dg_error sick = {0};
    struct dg_replica *replica = replica_of(w, model);
    struct dg_capacity capacity;
    if (!replica->pace) /* without memory every row there is advances, as in the other policies */
        replica->pace = calloc(1, sizeof *replica->pace);
    admit(w, model, dg_clock_ns());
    atomic_fetch_add_explicit(&replica->steps, 1, memory_order_relaxed);
    dg_engine_capacity(replica->engine, &capacity);
    take_cores(w, replica);
    uint64_t from = dg_clock_ns();
    uint32_t rows = dg_engine_step(replica->engine);
    uint64_t now = dg_clock_ns();
    if (replica->be->ops->status(replica->be, &sick) != DG_OK) {
        give_up(w, &sick);
        return;
    }
    if (rows == 0) /* the engine would have nobody */
        return;
    if (replica->pace)
        dg_pace_step(replica->pace, rows, w->newcomers, now - from, now);
    w->newcomers = 0;
    dg_metrics_add(w->metrics, DG_COUNT_DECODE_STEPS, 0, 1);
    dg_metrics_observe(w->metrics, DG_SIZE_BATCH_ROWS, 0, rows);
    dg_metrics_observe(w->metrics, DG_SIZE_BATCH_SENTENCES, 0, capacity.sentences_live);
    mark_encoded(w, model, now);
    collect(w, replica, now);
    publish(replica);
}

/* False: the queue is stopped and nothing is live. */
static bool await(struct worker *w)
{
    if (w->n_live > 0)
        return true;
    if (w->busy)
        dg_core_share_end(w->share);
    w->busy = dg_queue_wait(w->queue);
    if (w->busy)
        dg_core_share_begin(w->share);
    return w->busy;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    while (await(w)) {
        drop_over(w, dg_clock_ns());
        hold_models(w);
        for (size_t i = 0; i < w->n_models; i++) {
            step(w, w->models[i]);
            dg_served_release(w->models[i]);
        }
    }
    return NULL;
}

int dg_workers_open(
    const struct dg_workers_options *o, struct dg_workers **out, struct dg_error *err)
{
    struct dg_workers *all = calloc(1, sizeof *all + o->n * sizeof *all->workers);
    if (!all)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u workers", o->n);
    for (uint32_t i = 0; i < o->n; i++) {
        struct worker *w = calloc(1, sizeof *w);
        int number = 0;
        if (w) {
            w->number = i;
            w->queue = o->queue;
            w->metrics = o->metrics;
            w->share = o->share;
            w->policy = o->policy;
            w->first_free = UINT32_MAX;
            number = pthread_create(&w->thread, NULL, work, w);
        }
        if (!w || number != 0) {
            free(w);
            dg_queue_stop(o->queue);
            dg_workers_close(all);
            return dg_error_set(
                err, DG_EIO, "cannot start worker %u: %s", i, w ? strerror(number) : "no memory");
        }
        all->workers[all->n++] = w;
    }
    *out = all;
    return DG_OK;
}

uint32_t dg_workers_close(struct dg_workers *all)
{
    uint32_t broken = 0;
    for (uint32_t i = 0; all && i < all->n; i++) {
        pthread_join(all->workers[i]->thread, NULL);
        broken += all->workers[i]->broken;
        free(all->workers[i]);
    }
    free(all);
    return broken;
}
