#include "base/budget.h"

bool dg_budget_take(struct dg_budget *b, size_t bytes)
{
    size_t before = atomic_fetch_add(&b->taken, bytes);
    bool fits = before <= b->most && bytes <= b->most - before;
    if (!fits)
        atomic_fetch_sub(&b->taken, bytes);
    return fits;
}

void dg_budget_add(struct dg_budget *b, size_t bytes)
{
    atomic_fetch_add(&b->taken, bytes);
}

void dg_budget_give(struct dg_budget *b, size_t bytes)
{
    atomic_fetch_sub(&b->taken, bytes);
}

bool dg_budget_above_half(const struct dg_budget *b)
{
    return atomic_load(&b->taken) > b->most / 2;
}
