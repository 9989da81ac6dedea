/* Sentences waiting for a worker, bounded in work: one lane per model. All sentences of a task
 * enter together or none; equal waiting sentences become one piece of work. The batcher decides
 * which sentences leave; the queue holds the lock. Any thread.
 *
 * The bound. Waiting interactive work limits interactive requests, all waiting work limits bulk
 * ones: a bulk job never keeps an interactive request out. A request that exceeds the bound by
 * itself is bulk, whatever class it asks for. One such request at a time, or one that has been
 * submitted again for a second without success, as an item of a batch is, waits beside the others
 * and takes none of their room, nor of its client's share. A token costs more in a wider search
 * (beam 8 costs twice beam 4); a duplicate costs an eighth, for its memory. Seconds follow from the
 * measured rate at which work left the queue lately while something waited; until there is one,
 * from the speed of the engines' own steps. An interactive request that has waited for longer than
 * the bound when its turn comes, and of which nothing was started, is refused then (DG_EAGAIN).
 * With several clients, none may have more waiting than is left free, and a client's recent use
 * delays its new work (usage.h). */
#ifndef DG_SERVER_SCHEDULE_QUEUE_H
#define DG_SERVER_SCHEDULE_QUEUE_H

#include "server/schedule/batcher.h"
#include "server/metrics.h"
#include "server/schedule/task.h"

struct dg_queue;

struct dg_queue_options {
    /* source tokens that may wait; 0: max_seconds is the bound */
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
/* Change the bound from now on, and the policy's patience_max_ns with it; waiting sentences stay,
 * and keep their ranks. */
void dg_queue_set_bound(
    struct dg_queue *q, size_t max_tokens, double max_seconds, uint64_t patience_max_ns);

/* Submit all entries of t; its done may be called before this returns. DG_EAGAIN: no room;
 * DG_ECANCELED: stopped; DG_ENOMEM. After a failure nothing is queued, done will not be called, and
 * t may be submitted again.
 */
int dg_queue_submit(struct dg_queue *q, struct dg_task *t, struct dg_error *err);

/* Check whether an interactive request of about this many tokens would be refused now. This is a
 * rough check, before the text is planned: it refuses only if half of the tokens already exceed the
 * bound. DG_EAGAIN, DG_ECANCELED. */
int dg_queue_check(struct dg_queue *q, uint64_t client, size_t tokens, struct dg_error *err);

/* End t early: its waiting sentences are dropped now, its live ones by the workers before their
 * next step. */
void dg_queue_cancel(struct dg_queue *q, struct dg_task *t, enum dg_outcome outcome);

/* Accept no more tasks, drop waiting sentences as DG_TASK_STOPPED, and make workers drop live ones.
 */
void dg_queue_stop(struct dg_queue *q);
bool dg_queue_stopped(const struct dg_queue *q);

struct dg_queue_load {
    /* with duplicates; all, and the interactive ones of them */
    size_t entries, interactive;
    /* source tokens, without duplicates */
    size_t tokens;
    /* estimated time to drain the queue, and its interactive work alone, which goes first */
    double seconds, interactive_seconds;
    /* tokens that may wait, as currently estimated */
    size_t most;
};
void dg_queue_load(struct dg_queue *q, struct dg_queue_load *out);

/* Sentences that wait for one model, with duplicates. */
struct dg_queue_depth {
    /* referenced */
    struct dg_served *model;
    size_t entries[DG_CLASSES];
};
/* The load, and the models that sentences wait for, up to cap, both at one moment; returns how many
 * models. */
size_t dg_queue_depths(
    struct dg_queue *q, struct dg_queue_load *load, struct dg_queue_depth *out, size_t cap);

/* For workers. Sleep until something waits; false: stopped. */
bool dg_queue_wait(struct dg_queue *q);
/* List the models that sentences wait for, each referenced, up to cap; returns how many. */
size_t dg_queue_models(struct dg_queue *q, struct dg_served **out, size_t cap);

/* The state of a worker that is about to step a model. */
struct dg_turn {
    uint64_t now_ns;
    /* [n_live], ascending by rank */
    struct dg_entry *const *live;
    size_t n_live;
    struct dg_room room;
};
/* Take the sentences that the batcher picks, up to cap; returns how many. Each is the first of its
 * duplicates, which are linked by next. */
size_t dg_queue_pick(struct dg_queue *q, struct dg_served *model, const struct dg_turn *turn,
    struct dg_entry **out, size_t cap);
/* Put back picked sentences that the engine had no room for after all, with their duplicates; they
 * keep their places in the order. */
void dg_queue_return(struct dg_queue *q, struct dg_entry *const *entries, size_t n);

#endif
