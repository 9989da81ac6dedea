/* A call (call.h) whose answer is written as it comes, as server-sent events: "sentence" for each
 * sentence as soon as it is done, in any order; then "done" with what would have been the whole
 * answer, or "error". Through a pivot there are no single sentences. HTTP threads. */
#ifndef DG_SERVER_CALL_STREAM_H
#define DG_SERVER_CALL_STREAM_H

#include "base/buffer.h"
#include "server/call.h"

/* The call's jobs are planned. */
int dg_call_stream_open(struct dg_call *c, struct dg_error *err);
void dg_call_stream_free(struct dg_call_stream *s); /* NULL is fine */

/* Append the events for what has been done since; last: the task is over. */
void dg_call_stream_write(struct dg_call *c, bool last, struct dg_buffer *out);

#endif
