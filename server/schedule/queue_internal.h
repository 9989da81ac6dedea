/* Internals of the queue, shared by queue.c, lane.c and bound.c. Any thread that holds its lock,
 * which all functions here need except dg_queue_cost. */
#ifndef DG_SERVER_SCHEDULE_QUEUE_INTERNAL_H
#define DG_SERVER_SCHEDULE_QUEUE_INTERNAL_H

#include "server/schedule/drain.h"
#include "server/schedule/duplicates.h"
#include "server/schedule/lane.h"
#include "server/schedule/patience.h"
#include "server/schedule/queue.h"
#include "server/schedule/usage.h"

#define DG_QUEUE_MAX_LANES 256
/* cost per second of one worker, until it has been measured */
#define DG_QUEUE_START_RATE 2000.0
/* the same for estimating patience: deliberately too low, so that a first large request does not
 * block small ones */
#define DG_QUEUE_PATIENT_RATE 50.0

struct dg_queue {
    struct dg_queue_options o;
    atomic_bool stopped;
    pthread_mutex_t lock;
    pthread_cond_t some;
    /* guarded by lock */
    /* [n_lanes], none of them empty */
    struct dg_lane lanes[DG_QUEUE_MAX_LANES];
    size_t n_lanes;
    struct dg_duplicates duplicates;
    struct dg_usage_table usage;
    struct dg_patience patience;
    /* [class] rates of interactive work, and of all work */
    struct dg_drain drains[DG_CLASSES];
};

/* The waiting work of the classes up to last in all lanes, since lanes share the workers. */
struct dg_backlog {
    /* with duplicates */
    size_t entries;
    uint64_t tokens, cost;
    /* part of cost: of tasks that wait beside the bound */
    uint64_t large;
    double seconds;
};
struct dg_backlog dg_queue_backlog(const struct dg_queue *q, enum dg_class last);
/* The work ahead of a newcomer. Seconds for everything that waits in its class or before, and for
 * what is live of its model; and the rate assumed, cost per second. */
struct dg_ahead {
    double seconds, rate;
};
struct dg_ahead dg_queue_ahead(
    const struct dg_queue *q, const struct dg_served *model, enum dg_class class);
/* Account for the time until now_ns with the queue as it is: call before anything enters or leaves.
 */
void dg_queue_pass(struct dg_queue *q, uint64_t now_ns);
/* Record that a worker took an entry out of the queue; taken false: that it was given back. */
void dg_queue_drained(struct dg_queue *q, const struct dg_entry *e, bool taken);
/* True: t is to be refused with *err, since it has waited for longer than max_seconds and none of
 * it was started. Never if t is bulk or patient, or the bound is in tokens. */
bool dg_queue_overdue(
    const struct dg_queue *q, const struct dg_task *t, uint64_t now_ns, struct dg_error *err);

/* The cost of an entry in the bound: its tokens, weighted by the width of its search; a duplicate
 * costs an eighth, for its memory. */
uint32_t dg_queue_cost(const struct dg_entry *e, bool duplicate);
/* What a task is to the bound. */
struct dg_demand {
    /* the class that it may wait in */
    enum dg_class class;
    uint64_t cost;
    /* waits beside the bound: larger than it by itself, or refused for long */
    bool large;
};
/* Check t against the bound. DG_EAGAIN: it must not wait. */
int dg_queue_check_bound(const struct dg_queue *q, const struct dg_task *t, uint64_t now_ns,
    struct dg_demand *out, struct dg_error *err);

#endif
