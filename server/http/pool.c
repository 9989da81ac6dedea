/* The memory that request bodies share. Bodies of clients that may turn out to be strangers take
 * half of it at most: strangers who send slowly would keep everybody else out. */
#include "server/http/exchange.h"

static size_t most_unproven(const struct dg_http_pool *p)
{
    return p->together / 2;
}

static bool fits(const atomic_size_t *used, size_t n, size_t most)
{
    const size_t now = atomic_load(used);
    return now <= most && n <= most - now;
}

bool dg_http_pool_has_room(const struct dg_http_exchange *x, size_t n)
{
    const struct dg_http_pool *p = x->pool;
    return fits(&p->used, n, p->together) &&
           (!x->unproven || fits(&p->unproven, n, most_unproven(p)));
}

static bool take(atomic_size_t *used, size_t n, size_t most)
{
    if (atomic_fetch_add(used, n) + n <= most)
        return true;
    atomic_fetch_sub(used, n);
    return false;
}

bool dg_http_pool_reserve(struct dg_http_exchange *x, size_t n)
{
    struct dg_http_pool *p = x->pool;
    if (!take(&p->used, n, p->together))
        return false;
    if (x->unproven && !take(&p->unproven, n, most_unproven(p))) {
        atomic_fetch_sub(&p->used, n);
        return false;
    }
    x->reserved_bytes += n;
    x->unproven_bytes += x->unproven ? n : 0;
    return true;
}

void dg_http_pool_prove(struct dg_http_exchange *x)
{
    atomic_fetch_sub(&x->pool->unproven, x->unproven_bytes);
    x->unproven_bytes = 0;
    x->unproven = false;
}

void dg_http_pool_release(struct dg_http_exchange *x)
{
    dg_http_pool_prove(x);
    atomic_fetch_sub(&x->pool->used, x->reserved_bytes);
    x->reserved_bytes = 0;
}

void dg_http_upload(struct dg_http_exchange *x)
{
    x->pool = &x->http->uploads;
}

void dg_http_unproven(struct dg_http_exchange *x)
{
    x->unproven = true;
}
