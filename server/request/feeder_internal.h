/* Internals of the feeder, shared by feeder.c, feeder_plan.c and feeder_answer.c. Any thread, with
 * the lock if a field says so. */
#ifndef DG_SERVER_REQUEST_FEEDER_INTERNAL_H
#define DG_SERVER_REQUEST_FEEDER_INTERNAL_H

#include "server/request/feeder.h"

#include <pthread.h>

struct dg_feeder {
    struct dg_app *app;
    struct dg_work work;
    pthread_mutex_t lock;
    /* guarded by lock */
    struct dg_request *arrived;
    /* items that came back: planned, or (running) with their task over; in order of arrival */
    struct dg_item *back, **back_end;
    size_t n_requests;
    /* Used by the work alone. */
    /* bytes of the budget that items of fed requests have taken */
    size_t taken;
    /* the one whose turn it is first */
    struct dg_request *requests;
    /* items whose second hop is planned but not yet submitted; in order of arrival */
    struct dg_item *between, **between_end;
};

/* Have the planner plan an item's first hop, or its second. The item belongs to the planner until
 * it comes back. */
void dg_feeder_plan(struct dg_item *item);
void dg_feeder_plan_next(struct dg_item *item);
/* Cancel the planning of an item's first hop. True: it was still waiting, and will not come back.
 */
bool dg_feeder_plan_cancel(struct dg_item *item);

/* Update the feeder's sum after item->taken has changed; fed items only. The work's thread. */
void dg_feeder_count(struct dg_feeder *f, struct dg_item *item);
/* Write a fed item's answer, and count it in its request's `usage` and `answered`. If there is
 * none, or no memory to keep it until all others are there, write why, and count nothing. *err is
 * why it failed before, and becomes the item's. The work's thread. */
void dg_feeder_answer(struct dg_item *item, struct dg_error *err);

#endif
