/* Measures the cost of a step beside busy neighbours: workers share the cores, each with an equal
 * part of them, as the server's do. One thread at a time. */
#ifndef DG_SIM_COMPANY_H
#define DG_SIM_COMPANY_H

#include "bench/sim/probe.h"
#include "model/engine/engine.h"

struct dg_sim_company_options {
    const struct dg_model *model; /* borrowed */
    struct dg_engine_limits limits;
    uint32_t workers; /* at least 2 */
    uint32_t threads; /* per worker: its share of the cores, of which `alone` has all */
};

/* Time steps of `alone` while its neighbours rest, and of a worker with its share of the cores
 * while each neighbour takes as many steps, in turns. */
int dg_sim_company_measure(struct dg_sim_probe *alone, const struct dg_sim_company_options *o,
    struct dg_sim_company *out, struct dg_error *err);

#endif
