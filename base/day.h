/* Days of UTC. Pure; any thread. */
#ifndef DG_BASE_DAY_H
#define DG_BASE_DAY_H

#include <stdint.h>

/* The day (since the epoch) of a time since the epoch, and the seconds until it ends (at least
 * 1). */
int64_t dg_day_of(double wall_s, int64_t *left_s);

#endif
