/* A server in fake time: its queue bound, its batching policy and what it learns of its own pace
 * (the real functions of server/schedule/batcher.c and server/schedule/pace.c), and workers whose
 * steps take what a cost model says. Answers what another policy, load or device would mean without
 * having them. No clock, no I/O; the same input gives the same result. One thread at a time. */
#ifndef DG_SIM_SIM_H
#define DG_SIM_SIM_H

#include "bench/sim/cost.h"
#include "server/schedule/batcher.h"

/* How sentences are put together. The others are for comparison; the static ones form a batch, in
 * order of arrival, from what waits when a worker is idle, and take nothing in before it has
 * ended. */
enum dg_sim_batching {
    DG_SIM_CONTINUOUS,   /* as the server does it */
    DG_SIM_FIFO,         /* refilled before every step in order of arrival; all that live advance */
    DG_SIM_STATIC_EARLY, /* a finished sentence is answered and leaves the batch */
    DG_SIM_STATIC_DROP,  /* it leaves the batch, but is answered with it */
    DG_SIM_STATIC_PAD,   /* its rows are computed on until the longest has ended */
    DG_SIM_BATCHINGS
};

const char *dg_sim_batching_name(enum dg_sim_batching b); /* static storage; "continuous", ... */

struct dg_sim_sentence {
    uint32_t source_tokens, max_target_tokens;
    uint32_t rows;   /* hypotheses it reserves; in its first step only one lives */
    uint32_t steps;  /* until its answer, or its first one */
    uint32_t again;  /* those of a second round, in the same place; 0: there is none */
    uint32_t blocks; /* of the cache, reserved */
};

struct dg_sim_request {
    uint64_t at_ns;
    uint32_t class; /* a number of the caller's */
    bool bulk;
    uint32_t first, n; /* sentences; all enter together or none */
    /* result */
    uint64_t done_ns; /* 0: refused */
};

struct dg_sim_options {
    enum dg_sim_batching batching;
    struct dg_batch_policy policy; /* but for its batching, which follows from the one above */
    uint32_t workers, max_rows, max_sentences; /* of each worker */
    uint32_t step_rows;    /* that advance in one step where more could; 0: all */
    uint32_t blocks;       /* of each worker's cache; 0 = without bound */
    uint64_t queue_tokens; /* bound of what waits; 0: queue_seconds counts */
    double queue_seconds;  /* 0 = without bound */
    /* so many at a time, the next when one is done, at its time instead of its own; 0: each at its
     * own */
    size_t under_way;
};

struct dg_sim_result {
    uint64_t end_ns;                            /* of the last step */
    uint64_t backlog_ns;                        /* when nothing waited any more for the last time */
    uint64_t backlog_sentences, backlog_tokens; /* answered by then, and their steps */
    uint64_t busy_ns, steps, rows, refused;
    uint64_t sentences, target_tokens; /* answered */
};

/* Run requests[n] (in order of arrival) and fill in when each was done; with under_way, when it
 * came, too.
 * DG_EINVAL: they are not in order, or a sentence can never fit. */
int dg_sim_run(const struct dg_sim_options *o, const struct dg_sim_cost *cost,
    const struct dg_sim_sentence *sentences, struct dg_sim_request *requests, size_t n,
    struct dg_sim_result *out, struct dg_error *err);

#endif
