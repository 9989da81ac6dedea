/* Threads for occasional or scheduled work that would block other threads. A work item runs on one
 * thread at a time; if it is posted while it runs, it runs once more. Posting allocates nothing and
 * fails only if the queue is bounded and full, or closed. Any thread. */
#ifndef DG_BASE_EXECUTOR_H
#define DG_BASE_EXECUTOR_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_executor;

/* Owned by the code that posts it, zeroed except run and arg. It may be freed after it was called
 * or cancelled, also within run. */
struct dg_work {
    void (*run)(void *arg);
    void *arg;
    /* private to the executor */
    struct dg_work *before, *after;
    uint64_t at_ns;
    uint8_t where;
};

struct dg_executor_options {
    /* name of the threads (base/thread_name.h); borrowed for as long as the executor is open */
    const char *name;
    uint32_t threads;
    /* maximum number of waiting items; 0: any number */
    uint32_t max_ready;
    /* the threads' nice value, which threads that they start inherit; 0: the opening thread's */
    int nice;
};

int dg_executor_open(
    const struct dg_executor_options *options, struct dg_executor **out, struct dg_error *err);
/* Waits for running work; work that has not started never runs. NULL is allowed. */
void dg_executor_close(struct dg_executor *e);

/* Run w soon, in posting order. False: the queue is full or closed. */
bool dg_executor_post(struct dg_executor *e, struct dg_work *w);
/* Run w at this time of dg_clock_ns; if it is already scheduled, at the earlier time. */
void dg_executor_post_at(struct dg_executor *e, struct dg_work *w, uint64_t at_ns);
/* True: w was waiting and will not be called. False: it is running or was not waiting. */
bool dg_executor_cancel(struct dg_executor *e, struct dg_work *w);

#endif
