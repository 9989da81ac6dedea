/* Times an engine's steps: the cost of a row, a position, a joining sentence. One thread at a time.
 */
#ifndef DG_SIM_PROBE_H
#define DG_SIM_PROBE_H

#include "bench/sim/cost.h"
#include "model/engine/engine.h"

#define DG_SIM_MAX_TIMES 1024

struct dg_sim_probe {
    struct dg_engine *engine;       /* borrowed; must hold no sentences */
    const struct dg_config *config; /* borrowed */
    uint32_t max_positions, beam, threads, max_rows, max_sentences, blocks;
    uint32_t repeats;
    /* result */
    struct dg_sim_cost cost;
    /* private */
    uint64_t next_id;
    double times[DG_SIM_MAX_TIMES];
    size_t n_times;
};

/* Number of sentences in a step that uses all rows. */
uint32_t dg_sim_probe_most(const struct dg_sim_probe *p);

int dg_sim_probe_run(struct dg_sim_probe *p, struct dg_error *err);

/* Median microseconds of a step of n sentences with all their rows and a short context. */
int dg_sim_probe_rows(struct dg_sim_probe *p, uint32_t n, double *us, struct dg_error *err);

/* Nanoseconds: CPU time of the calling thread if the engine uses no other, which a busy machine
 * does not disturb; otherwise wall-clock time. */
uint64_t dg_sim_probe_now(const struct dg_sim_probe *p);

#endif
