/* Measures the cost model of a real bundle on this machine: engine steps timed by rows, positions
 * and joining sentences; the steps of real sentences; and how well the model predicts a run of the
 * engine. One thread at a time. */
#ifndef DG_SIM_MEASURE_H
#define DG_SIM_MEASURE_H

#include "bench/sim/command.h"

/* An object as dg_sim_cost_read takes it, with "items", "engine" (throughput of the items, measured
 * and simulated) and what was measured on. The caller frees it. */
int dg_sim_measure(const struct dg_sim_command *o, struct dg_json **out, struct dg_error *err);

#endif
