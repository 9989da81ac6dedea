#include "server/schedule/drain.h"

#include <math.h>

/* Half-life of the measurements, in seconds with work waiting and without: a burst must not be
 * judged for long by the speed of the one before, and a second of quiet must not erase what is
 * known. */
#define HALF_BUSY 2.0
#define HALF_QUIET 10.0
/* Seconds of waiting that a rate needs: engines that are filling up first take more than they can
 * sustain. */
#define ENOUGH 0.5

void dg_drain_pass(struct dg_drain *d, bool waited, uint64_t now_ns)
{
    if (d->at_ns == 0)
        d->at_ns = now_ns;
    if (now_ns <= d->at_ns)
        return;
    const double s = (double)(now_ns - d->at_ns) / 1e9;
    const double left = exp2(-s / (waited ? HALF_BUSY : HALF_QUIET));
    d->at_ns = now_ns;
    d->cost *= left;
    d->seconds = d->seconds * left + (waited ? s : 0);
}

void dg_drain_left(struct dg_drain *d, int64_t cost)
{
    d->cost += (double)cost;
}

double dg_drain_rate(const struct dg_drain *d)
{
    return d->seconds >= ENOUGH && d->cost > 0 ? d->cost / d->seconds : 0;
}
