/* By how much somebody set the wall clock. One thread at a time for each. */
#ifndef DG_BASE_CLOCK_STEP_H
#define DG_BASE_CLOCK_STEP_H

#include <stdint.h>

/* When it was last looked at; zeroed: never. */
struct dg_clock_step {
    double wall_s;
    uint64_t boot_ns;
};

/* Seconds by which the wall clock was set since the last look, by the clock that nobody sets; 0 at
 * the first look, and where it is less than two seconds: so far it may be slowed down or sped up.
 */
int64_t dg_clock_step(struct dg_clock_step *last);

#endif
