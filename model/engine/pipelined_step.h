/* Steps on a device that keeps the search: each is submitted before the previous one is read. Only
 * model/engine includes this; one thread at a time, the engine's. */
#ifndef DG_MODEL_ENGINE_PIPELINED_STEP_H
#define DG_MODEL_ENGINE_PIPELINED_STEP_H

#include "model/engine/internal.h"

/* Open e->pipelined if the device can keep a search; otherwise it stays NULL. DG_ENOMEM. */
int dg_pipelined_step_open(struct dg_engine *e, struct dg_error *err);
/* Run every possible number of rows of a step on the device twice, without sentences, so that it
 * chooses algorithms, loads kernels and records steps now, not during a request. Check the
 * backend's status afterwards. Without e->pipelined: nothing. */
void dg_pipelined_step_warm(struct dg_engine *e);
void dg_pipelined_step_close(struct dg_engine *e); /* without e->pipelined: nothing */
/* True if the next step can be submitted before the last one is read: no sentence that advances
 * needs the host for its choice. */
bool dg_pipelined_step_possible(const struct dg_engine *e);
/* Submit one step, then read the one before it. Returns rows submitted; when there were none, rows
 * read. */
uint32_t dg_pipelined_step_run(struct dg_engine *e);
/* Read all that was submitted; returns its rows. */
uint32_t dg_pipelined_step_drain(struct dg_engine *e);
/* Remove a sentence: its parts of submitted steps are ignored, and its place becomes free. Without
 * e->pipelined: nothing. */
void dg_pipelined_step_forget(struct dg_engine *e, struct dg_live *s);

#endif
