/* The caller's side of a run: lists its sentences and reports each accepted one, until all are
 * accepted or one failed. */
#include "translate/run/runner_internal.h"

#include <stdlib.h>

static int list_items(struct dg_runner_call *run, struct dg_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < run->n_jobs; i++)
        run->n_items += dg_job_sentences(run->jobs[i]);
    const size_t room = run->n_items ? run->n_items : 1;
    run->items = malloc(room * sizeof *run->items);
    run->accepted = malloc(room * sizeof *run->accepted);
    run->untold = malloc((run->n_jobs ? run->n_jobs : 1) * sizeof *run->untold);
    if (!run->items || !run->accepted || !run->untold)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu sentences", run->n_items);
    for (size_t i = 0; i < run->n_jobs; i++) {
        run->untold[i] = dg_job_sentences(run->jobs[i]);
        for (size_t s = 0; s < run->untold[i]; s++)
            run->items[at++] = (struct dg_runner_item){.run = run, .job = i, .sentence = s};
    }
    return DG_OK;
}

/* Reports one accepted sentence, without the runner's lock. False: the caller ends the run. */
static bool tell(struct dg_runner_call *run, const struct dg_runner_watch *watch, size_t job)
{
    const bool whole = --run->untold[job] == 0;
    if (watch->accepted) {
        pthread_mutex_lock(&run->jobs_lock);
        watch->accepted(watch->arg, job);
        pthread_mutex_unlock(&run->jobs_lock);
    }
    return !watch->told || watch->told(watch->arg, job, whole) == 0;
}

/* Waits until every sentence is accepted and reported, or the run failed and left the engines. */
static void attend(
    struct dg_runner *r, struct dg_runner_call *run, const struct dg_runner_watch *watch)
{
    size_t told = 0;
    while (!dg_runner_failed(run) && told < run->n_items) {
        if (told == run->n_accepted) {
            pthread_cond_wait(&run->changed, &r->lock);
            continue;
        }
        const size_t job = run->accepted[told++];
        if (!watch)
            continue;
        pthread_mutex_unlock(&r->lock);
        const bool go_on = tell(run, watch, job);
        pthread_mutex_lock(&r->lock);
        if (!go_on)
            dg_error_set(&run->err, DG_ECANCELED, "the caller ended it");
    }
    while (run->live)
        pthread_cond_wait(&run->changed, &r->lock);
}

int dg_runner_run_watched(struct dg_runner *r, struct dg_job *const *jobs, size_t n,
    const struct dg_runner_watch *watch, size_t *failed, struct dg_error *err)
{
    struct dg_runner_call run = {.jobs = jobs, .n_jobs = n, .failed = SIZE_MAX};
    pthread_cond_init(&run.changed, NULL);
    pthread_mutex_init(&run.jobs_lock, NULL);
    int rc = list_items(&run, err);
    if (rc == DG_OK && run.n_items) {
        pthread_mutex_lock(&r->lock);
        struct dg_runner_call **at = &r->first;
        while (*at)
            at = &(*at)->next;
        *at = &run;
        pthread_cond_broadcast(&r->work);
        attend(r, &run, watch);
        for (at = &r->first; *at != &run;)
            at = &(*at)->next;
        *at = run.next;
        pthread_mutex_unlock(&r->lock);
        if (dg_runner_failed(&run))
            rc = dg_error_field(err, run.err.code, run.err.field, "%s", run.err.message);
    }
    if (failed)
        *failed = run.failed;
    free(run.items);
    free(run.accepted);
    free(run.untold);
    pthread_mutex_destroy(&run.jobs_lock);
    pthread_cond_destroy(&run.changed);
    return rc;
}

struct counted {
    void (*done)(void *arg, size_t finished, size_t n);
    void *arg;
    size_t finished, n;
};

static int count(void *arg, size_t job, bool whole)
{
    struct counted *c = arg;
    (void)job;
    if (whole)
        c->done(c->arg, ++c->finished, c->n);
    return 0;
}

int dg_runner_run(struct dg_runner *r, struct dg_job *const *jobs, size_t n,
    void (*done)(void *arg, size_t finished, size_t n), void *arg, struct dg_error *err)
{
    struct counted c = {.done = done, .arg = arg, .n = n};
    for (size_t i = 0; i < n && done; i++) /* jobs without sentences are finished already */
        c.finished += dg_job_sentences(jobs[i]) == 0;
    const struct dg_runner_watch watch = {.arg = &c, .told = count};
    return dg_runner_run_watched(r, jobs, n, done ? &watch : NULL, NULL, err);
}
