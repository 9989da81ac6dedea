/* Measures workers that share the cores, each with an equal part of them, as the server's do: the
 * cost of a step beside busy neighbours, and the jobs a second of all. One thread at a time. */
#ifndef DG_SIM_COMPANY_H
#define DG_SIM_COMPANY_H

#include "bench/sim/probe.h"
#include "model/engine/engine.h"
#include "translate/translate.h"

struct dg_sim_company_options {
    const struct dg_model *model; /* borrowed; dg_sim_company_run has the translator's */
    struct dg_engine_limits limits;
    uint32_t workers;
    uint32_t threads; /* per worker: its share of the cores */
};

/* At least 2 workers. Time steps of `alone`, which has all cores, while its neighbours rest, and of
 * a worker with its share of the cores while each neighbour takes as many steps, in turns. */
int dg_sim_company_measure(struct dg_sim_probe *alone, const struct dg_sim_company_options *o,
    struct dg_sim_company *out, struct dg_error *err);

/* Measure jobs per second of jobs[n] while all workers are full: between the first fifth that is
 * answered and the last tenth. */
int dg_sim_company_run(const struct dg_translator *t, const struct dg_sim_company_options *o,
    struct dg_job *const *jobs, size_t n, double *jobs_per_s, struct dg_error *err);

#endif
