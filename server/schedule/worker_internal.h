/* Internals of a worker, shared by worker.c (its thread and its steps), admit.c (sentences that
 * join or pause), leave.c (sentences that end without an answer) and replica.c (its own engine of a
 * model). One thread, the worker's. */
#ifndef DG_SERVER_SCHEDULE_WORKER_INTERNAL_H
#define DG_SERVER_SCHEDULE_WORKER_INTERNAL_H

#include "server/schedule/live_set.h"
#include "server/schedule/worker.h"

#include <pthread.h>
#include <stdatomic.h>

#define DG_WORKER_MAX_MODELS 256

struct dg_worker {
    pthread_t thread;
    uint32_t number;
    int nice;
    struct dg_queue *queue;
    struct dg_metrics *metrics;
    struct dg_core_share *share;
    struct dg_live_set live;
    /* live sentences of one model, ascending by rank */
    struct dg_entry *of_model[DG_LIVE_MAX];
    /* [n_models] models that have something to do, referenced for one turn */
    struct dg_served *models[DG_WORKER_MAX_MODELS];
    size_t n_models;
    /* It has something to do, and is counted in share. */
    atomic_bool busy;
    /* grows when it becomes busy and with every step */
    _Atomic uint64_t moves;
    /* what dg_workers_still_ns saw last, and since when that stays as it is */
    struct {
        bool busy;
        uint64_t moves, since_ns;
    } seen;
    /* its device failed */
    bool broken;
};

/* The worker's own engine of a model, and what belongs to it. */
struct dg_replica *dg_worker_replica(const struct dg_worker *w, const struct dg_served *model);
struct dg_engine *dg_worker_engine(const struct dg_worker *w, const struct dg_served *model);
/* Publish an engine's state between steps, for the metrics and the queue. */
void dg_worker_publish(const struct dg_worker *w, const struct dg_served *model);
/* Let the engine use this worker's share of the cores. */
void dg_worker_take_cores(const struct dg_worker *w, struct dg_replica *replica);

/* Drop the live sentences whose requests are all over: their rows are free for the next step. */
void dg_worker_drop_over(struct dg_worker *w);
/* The engine rejected the sentence: fail every task that shares it, with its waiting entries. */
void dg_worker_fail(struct dg_worker *w, struct dg_entry *e, const struct dg_error *err);

/* Decide which sentences join, and which live ones then advance in the next step. */
void dg_worker_admit(struct dg_worker *w, struct dg_served *model, uint64_t now);
/* Admit a sentence's second round, under the id and in the room that its first has just left.
 * False: the engine rejected it, and it has failed. */
bool dg_worker_admit_again(struct dg_worker *w, struct dg_entry *e);

#endif
