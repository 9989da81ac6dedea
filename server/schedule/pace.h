/* What an engine can do, learnt from its own steps: how long a step of so many rows lasts, how long
 * encoding so many tokens, how many source tokens a second that comes to when there is enough to
 * do. No clock: times are arguments. One thread at a time. */
#ifndef DG_SERVER_SCHEDULE_PACE_H
#define DG_SERVER_SCHEDULE_PACE_H

#include <stddef.h>
#include <stdint.h>

#define DG_PACE_SIZES 16 /* 1, 2, 3..4, 5..8, ... */

/* Mean of what was seen of one size, the newest counting most; of rows: nanoseconds a row. */
struct dg_pace_mean {
    double ns;
    /* how often it was seen, up to some */
    uint32_t n;
    /* the same since it was last not seen for long */
    uint32_t fresh;
    /* when last */
    uint64_t seen_ns;
};

struct dg_pace {
    /* by rows, a row */
    struct dg_pace_mean step[DG_PACE_SIZES];
    /* by tokens, all of them */
    struct dg_pace_mean encode[DG_PACE_SIZES];
    /* Sums that forget. due_ns: what the means say of the same steps; where others use the machine,
     * steps now and then take far longer. */
    double rows, encode_ns, tokens, spent_ns, due_ns;
};

/* A step of `rows` lasted ns until now_ns, with the encoding of so many tokens (0: none). */
void dg_pace_step(struct dg_pace *p, uint32_t rows, uint32_t encoded, uint64_t ns, uint64_t now_ns);
/* A sentence of so many source tokens was answered. */
void dg_pace_answered(struct dg_pace *p, uint32_t tokens);

/* Source tokens a second when there is enough to do; 0: nothing was answered yet. */
double dg_pace_rate(const struct dg_pace *p);

#endif
