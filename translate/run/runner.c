/* Runs wait in a list. A worker takes sentences from them while its engine has room, one from each
 * run in turn, and no more than its share of all sentences, so that a few sentences are spread over
 * the workers. The calling thread sleeps until one of its sentences is accepted. */
#include "translate/run/runner_internal.h"

#include "base/thread_name.h"

#include <signal.h>
#include <stdlib.h>

static void *work(void *arg);

/* Starts the worker's thread with all signals blocked: they are for the program's own threads. */
static int start(struct dg_runner_worker *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    w->started = rc == 0;
    return rc;
}

int dg_runner_open(const struct dg_translator *t, int workers, int threads,
    const struct dg_engine_limits *limits, struct dg_runner **out, struct dg_error *err)
{
    const struct dg_device cpu = {.threads = threads};
    return dg_runner_open_on(t, workers, &cpu, limits, out, err);
}

int dg_runner_open_on(const struct dg_translator *t, int workers, const struct dg_device *device,
    const struct dg_engine_limits *limits, struct dg_runner **out, struct dg_error *err)
{
    struct dg_runner *r = calloc(1, sizeof *r);
    int rc = DG_OK;
    if (!r || !(r->workers = calloc((size_t)workers, sizeof *r->workers))) {
        free(r);
        return dg_error_set(err, DG_ENOMEM, "no memory for %d workers", workers);
    }
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->work, NULL);
    r->n_workers = workers;
    for (int i = 0; i < workers && !rc; i++) {
        struct dg_runner_worker *w = &r->workers[i];
        w->runner = r;
        rc = dg_device_open(device, &w->be, err);
        if (!rc)
            rc = dg_engine_open(dg_translator_model(t), w->be, limits, &w->engine, err);
        if (!rc && start(w) && i == 0) /* fewer threads are slower, not wrong */
            rc = dg_error_set(err, DG_ENOMEM, "a thread cannot be started");
    }
    if (rc) {
        dg_runner_close(r);
        return rc;
    }
    *out = r;
    return DG_OK;
}

void dg_runner_close(struct dg_runner *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stopping = true;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    for (int i = 0; i < r->n_workers; i++) {
        if (r->workers[i].started)
            pthread_join(r->workers[i].thread, NULL);
        dg_engine_close(r->workers[i].engine);
        dg_device_close(r->workers[i].be);
    }
    pthread_cond_destroy(&r->work);
    pthread_mutex_destroy(&r->lock);
    free(r->workers);
    free(r);
}

/* ---- with the runner's lock held --------------------------------------------------------- */

bool dg_runner_failed(const struct dg_runner_call *run)
{
    return run->err.code != DG_OK;
}

/* Ends the run with the error of that job, or of none (SIZE_MAX); the first one counts. */
static void fail(struct dg_runner_call *run, size_t job, int rc, const struct dg_error *err)
{
    if (!dg_runner_failed(run)) {
        dg_error_field(&run->err, rc, err->field, "%s", err->message);
        run->failed = job;
    }
    pthread_cond_signal(&run->changed);
}

/* Marks the item as no longer in an engine. Its run may be gone once the lock is released. */
static void leave(struct dg_runner_item *item)
{
    item->worker->live--;
    item->run->live--;
    item->worker = NULL;
    pthread_cond_signal(&item->run->changed);
}

/* Maximum number of sentences of a worker: its share of all that wait or are in engines. */
static size_t share(const struct dg_runner *r)
{
    size_t n = 0;
    for (const struct dg_runner_call *run = r->first; run; run = run->next)
        n += (dg_runner_failed(run) ? 0 : run->n_items - run->taken) + run->live;
    return (n + (size_t)r->n_workers - 1) / (size_t)r->n_workers;
}

static bool waits(const struct dg_runner_call *run)
{
    return !dg_runner_failed(run) && run->taken < run->n_items;
}

/* Takes the next sentence for w, or NULL, and moves its run to the end of the list. */
static struct dg_runner_item *take(struct dg_runner_worker *w)
{
    struct dg_runner *r = w->runner;
    struct dg_runner_call **at = &r->first;
    while (*at && !waits(*at))
        at = &(*at)->next;
    if (!*at || w->live >= share(r))
        return NULL;
    struct dg_runner_call *run = *at;
    *at = run->next;
    while (*at)
        at = &(*at)->next;
    *at = run;
    run->next = NULL;
    struct dg_runner_item *item = &run->items[run->taken++];
    item->worker = w;
    run->live++;
    w->live++;
    return item;
}

