/* The speed of an engine, learnt from its own steps: how long a step takes by its rows, how long
 * encoding takes by its tokens, and how much work per second follows at full load, as cost in the
 * queue's bound (dg_queue_cost). No clock: times are arguments. One thread at a time. */
#ifndef DG_SERVER_SCHEDULE_PACE_H
#define DG_SERVER_SCHEDULE_PACE_H

#include <stddef.h>
#include <stdint.h>

#define DG_PACE_SIZES 16 /* 1, 2, 3..4, 5..8, ... */

/* Mean time of one size, with the newest samples counting most; for steps, nanoseconds per row. */
struct dg_pace_mean {
    double ns;
    /* number of samples, up to WEIGHT (pace.c) */
    uint32_t n;
    /* the same since the last long gap between samples */
    uint32_t fresh;
    /* time of the last sample */
    uint64_t seen_ns;
};

struct dg_pace {
    /* by number of rows; time per row */
    struct dg_pace_mean step[DG_PACE_SIZES];
    /* by number of tokens; time for all of them */
    struct dg_pace_mean encode[DG_PACE_SIZES];
    /* Decaying sums. due_ns: what the means predict for the same steps as spent_ns; if other
     * programs use the machine, some steps take far longer. */
    double rows, encode_ns, cost, spent_ns, due_ns;
};

/* Record a step of `rows` rows that took ns, until now_ns, and encoded this many tokens (0: none).
 */
void dg_pace_step(struct dg_pace *p, uint32_t rows, uint32_t encoded, uint64_t ns, uint64_t now_ns);
/* Record the answer to a sentence of this cost. */
void dg_pace_answered(struct dg_pace *p, uint32_t cost);

/* Cost per second at full load; 0: not known yet. */
double dg_pace_rate(const struct dg_pace *p);

#endif
