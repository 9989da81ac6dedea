#include "server/schedule/patience.h"

#define WEIGHT 64.0 /* the newest counts 1/64 */
/* A request counts for at most this many times the usual work: a book must not make everything else
 * look short. */
#define LARGEST 4.0
/* Between these multiples of the usual work, the share of AHEAD grows from none to all: near the
 * usual length one token more must not decide. */
#define FROM 0.9
#define TO 1.1
/* Multiples of the time of the work ahead, and of the own work. With a lower AHEAD short requests
 * wait for long ones; with a higher one the longest wait for many turns of all others. */
#define AHEAD 1.6
#define OWN 2.0

void dg_patience_come(struct dg_patience *p, uint64_t work)
{
    double w = (double)work;
    if (p->usual <= 0) {
        p->usual = w;
        return;
    }
    if (w > LARGEST * p->usual)
        w = LARGEST * p->usual;
    p->usual += (w - p->usual) / WEIGHT;
}

bool dg_patience_is_large(const struct dg_patience *p, uint64_t work, size_t sentences)
{
    return sentences > 1 && (double)work >= TO * p->usual;
}

uint64_t dg_patience_ns(const struct dg_patience *p, uint64_t work, double ahead_s, double own_s)
{
    const double from = FROM * p->usual, to = TO * p->usual, w = (double)work;
    const double share = w <= from ? 0 : w >= to ? 1 : (w - from) / (to - from);
    const double ns = (AHEAD * ahead_s * share + OWN * own_s) * 1e9;
    return ns < 9e18 ? (uint64_t)ns : UINT64_C(9000000000000000000);
}