static bool has_work(const struct dg_runner_worker *w)
{
    bool any = w->live > 0;
    for (const struct dg_runner_call *run = w->runner->first; run && !any; run = run->next)
        any = waits(run);
    return any;
}

/* Removes a failed run's sentences from w's engine. */
static void drop(struct dg_runner_worker *w, struct dg_runner_call *run)
{
    for (size_t i = 0; i < run->taken && run->live; i++) {
        struct dg_runner_item *item = &run->items[i];
        if (item->worker != w)
            continue;
        dg_engine_cancel(w->engine, (uint64_t)(uintptr_t)item);
        if (w->held == item)
            w->held = NULL;
        leave(item);
    }
}

/* ---- a worker's thread ------------------------------------------------------------------- */

/* Sleeps while there is nothing to do, then drops failed runs. False: the runner is closing. */
static bool await(struct dg_runner_worker *w)
{
    struct dg_runner *r = w->runner;
    pthread_mutex_lock(&r->lock);
    while (!r->stopping && !has_work(w))
        pthread_cond_wait(&r->work, &r->lock);
    const bool go_on = !r->stopping;
    for (struct dg_runner_call *run = r->first, *next; run; run = next) {
        next = run->next; /* once it is dropped, the run may be gone when the lock is released */
        if (dg_runner_failed(run))
            drop(w, run);
    }
    pthread_mutex_unlock(&r->lock);
    return go_on;
}

static void settle(
    struct dg_runner_worker *w, struct dg_runner_item *item, int rc, const struct dg_error *err)
{
    struct dg_runner_call *run = item->run;
    pthread_mutex_lock(&w->runner->lock);
    if (rc)
        fail(run, item->job, rc, err);
    else
        run->accepted[run->n_accepted++] = item->job;
    leave(item);
    pthread_mutex_unlock(&w->runner->lock);
}

static int admit_one(struct dg_runner_worker *w, struct dg_runner_item *item, struct dg_error *err)
{
    struct dg_sentence s;
    dg_job_sentence(item->run->jobs[item->job], item->sentence, &s);
    return dg_engine_admit(w->engine, (uint64_t)(uintptr_t)item, &s, err);
}

static void admit(struct dg_runner_worker *w)
{
    for (;;) {
        struct dg_error err = {0};
        struct dg_runner_item *item = w->held;
        if (!item) {
            pthread_mutex_lock(&w->runner->lock);
            item = take(w);
            pthread_mutex_unlock(&w->runner->lock);
        }
        if (!item)
            return;
        const int rc = admit_one(w, item, &err);
        w->held = rc == DG_EAGAIN ? item : NULL;
        if (rc == DG_EAGAIN)
            return;
        if (rc)
            settle(w, item, rc, &err);
    }
}

/* Hand finished sentences to their jobs. */
static void collect(struct dg_runner_worker *w)
{
    const struct dg_result *res;
    while ((res = dg_engine_poll(w->engine))) {
        struct dg_runner_item *item = (struct dg_runner_item *)(uintptr_t)res->id;
        struct dg_error err = {0};
        pthread_mutex_lock(&item->run->jobs_lock);
        int rc = dg_job_accept(item->run->jobs[item->job], item->sentence, res, &err);
        pthread_mutex_unlock(&item->run->jobs_lock);
        dg_engine_release(w->engine, res);
        /* A second round: the first has just left, so there is room for it. */
        const bool again = rc == DG_EAGAIN;
        if (again)
            rc = admit_one(w, item, &err);
        if (rc || !again)
            settle(w, item, rc, &err);
    }
}

/* The device failed, so the engine's results are invalid: every run with a sentence in it fails. */
static void fail_all(struct dg_runner_worker *w, const struct dg_error *sick)
{
    pthread_mutex_lock(&w->runner->lock);
    for (struct dg_runner_call *run = w->runner->first; run; run = run->next)
        for (size_t i = 0; i < run->taken; i++)
            if (run->items[i].worker == w)
                fail(run, SIZE_MAX, sick->code, sick);
    pthread_mutex_unlock(&w->runner->lock);
}

static void *work(void *arg)
{
    struct dg_runner_worker *w = arg;
    dg_thread_name("worker-%d", (int)(w - w->runner->workers));
    while (await(w)) {
        struct dg_error sick = {0};
        admit(w);
        dg_engine_step(w->engine);
        if (w->be->ops->status(w->be, &sick))
            fail_all(w, &sick);
        else
            collect(w);
    }
    return NULL;
}
