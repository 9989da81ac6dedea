/* DESIGN. Live sentences stand in a table; the engine's id is the row. A model is held as long as
 * one of its sentences is live (through its task), so engines never vanish under a step. */
#include "server/worker.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LIVE 4096
#define MAX_MODELS 256
#define PICK 256 /* entries asked for at once */

struct live {
    struct dg_entry *entry;  /* NULL: free row */
    struct dg_served *model; /* its task holds it */
    struct dg_entry_times times;
    uint32_t next_free;
};

struct worker {
    pthread_t thread;
    uint32_t number;
    struct dg_queue *queue;
    struct dg_metrics *metrics;
    struct live live[MAX_LIVE];
    uint32_t first_free, n_live, top;     /* rows at and above top were never used */
    struct dg_served *models[MAX_MODELS]; /* those with live sentences, held for one turn */
    size_t n_models;
};

struct dg_workers {
    uint32_t n;
    struct worker *workers[];
};

static struct dg_engine *engine_of(const struct worker *w, const struct dg_served *model)
{
    return model->replicas[w->number].engine;
}

static struct live *live_new(struct worker *w, uint64_t *id)
{
    uint32_t row = w->first_free;
    if (row != UINT32_MAX)
        w->first_free = w->live[row].next_free;
    else if (w->top < MAX_LIVE)
        row = w->top++;
    else
        return NULL;
    w->n_live++;
    *id = row;
    return &w->live[row];
}

static void live_free(struct worker *w, struct live *l)
{
    l->entry = NULL;
    l->next_free = w->first_free;
    w->first_free = (uint32_t)(l - w->live);
    w->n_live--;
}

/* What the metrics say of an engine between steps. */
static void publish(struct dg_replica *replica)
{
    struct dg_capacity c;
    dg_engine_capacity(replica->engine, &c);
    atomic_store_explicit(
        &replica->blocks_used, c.blocks_total - c.blocks_free, memory_order_relaxed);
    atomic_store_explicit(&replica->blocks_total, c.blocks_total, memory_order_relaxed);
    atomic_store_explicit(&replica->sentences_live, c.sentences_live, memory_order_relaxed);
}

/* Drop live sentences whose task has ended or whose deadline has passed: their rows are free for
 * the next step. */
static void drop_over(struct worker *w, uint64_t now)
{
    bool stop = dg_queue_stopped(w->queue);
    for (uint32_t i = 0; i < w->top; i++) {
        struct live *l = &w->live[i];
        if (!l->entry)
            continue;
        struct dg_task *t = l->entry->task;
        bool late = t->deadline_ns != 0 && t->deadline_ns <= now;
        if (!stop && !late && !dg_task_over(t))
            continue;
        dg_engine_cancel(engine_of(w, l->model), i);
        publish(&l->model->replicas[w->number]);
        live_free(w, l);
        dg_task_end(t, stop ? DG_TASK_STOPPED : DG_TASK_LATE, NULL);
        dg_task_settle(t, 1);
    }
}

/* DG_OK, DG_EAGAIN (no room now), or another failure that ended the entry. */
static int admit_one(struct worker *w, struct dg_entry *e, uint64_t now)
{
    struct dg_sentence s;
    struct dg_error err = {0};
    uint64_t id;
    struct live *l = live_new(w, &id);
    if (!l)
        return DG_EAGAIN;
    dg_job_sentence(e->job, e->index, &s);
    int rc = dg_engine_admit(engine_of(w, e->task->model), id, &s, &err);
    if (rc == DG_OK) {
        l->entry = e;
        l->model = e->task->model;
        l->times = (struct dg_entry_times){.admitted_ns = now};
        dg_metrics_observe(
            w->metrics, DG_TIME_QUEUE, 0, (double)(now - e->task->submitted_ns) / 1e9);
        return rc;
    }
    live_free(w, l);
    if (rc == DG_EAGAIN)
        return rc;
    dg_task_end(e->task, DG_TASK_FAILED, &err);
    dg_task_settle(e->task, 1);
    return rc;
}

static void admit(struct worker *w, struct dg_served *model, uint64_t now)
{
    struct dg_entry *picked[PICK];
    struct dg_capacity capacity;
    dg_engine_capacity(engine_of(w, model), &capacity);
    struct dg_room room = {capacity.rows_free, capacity.sentences_free, capacity.rows_live};
    size_t n = dg_queue_pick(w->queue, model, &room, now, picked, PICK);
    for (size_t i = 0; i < n; i++) {
        if (admit_one(w, picked[i], now) == DG_EAGAIN) {
            dg_queue_return(w->queue, picked + i, n - i);
            break;
        }
    }
}

static void admit_all(struct worker *w)
{
    struct dg_served *models[MAX_MODELS];
    size_t n = dg_queue_models(w->queue, models, MAX_MODELS);
    uint64_t now = dg_clock_ns();
    for (size_t i = 0; i < n; i++) {
        admit(w, models[i], now);
        dg_served_release(models[i]);
    }
}

