/* DESIGN. A worker owns the entries of its live sentences. They are found by their id in
 * the engine and by rank, which is the order the batcher needs (live_set.h). A live sentence
 * answers all its duplicates, which are linked to its entry by next; it leaves with the last one.
 * A model is referenced as long as one of its sentences is live (through its task), so engines
 * never vanish under a step.
 *
 * Example: one turn, of a model whose engine has room for 16 rows. Live: X (id 0, beam 4, with a
 * duplicate x of another request) and Y (id 1, beam 4).
 *   drop_over   X's client hung up: x takes over id 0 and X's rank, the engine is not involved.
 *   admit       the queue hands out Z (beam 4), the engine takes it as id 2. The knee is 8 rows and
 *               the ranking Z x Y: Y pauses, its hypotheses stay where they are.
 *   step        Z is encoded, Z and x advance by a position.
 *   collect     x finished: its task has the answer, id 0 is free. Y goes on in the next turn. */
#include "server/schedule/worker_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_name.h"
#include "server/schedule/pace.h"
#include "server/schedule/queue_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct dg_workers {
    uint32_t n;
    struct dg_worker *workers[];
};

/* Lists the models that have something to do, waiting or live. They are referenced: the last task
 * of a model that is no longer served may end within the turn. */
static void ref_models(struct dg_worker *w)
{
    /* First the models that entries wait for, referenced by the queue, then those of live
     * sentences. */
    w->n_models = dg_queue_models(w->queue, w->models, DG_WORKER_MAX_MODELS);
    for (uint32_t i = 0; i < w->live.n; i++) {
        struct dg_served *m = w->live.ranking[i]->task->model;
        size_t k = 0;
        while (k < w->n_models && w->models[k] != m)
            k++;
        if (k == w->n_models && k < DG_WORKER_MAX_MODELS) {
            dg_served_ref(m);
            w->models[w->n_models++] = m;
        }
    }
}

/* The step that encodes a sentence also computes its first position: that counts as encoding. */
static void mark_encoded(struct dg_worker *w, const struct dg_served *m, uint64_t now)
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

/* Settles e after its task has taken the answer. */
static void settle(struct dg_worker *w, struct dg_entry *e)
{
    if (dg_task_over(e->task)) /* such as without memory for the answer: drop its waiting entries */
        dg_queue_cancel(w->queue, e->task, DG_TASK_FAILED);
    dg_task_settle(e->task);
}

/* Gives one answer to all duplicates of a live sentence. Those that need a second round stay:
 * returns the first of them, or NULL if the sentence has left. */
static struct dg_entry *accept(
    struct dg_worker *w, uint32_t id, const struct dg_result *r, uint64_t now)
{
    const struct dg_entry_times times = {
        w->live.by_id[id]->admitted_ns, w->live.by_id[id]->encoded_ns, now};
    struct dg_entry *stays = NULL; /* the last entry kept so far */
    for (struct dg_entry *e = w->live.by_id[id], *next; e; e = next) {
        next = e->next; /* settling may free e with its task */
        if (dg_task_accept(e, r, &times)) {
            dg_live_set_unlink(&w->live, stays, e);
            settle(w, e);
        } else {
            stays = e;
        }
    }
    return w->live.by_id[id];
}

static void collect(struct dg_worker *w, struct dg_replica *replica, uint64_t now)
{
    const struct dg_result *r;
    while ((r = dg_engine_poll(replica->engine)) != NULL) {
        /* Read before accept(), which may free the entry with its task. */
        const uint32_t id = (uint32_t)r->id, cost = dg_queue_cost(w->live.by_id[id], false);
        const uint64_t encoded_ns = w->live.by_id[id]->encoded_ns;
        struct dg_entry *again = accept(w, id, r, now);
        /* Its room is free already, so a second round fits where the first one did. */
        dg_engine_release(replica->engine, r);
        if (again && dg_worker_admit_again(w, again))
            continue;
        dg_metrics_observe(
            w->metrics, DG_TIME_STAGE, DG_STAGE_DECODE, (double)(now - encoded_ns) / 1e9);
        if (replica->pace)
            dg_pace_answered(replica->pace, cost);
    }
}

/* The device has failed: it computes nothing any more, and its last results are worthless. Stops
 * the queue and the server. */
