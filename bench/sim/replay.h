/* Runs arrivals, traced or drawn, through the simulator, and reports the results. One thread at a
 * time. */
#ifndef DG_SIM_REPLAY_H
#define DG_SIM_REPLAY_H

#include "bench/sim/command.h"

/* Run what `o` asks for and append one object for each kind of batching to list; prints a table
 * unless o->json. */
int dg_sim_replay(const struct dg_sim_command *o, struct dg_json *list, struct dg_error *err);

#endif
