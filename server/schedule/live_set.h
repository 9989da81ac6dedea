/* The live sentences of a worker, by id and by rank. A live sentence is the first of its
 * duplicates, which are linked to it by next. Entries are borrowed. One thread at a time, the
 * worker's. */
#ifndef DG_SERVER_SCHEDULE_LIVE_SET_H
#define DG_SERVER_SCHEDULE_LIVE_SET_H

#include "server/schedule/task.h"

#define DG_LIVE_MAX 4096

struct dg_live_set {
    /* [DG_LIVE_MAX] by their id in the engine; NULL: free */
    struct dg_entry *by_id[DG_LIVE_MAX];
    /* the free ids, from n on; the next one first */
    uint32_t free_ids[DG_LIVE_MAX];
    /* [n] ascending by rank */
    struct dg_entry *ranking[DG_LIVE_MAX];
    uint32_t n;
};

/* A zeroed set becomes an empty one. */
void dg_live_set_init(struct dg_live_set *s);

/* The id that the next sentence will have; false: all are taken. */
bool dg_live_set_next_id(const struct dg_live_set *s, uint32_t *id);
/* Add e, under the id that dg_live_set_next_id returned. */
void dg_live_set_put(struct dg_live_set *s, struct dg_entry *e);
/* Remove e and free its id. */
void dg_live_set_leave(struct dg_live_set *s, struct dg_entry *e);
/* Remove e from its duplicates, where it is linked to `before`; NULL: it is the first. Then the
 * next of them takes over its id and rank, and if there is none, the sentence leaves. */
void dg_live_set_unlink(struct dg_live_set *s, struct dg_entry *before, struct dg_entry *e);

/* List the live sentences of a model in out[DG_LIVE_MAX], ascending by rank; returns how many. */
size_t dg_live_set_of_model(
    const struct dg_live_set *s, const struct dg_served *model, struct dg_entry **out);

#endif
