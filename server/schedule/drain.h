/* How fast waiting work leaves the queue, as measured: its cost a second, over the time in which
 * something waited. The last seconds count most, and what was measured before a long quiet time
 * counts for nothing. No clock: times are arguments. One thread at a time: the queue's lock. */
#ifndef DG_SERVER_SCHEDULE_DRAIN_H
#define DG_SERVER_SCHEDULE_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct dg_drain {
    /* sums that forget: what left, and the time in which something waited */
    double cost, seconds;
    /* up to when that is counted; 0: nothing is yet */
    uint64_t at_ns;
};

/* Until now_ns something waited all the time, or nothing did. */
void dg_drain_pass(struct dg_drain *d, bool waited, uint64_t now_ns);
/* Work of that cost went to a worker, or (negative) was given back. */
void dg_drain_left(struct dg_drain *d, int64_t cost);
/* Cost a second; 0: too few recent measurements. */
double dg_drain_rate(const struct dg_drain *d);

#endif
