#include "server/schedule/duplicates.h"

static size_t bucket(const struct dg_entry *e)
{
    return (size_t)(e->key >> 1) % DG_DUPLICATES_BUCKETS; /* the lowest bit is always set */
}

struct dg_entry *dg_duplicates_find(const struct dg_duplicates *t, const struct dg_entry *e)
{
    struct dg_entry *x = e->key != 0 ? t->buckets[bucket(e)] : NULL;
    while (x && !dg_entry_same(x, e))
        x = x->same_key;
    return x;
}

void dg_duplicates_put(struct dg_duplicates *t, struct dg_entry *e)
{
    if (e->key == 0)
        return;
    e->same_key = t->buckets[bucket(e)];
    t->buckets[bucket(e)] = e;
}

void dg_duplicates_remove(struct dg_duplicates *t, struct dg_entry *e)
{
    struct dg_entry **link = &t->buckets[bucket(e)];
    if (e->key == 0)
        return;
    while (*link != e)
        link = &(*link)->same_key;
    *link = e->same_key;
    e->same_key = NULL;
}
