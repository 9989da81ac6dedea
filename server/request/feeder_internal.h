/* The feeder, as feeder.c and feeder_plan.c see it. Any thread, with the lock if a field says
 * so. */
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
    /* first come first */
    struct dg_item *over, **over_end;
    struct dg_item *planned, **planned_end;
    size_t n_requests;
    /* The work's own. */
    /* bytes that items of fed requests have of the budget */
    size_t taken;
    struct dg_request *requests;
    /* planned for a second hop, first come first */
    struct dg_item *between, **between_end;
};

/* Have an item planned, or its second hop: it comes back in `planned`. Until then it is the
 * planner's. */
void dg_feeder_plan(struct dg_item *item);
void dg_feeder_plan_next(struct dg_item *item);
/* True: the item that was to be planned (for its first hop) waited, and will not come. */
bool dg_feeder_plan_cancel(struct dg_item *item);
/* Why an item that came back could not be planned; DG_OK: it is. */
int dg_feeder_planned_take(struct dg_item *item, struct dg_error *err);

/* What is taken for a fed item has changed. The work's thread. */
void dg_feeder_count(struct dg_feeder *f, struct dg_item *item);
/* A fed item's answer that waits for the others takes from what its request has reserved; one that
 * is longer takes more. DG_EAGAIN: others use it, and the answer is gone. The work's thread. */
int dg_feeder_keep(struct dg_item *item, struct dg_error *err);

#endif
