/* Workers side by side that share the cores: what they do together, without a server around
 * them. One thread, main's; the workers that it starts are its own. */
#ifndef DG_SIM_CROWD_H
#define DG_SIM_CROWD_H

#include "model/engine/engine.h"
#include "translate/translate.h"

struct dg_sim_crowd {
    uint32_t workers, threads; /* of each worker */
    struct dg_engine_limits limits;
};

/* Jobs a second of jobs[n] while all workers are full: between the first fifth that is answered and
 * the last tenth. */
int dg_sim_crowd_run(const struct dg_translator *t, const struct dg_sim_crowd *o,
    struct dg_job *const *jobs, size_t n, double *jobs_per_s, struct dg_error *err);

#endif
