/* The feeder does what requests need besides HTTP threads and workers: it submits the items of fed
 * requests as the queue has room, one of each request in turn, so that such a request need not fit
 * into the queue; it submits second hops; and it writes the answers of fed items as they finish.
 * Runs on an executor; planner threads plan for it (planner.h), one item of a request at a time.
 * Any thread. */
#ifndef DG_SERVER_REQUEST_FEEDER_H
#define DG_SERVER_REQUEST_FEEDER_H

#include "server/request/request.h"

struct dg_feeder;

int dg_feeder_open(struct dg_app *app, struct dg_feeder **out, struct dg_error *err);
/* No request may be left, and the executor must be closed. NULL is fine. */
void dg_feeder_close(struct dg_feeder *f);

/* Feed a request; it is woken when all its items are over. DG_EAGAIN: too many are being fed. */
int dg_feeder_add(struct dg_feeder *f, struct dg_request *r, struct dg_error *err);
/* Hand an item back to the feeder: its task has ended, or a planner has planned its hop or failed
 * to. */
void dg_feeder_give(struct dg_feeder *f, struct dg_item *item);
/* Have the feeder look for new work, such as a request that has ended. */
void dg_feeder_poke(struct dg_feeder *f);
/* Number of requests being fed. */
size_t dg_feeder_requests(struct dg_feeder *f);
/* Move a request's finished lines to out; after its wake, these are all that remain. */
void dg_feeder_take_lines(struct dg_feeder *f, struct dg_request *r, struct dg_buffer *out);

#endif
