#include "trainer/update/schedule.h"

#include <math.h>

double dg_schedule_rate(const struct dg_schedule *s, int64_t step)
{
    double n = step < 1 ? 1.0 : (double)step;
    double rise = s->warmup > 0 ? n * pow((double)s->warmup, -1.5) : INFINITY;
    double rate = s->scale / sqrt((double)s->D) * fmin(1.0 / sqrt(n), rise);
    int64_t left = s->updates + 1 - step; /* including this update */
    if (s->cooldown > 0 && left <= s->cooldown)
        rate *= left > 0 ? (double)left / (double)(s->cooldown + 1) : 0.0;
    return rate;
}
