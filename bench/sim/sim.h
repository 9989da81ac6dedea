/* Simulates a server in fake time: its queue limit, its batching policy and its estimate of its own
 * pace (the real functions of server/schedule/batcher.c and server/schedule/pace.c), and workers
 * whose steps take as long as a cost model says. Shows the effect of another policy, load or device
 * without having them. No clock, no I/O; the same input gives the same result. One thread at a
 * time. */
#ifndef DG_SIM_SIM_H
#define DG_SIM_SIM_H

#include "bench/sim/cost.h"
#include "server/schedule/batcher.h"

/* How sentences are batched. All but the first are for comparison. The static ones form a batch
 * from the waiting sentences, in order of arrival, when a worker is idle, and admit nothing before
 * it has ended. */
enum dg_sim_batching {
    DG_SIM_CONTINUOUS,   /* as the server does it */
    DG_SIM_FIFO,         /* refilled before every step in order of arrival; all sentences advance */
    DG_SIM_STATIC_EARLY, /* a finished sentence is answered and leaves the batch */
    DG_SIM_STATIC_DROP,  /* it leaves the batch, but is answered with it */
    DG_SIM_STATIC_PAD,   /* its rows are computed until the longest has ended */
    DG_SIM_BATCHINGS
};

const char *dg_sim_batching_name(enum dg_sim_batching b); /* static storage; "continuous", ... */

struct dg_sim_sentence {
    uint32_t source_tokens, max_target_tokens;
    uint32_t rows;   /* hypotheses that it reserves; in its first step it has only one */
    uint32_t steps;  /* until its answer, or the first one */
    uint32_t again;  /* steps of a second round, in the same place; 0: none */
    uint32_t blocks; /* reserved in the cache */
};

struct dg_sim_request {
    uint64_t at_ns;
    uint32_t class; /* chosen by the caller */
    bool bulk;
    uint32_t first, n; /* sentences; the queue takes all or none */
    /* result */
    uint64_t done_ns; /* 0: refused */
};

struct dg_sim_options {
    enum dg_sim_batching batching;
    struct dg_batch_policy policy; /* except its batching, which follows from the field above */
    uint32_t workers, max_rows, max_sentences; /* maxima: of each worker */
    uint32_t step_rows;                        /* maximum that advances in one step; 0: all */
    uint32_t blocks;                           /* in each worker's cache; 0 = unlimited */
    uint64_t queue_tokens;                     /* limit of the backlog; 0: queue_seconds applies */
    double queue_seconds;                      /* 0 = unlimited */
    /* number of requests in flight: the next one arrives when one is done, not at its own time; 0:
     * each arrives at its own time */
    size_t under_way;
};

struct dg_sim_result {
    uint64_t end_ns;            /* end of the last step */
    uint64_t backlog_ns;        /* when the queue became empty for the last time */
    uint64_t backlog_sentences; /* answered by then */
    uint64_t busy_ns, steps, rows, refused;
    uint64_t sentences, target_tokens; /* answered */
};

/* Run requests[n] (in order of arrival) and set when each was done and, with under_way, when it
 * arrived. DG_EINVAL: they are not in order, or a sentence can never fit. */
int dg_sim_run(const struct dg_sim_options *o, const struct dg_sim_cost *cost,
    const struct dg_sim_sentence *sentences, struct dg_sim_request *requests, size_t n,
    struct dg_sim_result *out, struct dg_error *err);

#endif
