/* Workers: one thread each, with its own engine of every model. Each turn drops sentences that are
 * over, admits those that the batcher picks, advances those that it lets run by one position, and
 * passes finished ones to their tasks. Step times go into the replica's pace. */
#ifndef DG_SERVER_SCHEDULE_WORKER_H
#define DG_SERVER_SCHEDULE_WORKER_H

#include "server/schedule/core_share.h"
#include "server/metrics.h"
#include "server/schedule/queue.h"

struct dg_workers;

struct dg_workers_options {
    /* worker i uses replicas[i] of each model */
    uint32_t n;
    struct dg_queue *queue;
    /* the threads' nice value; 0: the server's own */
    int nice;
    /* may be NULL */
    struct dg_metrics *metrics;
    /* outlives the workers */
    struct dg_core_share *share;
};

int dg_workers_open(
    const struct dg_workers_options *o, struct dg_workers **out, struct dg_error *err);
/* Compare with the call before: for how long a worker has had something to do and taken no step,
 * the longest time of all workers; *number is that worker's. From one thread, again and again. */
uint64_t dg_workers_still_ns(struct dg_workers *w, uint64_t now_ns, uint32_t *number);

/* Wait for the workers to end, which they do once the queue is stopped. Returns how many had a
 * device failure: such a worker has stopped the queue and sent this process SIGTERM. NULL is fine.
 */
uint32_t dg_workers_close(struct dg_workers *w);

#endif
