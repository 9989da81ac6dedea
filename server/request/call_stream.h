/* A call (call.h) whose answer is written as it comes, as server-sent events: "sentence" for each
 * sentence as soon as it is done, in any order; then "done" with what would have been the whole
 * answer, or "error". Through a pivot (pivot.h) sentences come as the second hop finishes them.
 * HTTP threads, except as said. */
#ifndef DG_SERVER_REQUEST_CALL_STREAM_H
#define DG_SERVER_REQUEST_CALL_STREAM_H

#include "base/buffer.h"
#include "server/request/call.h"

/* The call's jobs are planned; through a pivot those of its first hop. */
int dg_call_stream_open(struct dg_call *c, struct dg_error *err);
/* Through a pivot: these jobs [n] are those of the second hop. Once, before it is exchanged. */
int dg_call_stream_plan(
    struct dg_call_stream *s, struct dg_job *const *jobs, size_t n, struct dg_error *err);
void dg_call_stream_free(struct dg_call_stream *s); /* NULL is fine */

/* Append the events for what has been done since; last: the task is over. */
/* The deadline passed and the task has not ended: the last event says so. */
void dg_call_stream_late(struct dg_call *c, struct dg_buffer *out);
void dg_call_stream_write(struct dg_call *c, bool last, struct dg_buffer *out);

#endif
