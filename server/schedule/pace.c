#include "server/schedule/pace.h"

#include <float.h>

/* Samples of a size before its mean can tell which steps were interrupted. */
#define SETTLED 16u
#define WEIGHT 64u            /* the newest counts 1/64 */
#define STALE_NS 10000000000u /* a size without samples for this long is measured anew */
#define MEMORY_ROWS 65536.0   /* rows after which all sums are halved */
#define OUTLIER 4.0           /* a step of more than this many times the mean was interrupted */

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
    if (now_ns - m->seen_ns > STALE_NS)
        m->fresh = 0; /* contexts and the machine's load have changed */
    m->n += m->n < WEIGHT;
    m->fresh += m->fresh < WEIGHT;
    m->ns += (ns - m->ns) / m->fresh;
    m->seen_ns = now_ns;
}

/* The time of a step is decoding plus encoding. If one of them is known, the other follows; if both
 * are, both are corrected by the same factor; if neither is, a token is assumed to cost as much as
 * a row. */
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
    } else if (d->n == 0 && e->n == 0) {
        double each = all / (rows + encoded);
        learn(d, each, now_ns);
        learn(e, each * encoded, now_ns);
    } else if (e->n == 0) {
        learn(e, all > decode ? all - decode : 0, now_ns);
    } else if (d->n == 0) {
        if (all > encode)
            learn(d, (all - encode) / rows, now_ns);
    } else if (decode + encode > 0) {
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
        p->cost /= 2;
    }
}

void dg_pace_answered(struct dg_pace *p, uint32_t cost)
{
    p->cost += cost;
}

double dg_pace_rate(const struct dg_pace *p)
{
    double best = DBL_MAX; /* of the sizes with enough samples */
    for (size_t i = 0; i < DG_PACE_SIZES; i++)
        if (p->step[i].n >= WEIGHT && p->step[i].ns < best)
            best = p->step[i].ns;
    if (p->cost <= 0 || best == DBL_MAX || p->due_ns <= 0)
        return 0;
    double disturbed = p->spent_ns > p->due_ns ? p->spent_ns / p->due_ns : 1;
    return 1e9 * p->cost / ((p->rows * best + p->encode_ns) * disturbed);
}
