#include "server/schedule/pace.h"

#include <float.h>
#include <stdbool.h>

/* Steps of a size until its mean is believed. Among means of a few steps each the luckiest would be
 * the measure for all, and sizes that are as good would be taken for worse. */
#define SETTLED 16u
#define MOST_ASKED (2 * SETTLED) /* attempts without one: there is no step of so few rows */
#define WEIGHT 64u               /* the newest counts 1/64 */
#define STALE_NS                                                                                   \
    10000000000u /* a size not seen for so long is measured anew, where there are the rows */
#define MEMORY_ROWS 65536.0 /* row steps until the rate has forgotten half */
/* Twice the rows have to make a row so much cheaper. Lets a mean be wrong by a tenth, as longer
 * contexts and a machine's changing speed make it, without the choice moving far. */
#define DOUBLING 1.03
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
    if (now_ns - m->seen_ns > STALE_NS)
        m->fresh = 0; /* contexts, and the machine, were others then */
    m->n += m->n < WEIGHT;
    m->fresh += m->fresh < WEIGHT;
    m->ns += (ns - m->ns) / m->fresh;
    m->seen_ns = now_ns;
    if (m->fresh >= SETTLED)
        m->asked = 0;
}

/* Time of a step is decoding's and encoding's together. Where one of them is known the other one
 * follows; where both are, both are corrected alike; where none is, a token is taken to cost what a
 * row does. */
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
        p->tokens /= 2;
    }
}

void dg_pace_answered(struct dg_pace *p, uint32_t tokens)
{
    p->tokens += tokens;
}

static bool is_known(const struct dg_pace_mean *m, uint64_t now_ns)
{
    return m->fresh >= SETTLED && now_ns - m->seen_ns < STALE_NS;
}

/* The rows of a size, at most as many as fit. */
static uint32_t rows_of(size_t i, uint32_t most)
{
    uint64_t rows = UINT64_C(1) << i;
    return rows < most ? (uint32_t)rows : most;
}

uint32_t dg_pace_rows(struct dg_pace *p, uint32_t most, uint64_t wanted, uint64_t now_ns)
{
    size_t sizes = size_of(most) + 1, known = 0;
    for (size_t i = 0; i < sizes; i++) {
        bool there = i == 0 || wanted > UINT64_C(1) << (i - 1); /* are the rows for it */
        if (is_known(&p->step[i], now_ns)) {
            known = i + 1;
        } else if (there && p->step[i].n > 0 && p->step[i].asked < MOST_ASKED) {
            p->step[i].asked++;
            return rows_of(i, most);
        }
    }
    if (known < sizes && (known == 0 || wanted > UINT64_C(1) << (known - 1)))
        return rows_of(known, most);
    double least = DBL_MAX, due = 1;
    uint32_t rows = most;
    for (size_t i = 0; i < known; i++, due *= DOUBLING) {
        if (!is_known(&p->step[i], now_ns) || p->step[i].ns * due >= least)
            continue;
        least = p->step[i].ns * due;
        rows = rows_of(i, most);
    }
    return rows;
}

double dg_pace_rate(const struct dg_pace *p)
{
    double best = DBL_MAX; /* of the sizes that were often seen */
    for (size_t i = 0; i < DG_PACE_SIZES; i++)
        if (p->step[i].n >= WEIGHT && p->step[i].ns < best)
            best = p->step[i].ns;
    if (p->tokens <= 0 || best == DBL_MAX || p->due_ns <= 0)
        return 0;
    double disturbed = p->spent_ns > p->due_ns ? p->spent_ns / p->due_ns : 1;
    return 1e9 * p->tokens / ((p->rows * best + p->encode_ns) * disturbed);
}
