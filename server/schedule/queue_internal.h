/* The queue as queue.c, lane.c and bound.c see it. Any thread that holds its lock, which all
 * functions here need. */
#ifndef DG_SERVER_SCHEDULE_QUEUE_INTERNAL_H
#define DG_SERVER_SCHEDULE_QUEUE_INTERNAL_H

#include "server/schedule/drain.h"
#include "server/schedule/duplicates.h"
#include "server/schedule/lane.h"
#include "server/schedule/patience.h"
#include "server/schedule/queue.h"
#include "server/schedule/usage.h"

#define DG_QUEUE_MAX_LANES 256
/* source tokens a second of one worker, until it has been measured */
#define DG_QUEUE_START_RATE 2000.0
/* the same where it says how long a sentence lets others pass: too slow, so that a first large
 * request does not block small ones */
#define DG_QUEUE_PATIENT_RATE 50.0

struct dg_queue {
    struct dg_queue_options o;
    atomic_bool stopped;
    pthread_mutex_t lock;
    pthread_cond_t some;
    /* guarded by lock */
    struct dg_lane lanes[DG_QUEUE_MAX_LANES];
    size_t n_lanes, n_entries;
    struct dg_duplicates duplicates;
    struct dg_usage_table usage;
    struct dg_patience patience;
    /* [class]: of interactive work, and of all work */
    struct dg_drain drains[DG_CLASSES];
};

/* The waiting work of some classes, in all lanes: they share the workers. */
struct dg_backlog {
    uint64_t tokens, cost;
    double seconds;
};
struct dg_backlog dg_queue_backlog(const struct dg_queue *q, int first, int last);
/* What is before a newcomer: seconds for all that waits in its class and before, and for what is
 * live of its model; and the rate of that, cost a second. */
struct dg_ahead {
    double seconds, rate;
};
struct dg_ahead dg_queue_ahead(
    const struct dg_queue *q, const struct dg_served *model, enum dg_class class);
/* The time until now_ns is over, as the queue was in it: before anything enters or leaves. */
void dg_queue_pass(struct dg_queue *q, uint64_t now_ns);
/* An entry that waited in that class went to a worker; not taken: it was given back. */
void dg_queue_drained(struct dg_queue *q, const struct dg_entry *e, bool taken);
/* Has t waited for longer than the bound, and nothing of it was begun? *err then refuses it. */
bool dg_queue_overdue(
    const struct dg_queue *q, const struct dg_task *t, uint64_t now_ns, struct dg_error *err);

/* What an entry counts for in the bound: its tokens, as dear as its search makes them; a duplicate
 * an eighth, for its memory. */
uint32_t dg_queue_cost(const struct dg_entry *e, bool duplicate);
/* May t wait, too? DG_EAGAIN: no. *class is the class it may wait in, *cost what it counts for. */
int dg_queue_check_bound(const struct dg_queue *q, const struct dg_task *t, uint64_t now_ns,
    enum dg_class *class, uint64_t *cost, struct dg_error *err);

#endif
