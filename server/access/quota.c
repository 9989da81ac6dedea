#include "server/access/quota.h"

#include <math.h>

#define MINUTE_NS 60e9

bool dg_bucket_take(struct dg_bucket *b, int64_t per_minute, uint64_t now_ns, int64_t *wait_s)
{
    double most = (double)per_minute;
    if (per_minute <= 0)
        return true;
    if (b->at_ns == 0)
        b->filled = most;
    else if (now_ns > b->at_ns)
        b->filled += (double)(now_ns - b->at_ns) / MINUTE_NS * most;
    if (b->filled > most) /* also when the limit was lowered */
        b->filled = most;
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
