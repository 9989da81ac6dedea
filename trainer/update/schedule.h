/* The learning rate of the paper's section 5.3, with a linear decay at the end if the recipe has
 * one. Any thread. */
#ifndef DG_TRAINER_UPDATE_SCHEDULE_H
#define DG_TRAINER_UPDATE_SCHEDULE_H

#include <stdint.h>

struct dg_schedule {
    /* 1 in the paper */
    double scale;
    uint32_t D;
    /* cooldown 0: none */
    int64_t warmup, updates, cooldown;
};

/* scale * D^-0.5 * min(step^-0.5, step * warmup^-1.5), step = 1 for the first update. During the
 * last `cooldown` updates it is multiplied by a factor that falls linearly and would reach 0 one
 * update after the last. */
double dg_schedule_rate(const struct dg_schedule *s, int64_t step);

#endif
