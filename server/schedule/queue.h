/* Sentences that wait for a worker, bounded in work: one lane per model. All sentences of a request
 * enter together or none; equal sentences that wait become one piece of work. Which leave is the
 * batcher's decision; this holds the lock. Any thread.
 *
 * The bound. Interactive requests are refused for waiting interactive work, bulk ones for all
 * waiting work: a bulk job never keeps an interactive request out. A request that alone is larger
 * than the bound is bulk, whatever it says, and is taken when no bulk waits. Tokens count as dear
 * as their search makes them (beam 8 is twice beam 4), duplicates an eighth, for their memory.
 * Seconds are measured: what left the queue in the last ones, while something waited; until that
 * says anything, what the engines' own steps say. An interactive request that has waited for longer
 * than the bound when its turn comes, and of which nothing was begun, is refused then (DG_EAGAIN).
 * Where several clients come, none of them may have more waiting than is left free, and a
 * client's recent use counts before its new work (usage.h). */
#ifndef DG_SERVER_SCHEDULE_QUEUE_H
#define DG_SERVER_SCHEDULE_QUEUE_H

#include "server/schedule/batcher.h"
#include "server/metrics.h"
#include "server/schedule/task.h"

struct dg_queue;

struct dg_queue_options {
    /* source tokens that may wait; 0: max_seconds counts */
    size_t max_tokens;
    /* maximum backlog, at the workers' recent speed; requests beyond it are refused */
    double max_seconds;
    struct dg_batch_policy policy;
    /* may be NULL */
    struct dg_metrics *metrics;
};

int dg_queue_open(
    const struct dg_queue_options *options, struct dg_queue **out, struct dg_error *err);
void dg_queue_close(struct dg_queue *q); /* NULL is fine; must be empty */
/* Another bound from now on; what waits stays. */
void dg_queue_set_bound(struct dg_queue *q, size_t max_tokens, double max_seconds);

/* Take all entries of t in; its done may be called before this returns. DG_EAGAIN: no room;
 * DG_ECANCELED: stopped. After a failure nothing was taken and done will not be called. */
int dg_queue_submit(struct dg_queue *q, struct dg_task *t, struct dg_error *err);

/* Would an interactive request of about so many tokens be refused now? For a first look, before its
 * text is planned: only what is over the bound at half of that is. DG_EAGAIN, DG_ECANCELED. */
int dg_queue_check(struct dg_queue *q, uint64_t client, size_t tokens, struct dg_error *err);

/* End t early: its waiting sentences are dropped now, its live ones by the workers at their next
 * step. */
void dg_queue_cancel(struct dg_queue *q, struct dg_task *t, enum dg_outcome outcome);

/* Take nothing more in, drop waiting sentences as DG_TASK_STOPPED, and make workers drop live
 * ones. */
void dg_queue_stop(struct dg_queue *q);
bool dg_queue_stopped(const struct dg_queue *q);

struct dg_queue_load {
    /* with duplicates */
    size_t entries;
    /* without */
    size_t tokens;
    /* estimated time to drain the queue */
    double seconds;
    /* tokens that may wait, as far as is known now */
    size_t most;
};
void dg_queue_load(struct dg_queue *q, struct dg_queue_load *out);

/* Sentences that wait for one model, with duplicates. */
struct dg_queue_depth {
    /* referenced */
    struct dg_served *model;
    size_t entries[DG_CLASSES];
};
/* Every model that something waits for, up to cap. */
size_t dg_queue_depths(struct dg_queue *q, struct dg_queue_depth *out, size_t cap);

/* For workers. Sleep until something waits; false: stopped. */
bool dg_queue_wait(struct dg_queue *q);
/* The models that something waits for, each referenced; up to cap. */
size_t dg_queue_models(struct dg_queue *q, struct dg_served **out, size_t cap);

/* A worker about to step a model. */
struct dg_turn {
    uint64_t now_ns;
    /* [n_live], ascending by rank */
    struct dg_entry *const *live;
    size_t n_live;
    struct dg_room room;
};
/* Take what the batcher admits, up to cap (256 at most): firsts of duplicates, linked by next. */
size_t dg_queue_pick(struct dg_queue *q, struct dg_served *model, const struct dg_turn *turn,
    struct dg_entry **out, size_t cap);
/* Put back, with their duplicates, what the engine had no room for after all; they keep their
 * places. */
void dg_queue_return(struct dg_queue *q, struct dg_entry *const *entries, size_t n);

#endif
