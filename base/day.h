/* Days of UTC. Pure; any thread. */
#ifndef DG_BASE_DAY_H
#define DG_BASE_DAY_H

#include <stdint.h>

/* Returns the UTC day, counted from the epoch, of a time in seconds since the epoch; *left_s is the
 * number of seconds until that day ends (at least 1). */
int64_t dg_day_of(double wall_s, int64_t *left_s);

#endif
