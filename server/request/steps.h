/* The steps of a request (request.h); private to server/request/. Planner threads, one at a time,
 * unless stated otherwise. */
#ifndef DG_SERVER_REQUEST_STEPS_H
#define DG_SERVER_REQUEST_STEPS_H

#include "server/request/request.h"

/* Grace period of a fed request, so that the items finished by its deadline are not lost: it runs
 * from the deadline until the feeder starts to settle the other items, and once more from then
 * until the engine has released them. If the engine hangs that long, the finished items are lost
 * and the reply is 504. Writing the reply afterwards has no time limit. */
#define DG_PARTS_NS 10000000000ull

/* Planner steps; request is a struct dg_request. Read: read the body and start planning. Plan: plan
 * the item and submit it. Write: write the answer, or the events so far. A direct request is read
 * and planned by an HTTP thread. */
void dg_request_read(void *request);
void dg_request_plan(void *request);
void dg_request_write(void *request);
/* Write the body and headers of a whole reply. For a direct request: HTTP thread, after its wake.
 */
void dg_request_write_whole(struct dg_request *r);
/* Set the deadline from timeout_ms. May be called again until the deadline has passed. */
void dg_request_set_deadline(struct dg_request *r);

/* End, with err, a request that failed before any of its work started, and wake it. Planner thread,
 * or the thread that cancelled its work. */
void dg_request_fail(struct dg_request *r, const struct dg_error *err);
/* The executor that does the request's own work (its kind has `work`). */
struct dg_executor *dg_request_executor(const struct dg_request *r);
/* Cancel the running work of a request that has ended early. */
void dg_request_tell(struct dg_request *r);
/* Stop counting its bytes as waiting; took_ns and tokens as in dg_planner_planned. */
void dg_request_waited(struct dg_request *r, uint64_t took_ns, size_t tokens);
/* Report that its start is over, or its work: the later of the two calls wakes the request, which
 * may then be freed. */
void dg_request_arrive(struct dg_request *r);
/* Set r->version to the versions of the models used, in hop order. Does nothing for a fed request,
 * which would need one per item. */
void dg_request_say_version(struct dg_request *r);
/* Take bytes from the memory budget for a part of the request that gives them back itself.
 * DG_EAGAIN: other requests use the memory. */
int dg_request_reserve(const struct dg_request *r, size_t bytes, struct dg_error *err);
/* Take more bytes, which the request gives back when it is released. DG_EAGAIN as above. */
int dg_request_take(struct dg_request *r, size_t bytes, struct dg_error *err);
/* Free data that is not needed after the answer is written. */
void dg_request_release(struct dg_request *r);

/* [enum dg_request_shape] How HTTP threads answer a request. The entry for whole replies also
 * applies until the shape is known. */
extern const struct dg_http_later dg_request_later[3];
/* Write err as the reply. */
void dg_request_refuse(
    const struct dg_request *r, const struct dg_error *err, struct dg_http_reply *reply);

#endif
