#include "translate/search/loops.h"

/* Tokens beyond the first time. */
static uint32_t repeated(const struct dg_loop *l)
{
    return (l->count - 1) * l->period;
}

/* The longest run of one period; count is 1 when there is none. */
static struct dg_loop longest_of(const int32_t *ids, uint32_t n, uint32_t period)
{
    struct dg_loop best = {0, period, 1};
    uint32_t same = 0; /* tokens up to here that equal the one a period before */
    for (uint32_t i = period; i < n; i++) {
        same = ids[i] == ids[i - period] ? same + 1 : 0;
        if (same / period + 1 > best.count)
            best = (struct dg_loop){i + 1 - same - period, period, same / period + 1};
    }
    return best;
}

/* Largest number of times that anything occurs in a row. */
static uint32_t most_in_a_row(const int32_t *ids, uint32_t n)
{
    uint32_t most = 1;
    for (uint32_t period = 1; period <= n / 2; period++) {
        uint32_t count = longest_of(ids, n, period).count;
        most = count > most ? count : most;
    }
    return most;
}

static uint32_t least_count(uint32_t period)
{
    return period == 1 ? 4 : 3;
}

bool dg_loop_in_answer(const int32_t *source, uint32_t n_source, const int32_t *answer,
    uint32_t n_answer, struct dg_loop *out)
{
    uint32_t allowed = most_in_a_row(source, n_source) + 1;
    *out = (struct dg_loop){0, 0, 1};
    for (uint32_t period = 1; period <= n_answer / 2; period++) {
        struct dg_loop l = longest_of(answer, n_answer, period);
        if (l.count >= least_count(period) && l.count > allowed && repeated(&l) > repeated(out))
            *out = l;
    }
    return out->count > 1;
}

uint32_t dg_loop_free_order(const int32_t *source, uint32_t n)
{
    uint32_t longest = 0;
    for (uint32_t apart = 1; apart < n; apart++) {
        for (uint32_t i = apart, run = 0; i < n; i++) {
            run = source[i] == source[i - apart] ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
    }
    return longest > 1 ? 2 * longest : 3;
}

/* A loop repeats its n-grams of every order; an n-gram of order o is complete a second time o
 * tokens into the second unit. So order three stops a single token at its fourth occurrence and a
 * pair at the fifth token; for longer units order four is enough, and lets "in the house" occur
 * again. */
uint32_t dg_loop_block_order(const struct dg_loop *loop)
{
    return loop->period <= 2 ? 3 : 4;
}
