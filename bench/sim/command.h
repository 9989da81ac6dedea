/* The command line of dragoman-sim. Plain data; the strings are argv's. One thread, main's. */
#ifndef DG_SIM_COMMAND_H
#define DG_SIM_COMMAND_H

#include "bench/sim/arrivals.h"

#include <stdbool.h>

struct dg_sim_command {
    bool measure, json, all;
    const char *model, *items, *out, *cost, *trace, *only, *bulk;
    const char *share[DG_SIM_CLASSES];
    size_t n_share;
    enum dg_sim_batching batching;
    uint32_t beam, threads, repeats, workers, rows, step_rows, sentences;
    uint64_t requests, queue_tokens, seed;
    int64_t phase, encode_tokens; /* -1: not given */
    double speed, rate, load, capacity, queue_seconds, outside_us, request_us;
};

/* Returns -1 to continue, otherwise the exit status: 0 after --help, 2 after wrong usage, which was
 * explained. */
int dg_sim_command_read(int argc, char *argv[], struct dg_sim_command *o);

#endif
