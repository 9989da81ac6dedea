/* Arrivals of a trace, or drawn, through the simulator, and what came of it. One thread at a
 * time. */
#ifndef DG_SIM_REPLAY_H
#define DG_SIM_REPLAY_H

#include "bench/sim/command.h"

/* Do what `o` asks for and append one object for each way of batching to list; prints a table
 * unless o->json. */
int dg_sim_replay(const struct dg_sim_command *o, struct dg_json *list, struct dg_error *err);

#endif
