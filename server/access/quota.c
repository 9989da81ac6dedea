#include "server/access/quota.h"

#include <math.h>

#define MINUTE_NS 60e9

/* The number of requests in the bucket at now_ns. */
static double filled_at(const struct dg_bucket *b, double most, uint64_t now_ns)
{
    double filled = b->filled;
    if (b->at_ns == 0)
        return most;
    if (now_ns > b->at_ns)
        filled += (double)(now_ns - b->at_ns) / MINUTE_NS * most;
    return filled > most ? most : filled; /* also when the limit was lowered */
}

struct dg_quota_left dg_quota_bucket_left(
    const struct dg_bucket *b, int64_t per_minute, uint64_t now_ns)
{
    const double most = (double)per_minute, filled = filled_at(b, most, now_ns);
    return (struct dg_quota_left){.name = "requests",
        .limit = per_minute,
        .window_s = 60,
        .left = (int64_t)(filled + 1e-9),
        .reset_s = (int64_t)ceil((most - filled) * 60 / most - 1e-6)};
}

bool dg_quota_take(struct dg_bucket *b, int64_t per_minute, uint64_t now_ns, int64_t *wait_s)
{
    double most = (double)per_minute;
    if (per_minute <= 0)
        return true;
    b->filled = filled_at(b, most, now_ns);
    b->at_ns = now_ns > 0 ? now_ns : 1;
    if (b->filled >= 1) {
        b->filled -= 1;
        return true;
    }
    *wait_s = (int64_t)ceil((1 - b->filled) * 60 / most - 1e-6);
    if (*wait_s < 1)
        *wait_s = 1;
    return false;
}

bool dg_quota_fits(int64_t used, int64_t n, int64_t limit)
{
    return limit <= 0 || (n <= limit && used <= limit - n);
}
