/* How many cores a worker's step may use: an equal share for each worker that has something to do,
 * so that a lone sentence is split over all cores and a full machine runs one worker on each.
 * Answers do not depend on it (contracts: rows are stable). Any thread. */
#ifndef DG_SERVER_SCHEDULE_CORE_SHARE_H
#define DG_SERVER_SCHEDULE_CORE_SHARE_H

#include <stdatomic.h>

struct dg_core_share {
    /* 0: each worker keeps the threads it was opened with */
    int cores;
    /* workers that have something to do */
    atomic_uint busy;
};

void dg_core_share_init(struct dg_core_share *s, int cores);

/* The calling worker has something to do from now on; it has nothing to do any more. */
void dg_core_share_begin(struct dg_core_share *s);
void dg_core_share_end(struct dg_core_share *s);

unsigned dg_core_share_busy(const struct dg_core_share *s);

/* Threads for the next step of a worker that has something to do, at least 1; 0: leave them as they
 * are. */
int dg_core_share_threads(const struct dg_core_share *s);

#endif
