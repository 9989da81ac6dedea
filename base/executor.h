/* Threads for work that comes now and then or at a time: what would otherwise hold up a thread that
 * has other things to do. A work runs on one thread at a time: posted while it runs, it runs once
 * more. Nothing is allocated, so posting fails only where a line is bounded and full. Any
 * thread. */
#ifndef DG_BASE_EXECUTOR_H
#define DG_BASE_EXECUTOR_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_executor;

/* Owned by the code that posts it, zeroed but for run and arg. It may be freed once it has been
 * called or cancelled, also from within run. */
struct dg_work {
    void (*run)(void *arg);
    void *arg;
    /* The executor's own. */
    struct dg_work *before, *after;
    uint64_t at_ns;
    uint8_t where;
};

struct dg_executor_options {
    uint32_t threads;
    /* works that may wait for a thread; 0: any number */
    uint32_t max_ready;
    /* added to the threads' nice value; a thread that they start inherits it */
    int nice;
};

int dg_executor_open(
    const struct dg_executor_options *options, struct dg_executor **out, struct dg_error *err);
/* Waits for the work that runs; work that has not begun is not called. NULL is fine. */
void dg_executor_close(struct dg_executor *e);

/* Run w soon, in the order of posting. False: the line is full, or closed. */
bool dg_executor_post(struct dg_executor *e, struct dg_work *w);
/* Run w at that time of dg_clock_ns; if it waits already, at the earlier of both times. */
void dg_executor_post_at(struct dg_executor *e, struct dg_work *w, uint64_t at_ns);
/* True: w waited and will not be called. False: it is running, or did not wait. */
bool dg_executor_cancel(struct dg_executor *e, struct dg_work *w);

#endif
