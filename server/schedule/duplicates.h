/* Hash table of the waiting sentences, so that equal ones are translated once. Entries are borrowed
 * and linked through same_key. One thread at a time. */
#ifndef DG_SERVER_SCHEDULE_DUPLICATES_H
#define DG_SERVER_SCHEDULE_DUPLICATES_H

#include "server/schedule/task.h"

#define DG_DUPLICATES_BUCKETS 4096

struct dg_duplicates {
    struct dg_entry *buckets[DG_DUPLICATES_BUCKETS];
};

/* The entry in the table that asks for the same as e, or NULL. */
struct dg_entry *dg_duplicates_find(const struct dg_duplicates *t, const struct dg_entry *e);
/* Add and remove an entry; one without a key is ignored. */
void dg_duplicates_put(struct dg_duplicates *t, struct dg_entry *e);
void dg_duplicates_remove(struct dg_duplicates *t, struct dg_entry *e);

#endif