/* Which models have something to do. Held: the last task of a model that is served no more may end
 * within the turn. */
static void hold_models(struct worker *w)
{
    w->n_models = 0;
    for (uint32_t i = 0; i < w->top; i++) {
        struct dg_served *m = w->live[i].entry ? w->live[i].model : NULL;
        size_t k = 0;
        while (m && k < w->n_models && w->models[k] != m)
            k++;
        if (m && k == w->n_models && k < MAX_MODELS) {
            dg_served_hold(m);
            w->models[w->n_models++] = m;
        }
    }
}

/* The step in which a sentence is encoded also takes its first position: that is counted as
 * encoding. */
static void mark_encoded(struct worker *w, const struct dg_served *m, uint64_t now)
{
    for (uint32_t i = 0; i < w->top; i++) {
        struct live *l = &w->live[i];
        if (!l->entry || l->model != m || l->times.encoded_ns != 0)
            continue;
        l->times.encoded_ns = now;
        dg_metrics_observe(
            w->metrics, DG_TIME_STAGE, DG_STAGE_ENCODE, (double)(now - l->times.admitted_ns) / 1e9);
    }
}

/* A sentence's second round, on the row and in the room that its first has just left. */
static int admit_again(struct dg_engine *e, uint64_t id, const struct dg_entry *entry)
{
    struct dg_sentence s;
    struct dg_error err = {0};
    dg_job_sentence(entry->job, entry->index, &s);
    int rc = dg_engine_admit(e, id, &s, &err);
    if (rc != DG_OK)
        dg_task_end(entry->task, DG_TASK_FAILED, &err);
    return rc;
}

static void collect(struct worker *w, struct dg_engine *e, uint64_t now)
{
    const struct dg_result *r;
    while ((r = dg_engine_poll(e)) != NULL) {
        struct live *l = &w->live[r->id];
        const struct dg_entry *entry = l->entry;
        struct dg_entry_times times = l->times;
        times.finished_ns = now;
        uint64_t id = r->id;
        bool over = dg_task_accept(entry, r, &times);
        dg_engine_release(e, r);
        if (!over && admit_again(e, id, entry) == DG_OK)
            continue;
        dg_metrics_observe(
            w->metrics, DG_TIME_STAGE, DG_STAGE_DECODE, (double)(now - times.encoded_ns) / 1e9);
        live_free(w, l);
        dg_task_settle(entry->task, 1);
    }
}

static void step(struct worker *w, struct dg_served *model)
{
    struct dg_replica *replica = &model->replicas[w->number];
    struct dg_capacity capacity;
    dg_engine_capacity(replica->engine, &capacity);
    uint32_t rows = dg_engine_step(replica->engine);
    uint64_t now = dg_clock_ns();
    dg_metrics_add(w->metrics, DG_COUNT_DECODE_STEPS, 0, rows > 0);
    dg_metrics_observe(w->metrics, DG_SIZE_BATCH_ROWS, 0, rows);
    dg_metrics_observe(w->metrics, DG_SIZE_BATCH_SENTENCES, 0, capacity.sentences_live);
    mark_encoded(w, model, now);
    collect(w, replica->engine, now);
    publish(replica);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    while (w->n_live > 0 || dg_queue_wait(w->queue)) {
        drop_over(w, dg_clock_ns());
        admit_all(w);
        hold_models(w);
        for (size_t i = 0; i < w->n_models; i++) {
            step(w, w->models[i]);
            dg_served_release(w->models[i]);
        }
    }
    return NULL;
}

int dg_workers_open(struct dg_queue *q, struct dg_metrics *metrics, uint32_t n,
    struct dg_workers **out, struct dg_error *err)
{
    struct dg_workers *all = calloc(1, sizeof *all + n * sizeof *all->workers);
    if (!all)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u workers", n);
    for (uint32_t i = 0; i < n; i++) {
        struct worker *w = calloc(1, sizeof *w);
        int number = 0;
        if (w) {
            w->number = i;
            w->queue = q;
            w->metrics = metrics;
            w->first_free = UINT32_MAX;
            number = pthread_create(&w->thread, NULL, work, w);
        }
        if (!w || number != 0) {
            free(w);
            dg_queue_stop(q);
            dg_workers_close(all);
            return dg_error_set(
                err, DG_EIO, "cannot start worker %u: %s", i, w ? strerror(number) : "no memory");
        }
        all->workers[all->n++] = w;
    }
    *out = all;
    return DG_OK;
}

void dg_workers_close(struct dg_workers *all)
{
    if (!all)
        return;
    for (uint32_t i = 0; i < all->n; i++) {
        pthread_join(all->workers[i]->thread, NULL);
        free(all->workers[i]);
    }
    free(all);
}
