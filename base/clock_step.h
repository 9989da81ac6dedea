/* Detects that somebody set the wall clock. One thread at a time for each struct. */
#ifndef DG_BASE_CLOCK_STEP_H
#define DG_BASE_CLOCK_STEP_H

#include <stdint.h>

/* The last reading; zeroed: none yet. */
struct dg_clock_step {
    double wall_s;
    uint64_t boot_ns;
};

/* Seconds by which the wall clock was set since the last call, measured with the boot-time clock,
 * which nobody can set. 0 in the first call, and for less than two seconds: that much may come from
 * slewing. */
int64_t dg_clock_step(struct dg_clock_step *last);

#endif
