/* DESIGN. A worker owns the entries of its live sentences. They are found by their id in
 * the engine and by rank, which is the order the batcher wants (live_set.h). A live sentence
 * answers all its duplicates: they hang on its entry by next, and it leaves with the last of them.
 * A model is referenced as long as one of its sentences is live (through its task), so engines
 * never vanish under a step.
 *
 * Example: one turn, of a model whose engine has room for 16 rows. Live: X (id 0, beam 4, with a
 * duplicate x of another request) and Y (id 1, beam 4).
 *   drop_over   X's client hung up: x takes over id 0 and X's rank, the engine notices nothing.
 *   admit       the queue hands out Z (beam 4), the engine takes it as id 2. The knee is 8 rows and
 *               the ranking Z x Y: Y pauses, its hypotheses stay where they are.
 *   step        Z is encoded, Z and x advance by a position.
 *   collect     x finished: its task has the answer, id 0 is free. Y goes on in the next turn. */
#include "server/schedule/worker.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/schedule/live_set.h"
#include "server/schedule/pace.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_MODELS 256
#define PICK 256 /* entries asked for at once */

struct worker {
    pthread_t thread;
    uint32_t number;
    struct dg_queue *queue;
    struct dg_metrics *metrics;
    struct dg_core_share *share;
    struct dg_batch_policy policy;
    struct dg_live_set live;
    /* those of one model, ascending by rank */
    struct dg_entry *of_model[DG_LIVE_MAX];
    /* source tokens that the step to come encodes */
    uint32_t newcomer_tokens;
    /* [n_models] those with something to do, referenced for one turn */
    struct dg_served *models[MAX_MODELS];
    size_t n_models;
    /* counted in share */
    bool busy;
    /* its device failed */
    bool broken;
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

/* What the metrics and the queue say of an engine between steps. */
static void publish(struct dg_replica *replica)
{
    struct dg_capacity c;
    dg_engine_capacity(replica->engine, &c);
    double rate = replica->pace ? dg_pace_rate(replica->pace) : 0;
    /* A whole number, at least 1 once anything is known: 0 says that nothing is. */
    uint32_t whole = rate < 1 ? rate > 0 : rate < 4e9 ? (uint32_t)rate : UINT32_MAX;
    atomic_store_explicit(
        &replica->blocks_used, c.blocks_total - c.blocks_free, memory_order_relaxed);
    atomic_store_explicit(&replica->blocks_total, c.blocks_total, memory_order_relaxed);
    atomic_store_explicit(&replica->sentences_live, c.sentences_live, memory_order_relaxed);
    atomic_store_explicit(&replica->tokens_per_s, whole, memory_order_relaxed);
}

/* ---- leaving early ---- */

static bool is_over(const struct dg_entry *e, bool stop)
{
    return stop || dg_task_over(e->task);
}

/* End e's task, unless it has ended already, and forget both. */
static void drop(struct dg_entry *e)
{
    struct dg_task *t = e->task;
    dg_task_end(t, DG_TASK_STOPPED, NULL); /* the first outcome stays */
    dg_task_settle(t, 1);
}

/* The live sentence of that id loses the duplicates whose task has ended; true: none is left. */
static bool drop_duplicates(struct worker *w, uint32_t id, bool stop)
{
    /* As long as the first of them is over, another becomes the first. */
    for (struct dg_entry *e; (e = w->live.by_id[id]) != NULL && is_over(e, stop);) {
        dg_live_set_unlink_first(&w->live, e);
        drop(e);
    }
    if (!w->live.by_id[id])
        return true;
    /* The first stays; of those that hang on it some may be over. */
    for (struct dg_entry **link = &w->live.by_id[id]->next, *e; (e = *link) != NULL;) {
        if (!is_over(e, stop)) {
            link = &e->next;
            continue;
        }
        *link = e->next;
        drop(e);
    }
    return false;
}

/* Rows of sentences whose requests are all over are free for the next step. */
static void drop_over(struct worker *w)
{
    bool stop = dg_queue_stopped(w->queue);
    for (uint32_t i = 0; i < w->live.n;) {
        const uint32_t id = w->live.ranking[i]->id;
        struct dg_served *model = w->live.ranking[i]->task->model;
        dg_served_hold(model); /* the last entry may take its task, and that the model, along */
        if (drop_duplicates(w, id, stop)) { /* what ranked after it has moved up to i */
            dg_engine_cancel(engine_of(w, model), id);
            publish(replica_of(w, model));
        } else {
            i++;
        }
        dg_served_release(model);
    }
}

/* The engine rejected the sentence: fail every task that shares it, with its waiting entries. */
static void fail(struct worker *w, struct dg_entry *e, const struct dg_error *err)
{
    for (struct dg_entry *next; e; e = next) {
        next = e->next; /* settling may free e with its task */
        dg_task_end(e->task, DG_TASK_FAILED, err);
        dg_queue_cancel(w->queue, e->task, DG_TASK_FAILED);
        dg_task_settle(e->task, 1);
    }
}

/* ---- joining ---- */

static void joined(struct worker *w, struct dg_entry *e, uint64_t now)
{
    e->paused = false;
    e->admitted_ns = now;
    e->encoded_ns = 0;
    dg_live_set_put(&w->live, e);
    w->newcomer_tokens += e->source_tokens;
    /* Each request has waited its own time, also for a sentence that it shares. */
    for (; e; e = e->next)
        dg_metrics_observe(
            w->metrics, DG_TIME_QUEUE, 0, (double)(now - e->task->submitted_ns) / 1e9);
}

/* False: no room now. */
static bool admit_one(struct worker *w, struct dg_entry *e, uint64_t now)
{
    struct dg_sentence s;
    struct dg_error err = {0};
    uint32_t id; /* taken when the engine has taken the sentence */
    if (!dg_live_set_next_id(&w->live, &id))
        return false;
    dg_job_sentence(e->job, e->index, &s);
    int rc = dg_engine_admit(engine_of(w, e->task->model), id, &s, &err);
    if (rc == DG_OK) {
        joined(w, e, now);
        return true;
    }
    /* Anything but "no room" is the sentence's own fault: it is done with, and the next one may
     * still be admitted. */
    if (rc != DG_EAGAIN)
        fail(w, e, &err);
    return rc != DG_EAGAIN;
}

/* Pause and resume live sentences for the step to come, as the batcher says. */
static void pause_others(struct worker *w, struct dg_served *model, const struct dg_room *room)
{
    const size_t n =
        dg_live_set_of_model(&w->live, model, w->of_model); /* once more: some have just joined */
    dg_batcher_run(&w->policy, room->knee, room->step, w->of_model, n);
    for (size_t i = 0; i < n; i++) {
        struct dg_entry *e = w->of_model[i];
        if (e->paused == !e->runs)
            continue;
        e->paused = !e->runs;
        dg_engine_pause(engine_of(w, model), e->id, e->paused);
    }
}

/* Which sentences join, and which of those that are live then advance in the step to come. */
static void admit(struct worker *w, struct dg_served *model, uint64_t now)
{
    struct dg_entry *picked[PICK];
    struct dg_replica *replica = replica_of(w, model);
    struct dg_capacity c;
    dg_engine_capacity(replica->engine, &c);
    /* Other policies let every live row advance: they have no knee to learn. */
    bool paced = w->policy.batching == DG_BATCHING_CONTINUOUS;
    struct dg_turn turn = {.now_ns = now,
        .pace = paced ? replica->pace : NULL,
        .live = w->of_model,
        .n_live = dg_live_set_of_model(&w->live, model, w->of_model),
        .most = c.rows_free + c.rows_live,
        .room = {.rows = c.rows_free,
            .sentences = c.sentences_free,
            .step = atomic_load_explicit(&replica->steps, memory_order_relaxed)}};
    size_t n = dg_queue_pick(w->queue, model, &turn, picked, PICK);
    now = n > 0 ? dg_clock_ns() : now; /* picked ones may have come since: the queue has a lock */
    for (size_t i = 0; i < n; i++) {
        if (!admit_one(w, picked[i], now)) {
            /* The engine counts cache blocks, which the batcher does not know: this one and those
             * after it go back to their places in the queue. */
            picked[i]->refused = true;
            dg_queue_return(w->queue, picked + i, n - i);
            break;
        }
    }
    pause_others(w, model, &turn.room);
}

/* Which models have something to do, waiting or live. Referenced: the last task of a model that is
 * no longer served may end within the turn. */
static void hold_models(struct worker *w)
{
    /* Those that an entry waits for, referenced by the queue, then those of live sentences. */
    w->n_models = dg_queue_models(w->queue, w->models, MAX_MODELS);
    for (uint32_t i = 0; i < w->live.n; i++) {
        struct dg_served *m = w->live.ranking[i]->task->model;
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
    const size_t n = dg_live_set_of_model(&w->live, m, w->of_model);
    for (size_t i = 0; i < n; i++) {
        struct dg_entry *e = w->of_model[i];
        if (e->encoded_ns != 0)
            continue;
        e->encoded_ns = now;
        dg_metrics_observe(
            w->metrics, DG_TIME_STAGE, DG_STAGE_ENCODE, (double)(now - e->admitted_ns) / 1e9);
    }
}

/* A sentence's second round, under the id and in the room that its first has just left. */
static bool admit_again(struct worker *w, struct dg_entry *e)
{
    struct dg_sentence s;
    struct dg_error err = {0};
    dg_job_sentence(e->job, e->index, &s);
    if (dg_engine_admit(engine_of(w, e->task->model), e->id, &s, &err) != DG_OK) {
        dg_live_set_leave(&w->live, e);
        fail(w, e, &err);
        return false;
    }
    e->paused = false;
    w->newcomer_tokens += e->source_tokens;
    return true;
}

/* e's task has its answer. */
static void settle(struct worker *w, struct dg_entry *e)
{
    if (dg_task_over(e->task)) /* the answer could not be kept: what else of the task waits, ends */
        dg_queue_cancel(w->queue, e->task, DG_TASK_FAILED);
    dg_task_settle(e->task, 1);
}

/* One answer for all duplicates of a live sentence. Those that want a second round stay: the first
 * of them, or NULL when the sentence has left. */
static struct dg_entry *accept(
    struct worker *w, uint32_t id, const struct dg_result *r, uint64_t now)
{
    const struct dg_entry_times times = {
        w->live.by_id[id]->admitted_ns, w->live.by_id[id]->encoded_ns, now};
    /* As in drop_duplicates: first the first ones, for as long as the first takes the answer, then
     * those that hang on the one that does not. */
    for (struct dg_entry *e; (e = w->live.by_id[id]) != NULL && dg_task_accept(e, r, &times);) {
        dg_live_set_unlink_first(&w->live, e);
        settle(w, e);
    }
    if (!w->live.by_id[id])
        return NULL;
    for (struct dg_entry **link = &w->live.by_id[id]->next, *e; (e = *link) != NULL;) {
        if (!dg_task_accept(e, r, &times)) {
            link = &e->next;
            continue;
        }
        *link = e->next;
        settle(w, e);
    }
    return w->live.by_id[id];
}

static void collect(struct worker *w, struct dg_replica *replica, uint64_t now)
{
    const struct dg_result *r;
    while ((r = dg_engine_poll(replica->engine)) != NULL) {
        /* Read before accept(), which may free the entry with its task. */
        const uint32_t id = (uint32_t)r->id, tokens = w->live.by_id[id]->source_tokens;
        const uint64_t encoded_ns = w->live.by_id[id]->encoded_ns;
        struct dg_entry *again = accept(w, id, r, now);
        /* Its room is free already, so a second round fits where the first one did. */
        dg_engine_release(replica->engine, r);
        if (again && admit_again(w, again))
            continue;
        dg_metrics_observe(
            w->metrics, DG_TIME_STAGE, DG_STAGE_DECODE, (double)(now - encoded_ns) / 1e9);
        if (replica->pace)
            dg_pace_answered(replica->pace, tokens);
    }
}

/* A device that failed computes nothing any more, and what it gave last is worth nothing: everybody
 * is told that this server stops, and it stops. */
static void give_up(struct worker *w, const struct dg_error *sick)
{
    if (!w->broken)
        dg_log(DG_LOG_ERROR, "device failed worker=%u reason=\"%s\"", w->number, sick->message);
    w->broken = true;
    /* Stopping the queue makes every worker drop its live sentences, this one too; the signal lets
     * main() end the program in the usual order. */
    dg_queue_stop(w->queue);
    kill(getpid(), SIGTERM);
}

static void take_cores(const struct worker *w, struct dg_replica *replica)
{
    /* Others begin and end meanwhile: the share is asked for before every step. */
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
    /* The step alone is timed: what admission costs does not tell how dear a row is. */
    uint64_t from = dg_clock_ns();
    uint32_t rows = dg_engine_step(replica->engine);
    uint64_t now = dg_clock_ns();
    /* Before any answer is read: what a failed device gave is worth nothing. */
    if (replica->be->ops->status(replica->be, &sick) != DG_OK) {
        give_up(w, &sick);
        return;
    }
    if (rows == 0) /* nothing is live: the engine rejected all that was picked */
        return;
    if (replica->pace)
        dg_pace_step(replica->pace, rows, w->newcomer_tokens, now - from, now);
    w->newcomer_tokens = 0;
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
    if (w->live.n > 0)
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
        drop_over(w);
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
            dg_live_set_init(&w->live);
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
