#include "base/day.h"

#include <math.h>

#define DAY_S 86400

int64_t dg_day_of(double wall_s, int64_t *left_s)
{
    int64_t day = (int64_t)floor(wall_s / DAY_S);
    *left_s = (day + 1) * DAY_S - (int64_t)floor(wall_s);
    return day;
}
