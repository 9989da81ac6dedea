/* Runs many jobs through engines until all are done: for the command line, the library and the
 * trainer's validation (the server has its own worker). Each worker is a thread with an engine of
 * its own; sentences join as room allows and are answered in any order.
 *
 * Open and close: one thread. dg_runner_run: any thread, also several at a time: the sentences of
 * their runs share the engines, taken from each run in turn; no answer depends on the sharing. */
#ifndef DG_TRANSLATE_RUN_RUNNER_H
#define DG_TRANSLATE_RUN_RUNNER_H

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
/* No run may be in progress. NULL is fine. */
void dg_runner_close(struct dg_runner *r);

/* Run every sentence of jobs[n] to its end. done (optional) is called by the caller's thread after
 * each finished job. The first error ends the run. */
int dg_runner_run(struct dg_runner *r, struct dg_job *const *jobs, size_t n,
    void (*done)(void *arg, size_t finished, size_t n), void *arg, struct dg_error *err);

/* Callbacks during a run, both called by the thread that called dg_runner_run_watched. */
struct dg_runner_watch {
    void *arg;
    /* A sentence of jobs[job] was accepted. No other one is until this returns, so that the job may
     * be read (dg_job_finish_part). NULL: not wanted. */
    void (*accepted)(void *arg, size_t job);
    /* Also called for each accepted sentence, but further ones may be accepted meanwhile; `whole`:
     * it was the job's last one. A nonzero return ends the run with DG_ECANCELED. Not called for a
     * job without sentences. NULL: not wanted. */
    int (*told)(void *arg, size_t job, bool whole);
};
/* *failed (optional): after an error, the job whose sentence caused it; SIZE_MAX: none did. */
int dg_runner_run_watched(struct dg_runner *r, struct dg_job *const *jobs, size_t n,
    const struct dg_runner_watch *watch, size_t *failed, struct dg_error *err);

#endif
