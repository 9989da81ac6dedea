#include "server/pace.h"

#include <float.h>
#include <stdbool.h>

#define SETTLED 4u            /* steps of a size until its mean is believed */
#define WEIGHT 16u            /* the newest counts 1/16 */
#define STALE_NS 60000000000u /* a size not seen for so long is tried again */
#define MEMORY_ROWS 65536.0   /* row steps until the rate has forgotten half */
#define FAR_BEHIND_S 0.5      /* with so much waiting, throughput goes before latency */
/* A row may cost so much more than at its cheapest. Generous: sentences of longer contexts cost
 * more at every size, so that a mean is not known better than to a tenth. */
#define SLACK 1.25
#define SLACK_FAR_BEHIND 1.05
#define OUTLIER                                                                                    \
    4.0 /* a step that lasts so many times the mean was interrupted by somebody else               \
         */

/* Sizes by powers of two: 1, 2, 3..4, 5..8, ... */
static size_t size_of(uint64_t x)
{
    size_t i = 0;
    while (i + 1 < DG_PACE_SIZES && (UINT64_C(1) << i) < x)
        i++;
    return i;
}

static void learn(struct dg_pace_mean *m, double ns, uint64_t now_ns)
{
    if (m->n >= SETTLED && ns > OUTLIER * m->ns)
        ns = OUTLIER * m->ns;
    if (m->n < WEIGHT)
        m->n++;
    m->ns += (ns - m->ns) / m->n;
    m->seen_ns = now_ns;
}

/* Time of a step is decoding's and encoding's together. Where one of them is known the other one
 * follows; where both are, both are corrected alike; where none is nothing is learnt. */
void dg_pace_step(struct dg_pace *p, uint32_t rows, uint32_t encoded, uint64_t ns, uint64_t now_ns)
{
    struct dg_pace_mean *d = &p->step[size_of(rows)], *e = &p->encode[size_of(encoded)];
    double all = (double)ns, decode = d->ns * rows, encode = encoded > 0 ? e->ns : 0;
    p->rows += rows;
    if (encoded == 0) {
        if (rows > 0)
            learn(d, all / rows, now_ns);
    } else if (rows == 0) {
        learn(e, all, now_ns);
    } else if (d->n >= SETTLED && e->n == 0) {
        learn(e, all > decode ? all - decode : 0, now_ns);
    } else if (e->n > 0 && d->n < SETTLED) {
        if (all > encode)
            learn(d, (all - encode) / rows, now_ns);
    } else if (e->n > 0 && decode + encode > 0) {
        double off = all / (decode + encode);
        learn(d, d->ns * off, now_ns);
        learn(e, encode * off, now_ns);
    }
    p->encode_ns += encoded > 0 ? e->ns : 0;
    p->spent_ns += all;
    p->due_ns += d->ns * rows + (encoded > 0 ? e->ns : 0);
    if (p->rows > MEMORY_ROWS) {
        p->rows /= 2;
        p->encode_ns /= 2;
        p->spent_ns /= 2;
        p->due_ns /= 2;
        p->tokens /= 2;
    }
}

void dg_pace_answered(struct dg_pace *p, uint32_t tokens)
{
    p->tokens += tokens;
}

static bool is_known(const struct dg_pace_mean *m, uint64_t now_ns)
{
    return m->n >= SETTLED && now_ns - m->seen_ns < STALE_NS;
}

/* The cheapest row of the sizes that were seen so often; DBL_MAX: of none. */
static double cheapest(const struct dg_pace *p, size_t sizes, uint32_t least)
{
    double best = DBL_MAX;
    for (size_t i = 0; i < sizes; i++)
        if (p->step[i].n >= least && p->step[i].ns < best)
            best = p->step[i].ns;
    return best;
}

uint32_t dg_pace_rows(
    const struct dg_pace *p, uint32_t most, uint64_t wanted, double backlog_s, uint64_t now_ns)
{
    size_t sizes = size_of(most) + 1;
    double slack = backlog_s > FAR_BEHIND_S ? SLACK_FAR_BEHIND : SLACK;
    double best = cheapest(p, sizes, SETTLED);
    size_t last = sizes;
    while (last > 0 && !is_known(&p->step[last - 1], now_ns))
        last--;
    if (last < sizes) { /* sizes from here on are not known; sizes below may have become stale */
        uint64_t next = UINT64_C(1) << last;
        if (last == 0 || wanted > next / 2)
            return next < most ? (uint32_t)next : most;
    }
    for (size_t i = 0; i < last; i++)
        if (p->step[i].n >= SETTLED && p->step[i].ns <= slack * best)
            return i + 1 < sizes ? (uint32_t)1 << i : most;
    return most;
}

double dg_pace_rate(const struct dg_pace *p)
{
    double best = cheapest(p, DG_PACE_SIZES, WEIGHT);
    if (p->tokens <= 0 || best == DBL_MAX || p->due_ns <= 0)
        return 0;
    double disturbed = p->spent_ns > p->due_ns ? p->spent_ns / p->due_ns : 1;
    return 1e9 * p->tokens / ((p->rows * best + p->encode_ns) * disturbed);
}
