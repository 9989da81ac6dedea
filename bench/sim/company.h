/* What a step costs beside busy neighbours: workers share the cores, each with an equal part of
 * them, as the server's do. One thread at a time. */
#ifndef DG_SIM_COMPANY_H
#define DG_SIM_COMPANY_H

#include "bench/sim/probe.h"
#include "model/engine/engine.h"

struct dg_sim_company_options {
    const struct dg_model *model; /* borrowed */
    struct dg_engine_limits limits;
    uint32_t workers; /* at least 2 */
    uint32_t threads; /* of each: its share of the cores that `alone` has for itself */
};

/* Steps of `alone`, whose neighbours rest, and of one with its share of the cores beside as many
 * steps of each neighbour, in turns. */
int dg_sim_company_measure(struct dg_sim_probe *alone, const struct dg_sim_company_options *o,
    struct dg_sim_company *out, struct dg_error *err);

#endif