static void give_up(struct dg_worker *w, const struct dg_error *sick)
{
    if (!w->broken)
        dg_log(DG_LOG_ERROR, "device failed worker=%u reason=\"%s\"", w->number, sick->message);
    w->broken = true;
    /* Stopping the queue makes every worker drop its live sentences, this one too; the signal lets
     * main() end the program in the usual order. */
    dg_queue_stop(w->queue);
    kill(getpid(), SIGTERM);
}

static void step(struct dg_worker *w, struct dg_served *model)
{
    struct dg_error sick = {0};
    struct dg_replica *replica = dg_worker_replica(w, model);
    struct dg_capacity capacity;
    if (!replica->pace) /* without memory its speed stays unknown */
        replica->pace = calloc(1, sizeof *replica->pace);
    dg_worker_admit(w, model, dg_clock_ns());
    atomic_fetch_add_explicit(&replica->steps, 1, memory_order_relaxed);
    dg_engine_capacity(replica->engine, &capacity);
    dg_worker_take_cores(w, replica);
    /* Only the step is timed: the time of admission says nothing about the cost of a row. */
    uint64_t from = dg_clock_ns();
    uint32_t rows = dg_engine_step(replica->engine);
    uint64_t now = dg_clock_ns();
    atomic_fetch_add(&w->moves, 1);
    /* Before any answer is read: a failed device's results are worthless. */
    if (replica->be->ops->status(replica->be, &sick) != DG_OK) {
        give_up(w, &sick);
        return;
    }
    if (rows == 0) /* nothing is live: the engine rejected all picked sentences */
        return;
    if (replica->pace)
        dg_pace_step(replica->pace, rows, replica->newcomer_tokens, now - from, now);
    replica->newcomer_tokens = 0;
    dg_metrics_add(w->metrics, DG_COUNT_DECODE_STEPS, 0, 1);
    dg_metrics_stepped(
        w->metrics, dg_served_label(model, w->metrics), w->number, (double)(now - from) / 1e9);
    dg_metrics_observe(w->metrics, DG_SIZE_BATCH_ROWS, 0, rows);
    dg_metrics_observe(w->metrics, DG_SIZE_BATCH_SENTENCES, 0, capacity.sentences_live);
    mark_encoded(w, model, now);
    collect(w, replica, now);
    dg_worker_publish(w, model);
}

/* False: the queue is stopped and nothing is live. */
static bool await(struct dg_worker *w)
{
    if (w->live.n > 0)
        return true;
    if (atomic_exchange(&w->busy, false))
        dg_core_share_end(w->share);
    if (!dg_queue_wait(w->queue))
        return false;
    dg_core_share_begin(w->share);
    atomic_fetch_add(&w->moves, 1); /* before busy: a thread that reads busy also reads this */
    atomic_store(&w->busy, true);
    return true;
}

static void *work(void *arg)
{
    struct dg_worker *w = arg;
    dg_thread_name("worker-%u", w->number);
    /* On Linux this is for this thread alone: threads that read, plan and write go first. */
    if (w->nice > 0)
        setpriority(PRIO_PROCESS, (id_t)gettid(), w->nice);
    while (await(w)) {
        /* First, so that no row is computed for those whose request has ended. */
        dg_worker_drop_over(w);
        /* One step of each model in turn: none waits for another's sentences to finish. */
        ref_models(w);
        for (size_t i = 0; i < w->n_models; i++) {
            step(w, w->models[i]);
            dg_served_unref(w->models[i]);
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
        struct dg_worker *w = calloc(1, sizeof *w);
        int number = 0;
        if (w) {
            w->number = i;
            w->queue = o->queue;
            w->metrics = o->metrics;
            w->share = o->share;
            w->nice = o->nice;
            dg_live_set_init(&w->live);
            number = pthread_create(&w->thread, NULL, work, w);
        }
        if (!w || number != 0) {
            free(w);
            /* Workers that are running already would wait for sentences forever. */
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

uint64_t dg_workers_still_ns(struct dg_workers *all, uint64_t now_ns, uint32_t *number)
{
    uint64_t longest = 0;
    *number = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        struct dg_worker *w = all->workers[i];
        const bool busy = atomic_load(&w->busy);
        const uint64_t moves = atomic_load(&w->moves);
        if (!busy || !w->seen.busy || moves != w->seen.moves)
            w->seen.since_ns = now_ns;
        w->seen.busy = busy;
        w->seen.moves = moves;
        if (now_ns - w->seen.since_ns > longest) {
            longest = now_ns - w->seen.since_ns;
            *number = i;
        }
    }
    return longest;
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
