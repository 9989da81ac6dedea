/* The steps of a request (request.h): private to server/request/. Planners' threads, one at a time
 * unless stated otherwise. */
#ifndef DG_SERVER_REQUEST_STEPS_H
#define DG_SERVER_REQUEST_STEPS_H

#include "server/request/request.h"

/* What a fed request has done by its deadline is worth this wait, until the feeder begins to settle
 * the rest, and from then on until the engine lets go of it. An engine that hangs so long costs it:
 * the reply is 504. The writing that follows may wait as long as it takes. */
#define DG_PARTS_NS 10000000000ull

/* The planner's steps for a struct dg_request: read its body and start planning; plan an item and
 * submit it; write its answer, or the events so far. A direct one is read and planned by an HTTP
 * thread. */
void dg_request_read(void *request);
void dg_request_plan(void *request);
void dg_request_write(void *request);
/* Write the whole reply of a direct request. HTTP thread, after its wake. */
void dg_request_write_whole(struct dg_request *r);
/* Sets its deadline from its timeout_ms; it may be set again until it has passed. */
void dg_request_set_deadline(struct dg_request *r);

/* It failed before anything was under way. A planner's thread, or the one that cancelled its work.
 */
void dg_request_fail(struct dg_request *r, const struct dg_error *err);
/* It has ended early; its running work must end, too. */
void dg_request_tell(struct dg_request *r);
/* Its bytes wait no longer; took_ns and tokens as dg_planner_planned has them. */
void dg_request_waited(struct dg_request *r, uint64_t took_ns, size_t tokens);
/* Its start is over, or its end: the last of the two wakes it, and it may be freed. */
void dg_request_arrive(struct dg_request *r);
/* Note the versions of the models that have a part in it, in order; of a fed request that would be
 * one an item. */
void dg_request_say_version(struct dg_request *r);
/* Take this much of the budget for a part of the request, which gives it back itself. DG_EAGAIN:
 * others use it. */
int dg_request_reserve(const struct dg_request *r, size_t bytes, struct dg_error *err);
/* Take this much more, which the request gives back when it is released. DG_EAGAIN, too. */
int dg_request_take(struct dg_request *r, size_t bytes, struct dg_error *err);
/* Free data that is not needed after the answer is written. */
void dg_request_release(struct dg_request *r);

/* How HTTP threads answer a request of each shape; a whole one, too, until its shape is known. */
extern const struct dg_http_later dg_request_later[3];
/* The reply that is an error. */
void dg_request_refuse(
    const struct dg_request *r, const struct dg_error *err, struct dg_http_reply *reply);

#endif
