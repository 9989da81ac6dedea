#include "server/schedule/twins.h"

static size_t bucket(const struct dg_entry *e)
{
    return (size_t)(e->key >> 1) % DG_TWINS_BUCKETS; /* the lowest bit is always set */
}

struct dg_entry *dg_twins_find(const struct dg_twins *t, const struct dg_entry *e)
{
    struct dg_entry *x = e->key != 0 ? t->buckets[bucket(e)] : NULL;
    while (x && !dg_entry_same(x, e))
        x = x->same_key;
    return x;
}

void dg_twins_put(struct dg_twins *t, struct dg_entry *e)
{
    if (e->key == 0)
        return;
    e->same_key = t->buckets[bucket(e)];
    t->buckets[bucket(e)] = e;
}

void dg_twins_remove(struct dg_twins *t, struct dg_entry *e)
{
    struct dg_entry **link = &t->buckets[bucket(e)];
    if (e->key == 0)
        return;
    while (*link != e)
        link = &(*link)->same_key;
    *link = e->same_key;
    e->same_key = NULL;
}
