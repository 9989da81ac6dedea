/* Measures parallel workers that share the cores, without a server around them. One thread, main's,
 * which starts the workers. */
#ifndef DG_SIM_CROWD_H
#define DG_SIM_CROWD_H

#include "model/engine/engine.h"
#include "translate/translate.h"

struct dg_sim_crowd {
    uint32_t workers, threads; /* threads: of each worker */
    struct dg_engine_limits limits;
};

/* Measure jobs per second of jobs[n] while all workers are full: between the first fifth that is
 * answered and the last tenth. */
int dg_sim_crowd_run(const struct dg_translator *t, const struct dg_sim_crowd *o,
    struct dg_job *const *jobs, size_t n, double *jobs_per_s, struct dg_error *err);

#endif
