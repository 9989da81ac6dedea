#include "server/schedule/core_share.h"

void dg_core_share_init(struct dg_core_share *s, int cores)
{
    s->cores = cores;
    atomic_init(&s->busy, 0);
}

void dg_core_share_begin(struct dg_core_share *s)
{
    atomic_fetch_add_explicit(&s->busy, 1, memory_order_relaxed);
}

void dg_core_share_end(struct dg_core_share *s)
{
    atomic_fetch_sub_explicit(&s->busy, 1, memory_order_relaxed);
}

unsigned dg_core_share_busy(const struct dg_core_share *s)
{
    return atomic_load_explicit(&s->busy, memory_order_relaxed);
}

int dg_core_share_threads(const struct dg_core_share *s)
{
    unsigned busy = dg_core_share_busy(s);
    if (s->cores == 0)
        return 0;
    if (busy <= 1)
        return s->cores;
    return busy < (unsigned)s->cores ? s->cores / (int)busy : 1;
}
