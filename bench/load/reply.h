/* Reads one HTTP/1.1 reply as it arrives. One thread at a time. */
#ifndef DG_LOAD_REPLY_H
#define DG_LOAD_REPLY_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* The parts of Server-Timing, in milliseconds; -1: not given. */
enum dg_load_timing {
    DG_LOAD_PLAN,
    DG_LOAD_QUEUE,
    DG_LOAD_ENCODE,
    DG_LOAD_DECODE,
    DG_LOAD_TOTAL,
    DG_LOAD_TIMINGS
};

struct dg_load_reply {
    struct dg_buffer in; /* everything received */
    int status;          /* 0 until the headers have arrived */
    size_t body_at, body_len;
    bool until_end; /* no length given: the body ends with the connection */
    bool close;     /* the server will close the connection */
    float timing[DG_LOAD_TIMINGS];
};

void dg_load_reply_init(struct dg_load_reply *r);
void dg_load_reply_reset(struct dg_load_reply *r); /* for the next one; keeps the memory */
void dg_load_reply_deinit(struct dg_load_reply *r);

/* Call it when more bytes are in r->in, or the connection has ended. 1: the reply is complete (body
 * at in.data + body_at, body_len bytes); 0: not yet; -1: this is no reply that we can read
 * (chunked, or not HTTP). */
int dg_load_reply_feed(struct dg_load_reply *r, bool ended);

#endif
