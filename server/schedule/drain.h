/* The measured rate at which waiting work leaves the queue: its cost per second, over the time in
 * which something waited. Recent seconds count most, and measurements from before a long quiet time
 * count for nothing. No clock: times are arguments. One thread at a time: the queue's lock. */
#ifndef DG_SERVER_SCHEDULE_DRAIN_H
#define DG_SERVER_SCHEDULE_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct dg_drain {
    /* decaying sums: the cost that left, and the seconds in which something waited */
    double cost, seconds;
    /* up to when they are counted; 0: not yet */
    uint64_t at_ns;
};

/* Advance to now_ns: since the last call, something waited all the time, or nothing did. */
void dg_drain_pass(struct dg_drain *d, bool waited, uint64_t now_ns);
/* Record that work of that cost went to a worker, or (negative) was given back. */
void dg_drain_left(struct dg_drain *d, int64_t cost);
/* Cost per second; 0: too few recent measurements. */
double dg_drain_rate(const struct dg_drain *d);

#endif
