/* Workers: one thread each, with its own engine of every model. Each turn drops what is over,
 * admits what the batcher picks, advances every live sentence by one position and hands finished
 * ones to their tasks. */
#ifndef DG_SERVER_WORKER_H
#define DG_SERVER_WORKER_H

#include "server/metrics.h"
#include "server/queue.h"

struct dg_workers;

/* Start n workers on a queue; worker i uses replicas[i] of each model. metrics may be NULL. */
int dg_workers_open(struct dg_queue *q, struct dg_metrics *metrics, uint32_t n,
    struct dg_workers **out, struct dg_error *err);
/* Wait for them to end, which they do once the queue is stopped. NULL is fine. */
void dg_workers_close(struct dg_workers *w);

#endif
