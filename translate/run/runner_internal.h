/* A runner as its two files see it: runner.c (its workers), runner_call.c (the threads that call).
 * Each field names the lock that guards it. */
#ifndef DG_TRANSLATE_RUN_RUNNER_INTERNAL_H
#define DG_TRANSLATE_RUN_RUNNER_INTERNAL_H

#include "translate/run/runner.h"

#include <pthread.h>

struct dg_runner_worker {
    struct dg_runner *runner;
    struct dg_backend *be;
    struct dg_engine *engine;
    pthread_t thread;
    bool started;
    /* Guarded by the runner's lock: number of sentences taken and not settled. */
    size_t live;
    /* The worker thread's own: a sentence that the engine had no room for. */
    struct dg_runner_item *held;
};

/* One sentence to translate; its address is the engine's id. */
struct dg_runner_item {
    struct dg_runner_call *run;
    size_t job, sentence;
    /* the worker that has taken it; NULL: none, or it is settled */
    struct dg_runner_worker *worker;
};

/* A call of dg_runner_run, on its thread's stack. The runner's lock guards everything except the
 * jobs' lock and its fields. */
struct dg_runner_call {
    struct dg_runner_call *next;
    struct dg_job *const *jobs;
    size_t n_jobs;
    /* [n_items], of which `taken` were taken and `live` are in engines */
    struct dg_runner_item *items;
    size_t n_items, taken, live;
    /* [n_jobs] number of sentences not yet reported; the calling thread's own */
    size_t *untold;
    /* [n_items] the job of each accepted sentence, in order of acceptance; n_accepted so far */
    size_t *accepted;
    size_t n_accepted;
    /* the first error; DG_OK: none. failed: the job whose sentence has it; SIZE_MAX: no job's */
    struct dg_error err;
    size_t failed;
    pthread_cond_t changed;
    /* guards the jobs: sentences of one may be in several engines */
    pthread_mutex_t jobs_lock;
};

struct dg_runner {
    struct dg_runner_worker *workers;
    int n_workers;
    pthread_mutex_t lock;
    /* guarded by the lock: runs in progress, in the order in which to take from them */
    struct dg_runner_call *first;
    bool stopping;
    /* signalled when there is something to take, or the runner is closing */
    pthread_cond_t work;
};

/* True if the call has an error. The runner's lock is held. */
bool dg_runner_failed(const struct dg_runner_call *run);

#endif
