/* The command line of dragoman-sim. Plain data; the strings are argv's. */
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
    double beam, threads, repeats, phase, speed, rate, load, capacity, requests, workers,
        queue_tokens, queue_seconds, encode_tokens, outside_us, request_us, seed, rows, sentences;
};

/* argv[1] is the verb. DG_EINVAL says what is wrong. */
int dg_sim_command_read(int argc, char *argv[], struct dg_sim_command *o, struct dg_error *err);
/* The help text. Static storage. */
const char *dg_sim_command_help(void);

#endif
