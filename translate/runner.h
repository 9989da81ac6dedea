/* Many jobs through engines until all are done: for the command line and the trainer's validation
 * (the server has its own worker). One engine and thread per worker; sentences join as room allows
 * and are answered in any order. */
#ifndef DG_TRANSLATE_RUNNER_H
#define DG_TRANSLATE_RUNNER_H

#include "kernels/device.h"
#include "translate/translate.h"

struct dg_runner;

/* `workers` engines over the translator's model, each with a backend of its own of `threads` cores.
 * limits may be NULL. */
int dg_runner_open(const struct dg_translator *t, int workers, int threads,
    const struct dg_engine_limits *limits, struct dg_runner **out, struct dg_error *err);
/* The same on any device: the translator's model must have been loaded on it. */
int dg_runner_open_on(const struct dg_translator *t, int workers, const struct dg_device *device,
    const struct dg_engine_limits *limits, struct dg_runner **out, struct dg_error *err);
void dg_runner_close(struct dg_runner *r); /* NULL is fine */

/* Run every sentence of jobs[n] to its end. done (optional) is called after each finished job, from
 * any worker, one call at a time. The first error ends the run. */
int dg_runner_run(struct dg_runner *r, struct dg_job *const *jobs, size_t n,
    void (*done)(void *arg, size_t finished, size_t n), void *arg, struct dg_error *err);

#endif
