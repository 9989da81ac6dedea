/* Threads for the work on texts: request bodies are read, texts planned and answers written there,
 * so that HTTP threads only move bytes and work on the shortest texts. Three lines, each with
 * threads of its own, so that short texts wait for no long one: short ones from the first to the
 * last; long ones' bodies and answers, which take milliseconds; the planning of long ones, which
 * may take seconds.
 *
 * The first admission. Waiting work is limited in bytes by the measured time of recent work: a body
 * is refused because of the work before it, without being read. Any thread. */
#ifndef DG_SERVER_REQUEST_PLANNER_H
#define DG_SERVER_REQUEST_PLANNER_H

#include "base/executor.h"

#include <stddef.h>

struct dg_planner;

/* Of a body that HTTP threads read, plan and answer by themselves: handing so little on and back
 * took a third of a cached sentence's CPU time. Planning 1,024 bytes of hostile text takes at most
 * 0.74 ms (231 kinds, one core), so such a body delays no other connection. */
#define DG_DIRECT_BYTES 512
#define DG_SHORT_BYTES 4096 /* of a short text, or a body of short texts */

struct dg_planner_options {
    /* for short texts, and for each line of long ones */
    uint32_t short_threads, long_threads;
    /* longest time that a text may wait to be planned, estimated from recent speed */
    double max_seconds;
};

/* Options for a text. */
enum dg_planner_step { DG_STEP_READ, DG_STEP_PLAN, DG_STEP_WRITE };

int dg_planner_open(
    const struct dg_planner_options *options, struct dg_planner **out, struct dg_error *err);
/* Waits for the work that runs; work that has not begun is not called. NULL is fine. */
void dg_planner_close(struct dg_planner *p);

/* Another max_seconds from now on. */
void dg_planner_set_bound(struct dg_planner *p, double max_seconds);

/* A body of this many bytes arrived. DG_EAGAIN: too much waits before it. DG_OK: it counts as
 * waiting until dg_planner_planned. */
int dg_planner_admit(struct dg_planner *p, size_t bytes, struct dg_error *err);
/* It no longer waits. took_ns: time of reading and planning it; 0: it was abandoned and does not
 * count for the speed. tokens: its tokens, if planned. */
void dg_planner_planned(struct dg_planner *p, size_t bytes, uint64_t took_ns, size_t tokens);
/* Estimated tokens of this many bytes, from recent texts; 0 until there were some. */
size_t dg_planner_tokens(struct dg_planner *p, size_t bytes);

/* Run w soon, as a step for a text of this many bytes. False: closed. */
bool dg_planner_post(
    struct dg_planner *p, enum dg_planner_step step, size_t bytes, struct dg_work *w);
/* True: w, posted so, waited and will not be called. */
bool dg_planner_cancel(
    struct dg_planner *p, enum dg_planner_step step, size_t bytes, struct dg_work *w);

struct dg_planner_load {
    /* bytes that wait to be planned, and for how long */
    size_t short_bytes, long_bytes;
    double short_seconds, long_seconds;
};
void dg_planner_load(struct dg_planner *p, struct dg_planner_load *out);

#endif
