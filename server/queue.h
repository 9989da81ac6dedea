/* What waits for a worker, bounded in source pieces: one lane per model, in order of arrival. All
 * sentences of a request enter together or none. Which leave is the batcher's decision; this holds
 * the lock. Any thread. */
#ifndef DG_SERVER_QUEUE_H
#define DG_SERVER_QUEUE_H

#include "server/batcher.h"
#include "server/task.h"

struct dg_queue;

struct dg_queue_options {
    size_t max_tokens; /* a request larger than this is taken when nothing else waits */
    struct dg_batch_policy policy;
};

int dg_queue_open(
    const struct dg_queue_options *options, struct dg_queue **out, struct dg_error *err);
void dg_queue_close(struct dg_queue *q); /* NULL is fine; must be empty */

/* Take all entries of t in; its done may be called before this returns. DG_EAGAIN: no room;
 * DG_ECANCELED: stopped. After a failure nothing was taken and done will not be called. */
int dg_queue_submit(struct dg_queue *q, struct dg_task *t, struct dg_error *err);

/* End t early: what waits is dropped now, what is live by the workers at their next step. */
void dg_queue_cancel(struct dg_queue *q, struct dg_task *t, enum dg_outcome outcome);

/* Take nothing more in, drop what waits as DG_TASK_STOPPED, and make workers drop what is live. */
void dg_queue_stop(struct dg_queue *q);
bool dg_queue_stopped(const struct dg_queue *q);

struct dg_queue_load {
    size_t entries, tokens;
};
void dg_queue_load(struct dg_queue *q, struct dg_queue_load *out);

/* For workers. Sleep until something waits; false: stopped. */
bool dg_queue_wait(struct dg_queue *q);
/* The models that something waits for, each held; up to cap. */
size_t dg_queue_models(struct dg_queue *q, struct dg_served **out, size_t cap);
/* Take what the batcher admits, up to cap; drops what is past its deadline. now_ns is the time now.
 */
size_t dg_queue_pick(struct dg_queue *q, struct dg_served *model, const struct dg_room *room,
    uint64_t now_ns, struct dg_entry **out, size_t cap);
/* Put back what the engine had no room for after all, at the front. */
void dg_queue_return(struct dg_queue *q, struct dg_entry *const *entries, size_t n);

#endif
