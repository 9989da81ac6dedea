/* The sentences that wait for one model. A lane exists while an entry waits in it; its entries'
 * tasks reference the model. Part of the queue, whose lock is held in all functions here. Decides
 * nothing: the batcher decides who goes next, bound.c how much may wait. */
#ifndef DG_SERVER_SCHEDULE_LANE_H
#define DG_SERVER_SCHEDULE_LANE_H

#include "server/schedule/batcher.h"
#include "server/schedule/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_queue;
struct dg_served;
struct dg_task;

struct dg_lane {
    struct dg_served *model;
    struct dg_batcher batcher;
    /* source tokens, those of duplicates once */
    uint64_t tokens[DG_CLASSES];
    /* with duplicates */
    size_t entries[DG_CLASSES];
    /* cost of all entries in the bound, and of those of tasks beside it */
    uint64_t cost[DG_CLASSES], large[DG_CLASSES];
};

/* The lane of a model; NULL: nothing waits for it. */
struct dg_lane *dg_lane_of(struct dg_queue *q, const struct dg_served *model);
/* The same, created if there is none; NULL: there are DG_QUEUE_MAX_LANES already. */
struct dg_lane *dg_lane_make(struct dg_queue *q, struct dg_served *model);
/* Reserve room for this many more entries; false: no memory, or l is NULL. */
bool dg_lane_reserve(struct dg_lane *l, size_t entries);
/* Remove a lane if it is empty; other lanes move. NULL is fine. */
void dg_lane_retire(struct dg_queue *q, struct dg_lane *l);

/* Add a new entry, alone or as a duplicate of a waiting one, which then takes the better rank of
 * the two. The new entry's rank is in node.key; room was reserved. */
void dg_lane_enter(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e);
/* Move all waiting entries of t in that lane onto *list (linked by next). */
void dg_lane_leave_task(
    struct dg_queue *q, struct dg_lane *l, const struct dg_task *t, struct dg_entry **list);

/* Add to the batcher and the table of duplicates: only the first of its duplicates. */
void dg_lane_add(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e);
/* Count e in the bound, in the class of `first`, the first of its duplicates; and stop counting it.
 */
void dg_lane_count_in(
    struct dg_queue *q, struct dg_lane *l, struct dg_entry *e, struct dg_entry *first);
void dg_lane_count_out(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e);

#endif
