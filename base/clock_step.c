#include "base/clock_step.h"

#include "base/clock.h"

#include <math.h>

#define LEAST_S 2

int64_t dg_clock_step(struct dg_clock_step *last)
{
    const struct dg_clock_step before = *last;
    *last = (struct dg_clock_step){dg_clock_wall_s(), dg_clock_boot_ns()};
    if (before.boot_ns == 0)
        return 0;
    const double passed = (double)(last->boot_ns - before.boot_ns) * 1e-9;
    const double step = round(last->wall_s - before.wall_s - passed);
    return fabs(step) < LEAST_S ? 0 : (int64_t)step;
}
