/* Threads that read request bodies, plan texts and write answers, so that HTTP threads only move
 * bytes and work on the shortest texts. There are three lines, each with its own threads, so that
 * short texts never wait for long ones: all steps of short texts; reading and writing of long ones,
 * which takes milliseconds; planning of long ones, which may take seconds.
 *
 * The first admission. The time that waiting bytes will take, by the measured speed of recent work,
 * is limited: a body that would exceed the limit is refused without being read. Any thread. */
#ifndef DG_SERVER_REQUEST_PLANNER_H
#define DG_SERVER_REQUEST_PLANNER_H

#include "base/executor.h"

#include <stddef.h>

struct dg_planner;

/* Largest body that HTTP threads read, plan and answer themselves: handing so little to another
 * thread and back took a third of a cached sentence's CPU time. Planning 1,024 bytes of hostile
 * text takes at most 0.74 ms (231 kinds, one core), so such a body delays no other connection. */
#define DG_DIRECT_BYTES 512
#define DG_SHORT_BYTES 4096 /* largest short text, or body of short texts */

struct dg_planner_options {
    /* threads for short texts, and for each of the two lines of long ones */
    uint32_t short_threads, long_threads;
    /* longest time that a text may wait to be planned, estimated from recent speed */
    double max_seconds;
};

/* Steps of the work on a text. */
enum dg_planner_step { DG_STEP_READ, DG_STEP_PLAN, DG_STEP_WRITE };

int dg_planner_open(
    const struct dg_planner_options *options, struct dg_planner **out, struct dg_error *err);
/* Wait for running work; work that has not started is not called. NULL is fine. */
void dg_planner_close(struct dg_planner *p);

/* Change max_seconds from now on. */
void dg_planner_set_bound(struct dg_planner *p, double max_seconds);

/* Admit a body of this many bytes. DG_EAGAIN: too much is waiting. DG_OK: it counts as waiting
 * until dg_planner_planned. */
int dg_planner_admit(struct dg_planner *p, size_t bytes, struct dg_error *err);
/* Stop counting a body as waiting. took_ns: time of reading and planning it; 0: it was abandoned
 * and does not count for the speed. tokens: its tokens; 0: not planned. */
void dg_planner_planned(struct dg_planner *p, size_t bytes, uint64_t took_ns, size_t tokens);
/* Estimated tokens of this many bytes, from recent texts; 0 until there were some. */
size_t dg_planner_tokens(struct dg_planner *p, size_t bytes);

/* Run w soon, as a step for a text of this many bytes. False: closed. */
bool dg_planner_post(
    struct dg_planner *p, enum dg_planner_step step, size_t bytes, struct dg_work *w);
/* Cancel w, which was posted with the same arguments. True: it was waiting, and will not be called.
 */
bool dg_planner_cancel(
    struct dg_planner *p, enum dg_planner_step step, size_t bytes, struct dg_work *w);

#endif
