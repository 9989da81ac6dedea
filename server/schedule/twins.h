/* What waits, by what it asks for: so that equal sentences are translated once. Entries are
 * borrowed and linked through same_key. One thread at a time. */
#ifndef DG_SERVER_SCHEDULE_TWINS_H
#define DG_SERVER_SCHEDULE_TWINS_H

#include "server/schedule/task.h"

#define DG_TWINS_BUCKETS 4096

struct dg_twins {
    struct dg_entry *buckets[DG_TWINS_BUCKETS];
};

/* One that asks for the same as e; NULL: there is none. */
struct dg_entry *dg_twins_find(const struct dg_twins *t, const struct dg_entry *e);
/* Entries without a key are left out, putting and removing. */
void dg_twins_put(struct dg_twins *t, struct dg_entry *e);
void dg_twins_remove(struct dg_twins *t, struct dg_entry *e);

#endif
