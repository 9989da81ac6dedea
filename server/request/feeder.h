/* What requests need besides the HTTP threads and the workers: items of fed requests are put into
 * the queue as it has room for them, one of each request in turn, so that such a request need not
 * fit into the queue; second hops are put in; answers of fed items are written as they come. Runs
 * on an executor; the planner's threads plan for it (planner.h), one item of a request at a time.
 * Any thread. */
#ifndef DG_SERVER_REQUEST_FEEDER_H
#define DG_SERVER_REQUEST_FEEDER_H

#include "server/request/request.h"

struct dg_feeder;

int dg_feeder_open(struct dg_app *app, struct dg_feeder **out, struct dg_error *err);
/* No request may be left, and the executor must be closed. NULL is fine. */
void dg_feeder_close(struct dg_feeder *f);

/* Feed a request; it is woken when all its items are over. DG_EAGAIN: too many are under way. */
int dg_feeder_add(struct dg_feeder *f, struct dg_request *r, struct dg_error *err);
/* An item's task has ended: continue with the item or feed its request. */
void dg_feeder_over(struct dg_feeder *f, struct dg_item *item);
/* A request has ended: check for new work. */
void dg_feeder_poke(struct dg_feeder *f);
/* Requests under way. */
size_t dg_feeder_requests(struct dg_feeder *f);
/* Move a request's lines that are ready to out; once it was woken they are all. */
void dg_feeder_take_lines(struct dg_feeder *f, struct dg_request *r, struct dg_buffer *out);

#endif
