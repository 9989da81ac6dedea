/* The sentences that wait for one model. A lane exists while an entry waits in it; its entries'
 * tasks reference the model. Part of the queue: its lock is held in all functions here. Decides
 * nothing: who goes next is the batcher's, how much may wait is bound.c's. */
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
    /* what all entries count for in the bound */
    uint64_t cost[DG_CLASSES];
};

/* The lane of a model; NULL: nothing waits for it. */
struct dg_lane *dg_lane_of(struct dg_queue *q, const struct dg_served *model);
/* The same, made when there is none; NULL: there are DG_QUEUE_MAX_LANES. */
struct dg_lane *dg_lane_make(struct dg_queue *q, struct dg_served *model);
/* Room for so many entries more; false: no memory, or l is NULL. */
bool dg_lane_reserve(struct dg_lane *l, size_t entries);
/* Forget a lane that has run empty: others move. NULL is fine. */
void dg_lane_retire(struct dg_queue *q, struct dg_lane *l);

/* A new entry, alone or as a duplicate of one that waits, which then has the better rank of the
 * two. Its own rank is in node.key. There is room for it. */
void dg_lane_enter(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e);
/* All waiting entries of t, in that lane, leave onto *list (by next). */
void dg_lane_leave_task(
    struct dg_queue *q, struct dg_lane *l, const struct dg_task *t, struct dg_entry **list);

/* Into and out of batcher and table of duplicates: the first of its duplicates alone. */
void dg_lane_add(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e);
void dg_lane_remove(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e);
/* Into and out of the bound, in the class of `first`, the first of its duplicates. */
void dg_lane_count_in(
    struct dg_queue *q, struct dg_lane *l, struct dg_entry *e, struct dg_entry *first);
void dg_lane_count_out(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e);

#endif
