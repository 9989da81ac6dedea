/* Runs wait in a list. A worker takes sentences from them as its engine has room, a sentence of
 * each run in turn, and no more than its share of all there are, so that few sentences are spread
 * over the workers. The thread that called sleeps until one of its sentences was accepted. */
#include "translate/runner.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct worker {
    struct dg_runner *runner;
    struct dg_backend *be;
    struct dg_engine *engine;
    pthread_t thread;
    bool started;
    /* Guarded by the runner's lock: sentences that it has taken and not settled. */
    size_t live;
    /* Its own: one that the engine had no room for. */
    struct item *held;
};

/* One sentence to translate; its address is the engine's id. */
struct item {
    struct run *run;
    size_t job, sentence;
    /* who has taken it; NULL: nobody, or it is settled */
    struct worker *worker;
};

/* A call of dg_runner_run, on its thread's stack. All but the jobs' lock and what it guards belongs
 * to the runner's lock. */
struct run {
    struct run *next;
    struct dg_job *const *jobs;
    size_t n_jobs;
    /* [n_items], of which `taken` were taken and `live` are in engines */
    struct item *items;
    size_t n_items, taken, live;
    /* [n_jobs] sentences whose acceptance was not told of yet: the caller's own */
    size_t *untold;
    /* [n_items] jobs whose sentences were accepted, in that order; n_accepted so far */
    size_t *accepted;
    size_t n_accepted;
    /* the first error; DG_OK: none */
    struct dg_error err;
    pthread_cond_t changed;
    /* guards the jobs: sentences of one may be in several engines */
    pthread_mutex_t jobs_lock;
};

struct dg_runner {
    struct worker *workers;
    int n_workers;
    pthread_mutex_t lock;
    /* guarded by the lock: runs that are on, the next to be taken from first */
    struct run *first;
    bool stopping;
    /* there is something to take, or it is stopping */
    pthread_cond_t work;
};

static void *work(void *arg);

/* Signals are for the program's own threads. */
static int start(struct worker *w)
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
        struct worker *w = &r->workers[i];
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

static bool failed(const struct run *run)
{
    return run->err.code != DG_OK;
}

static void fail(struct run *run, int rc, const struct dg_error *err)
{
    dg_error_field(&run->err, rc, err->field, "%s", err->message);
    pthread_cond_signal(&run->changed);
}

/* It is in no engine any more. Its run may be gone once the lock is let go of. */
static void leave(struct item *item)
{
    item->worker->live--;
    item->run->live--;
    item->worker = NULL;
    pthread_cond_signal(&item->run->changed);
}

/* Sentences that a worker may have at most: its share of those that wait and those in engines. */
static size_t share(const struct dg_runner *r)
{
    size_t n = 0;
    for (const struct run *run = r->first; run; run = run->next)
        n += (failed(run) ? 0 : run->n_items - run->taken) + run->live;
    return (n + (size_t)r->n_workers - 1) / (size_t)r->n_workers;
}

static bool waits(const struct run *run)
{
    return !failed(run) && run->taken < run->n_items;
}

/* The next sentence for w, or NULL; its run goes to the list's end. */
static struct item *take(struct worker *w)
{
    struct dg_runner *r = w->runner;
    struct run **at = &r->first;
    while (*at && !waits(*at))
        at = &(*at)->next;
    if (!*at || w->live >= share(r))
        return NULL;
    struct run *run = *at;
    *at = run->next;
    while (*at)
        at = &(*at)->next;
    *at = run;
    run->next = NULL;
    struct item *item = &run->items[run->taken++];
    item->worker = w;
    run->live++;
    w->live++;
    return item;
}

static bool has_work(const struct worker *w)
{
    bool any = w->live > 0;
    for (const struct run *run = w->runner->first; run && !any; run = run->next)
        any = waits(run);
    return any;
}

/* A run that failed leaves w's engine. */
static void drop(struct worker *w, struct run *run)
{
    for (size_t i = 0; i < run->taken && run->live; i++) {
        struct item *item = &run->items[i];
        if (item->worker != w)
            continue;
        dg_engine_cancel(w->engine, (uint64_t)(uintptr_t)item);
        if (w->held == item)
            w->held = NULL;
        leave(item);
    }
}

/* ---- a worker's thread ------------------------------------------------------------------- */

/* Sleep while there is nothing to do; false: it is over. */
static bool await(struct worker *w)
{
    struct dg_runner *r = w->runner;
    pthread_mutex_lock(&r->lock);
    while (!r->stopping && !has_work(w))
        pthread_cond_wait(&r->work, &r->lock);
    const bool go_on = !r->stopping;
    for (struct run *run = r->first, *next; run; run = next) {
        next = run->next; /* once it is dropped, the run may be gone with the lock */
        if (failed(run))
            drop(w, run);
    }
    pthread_mutex_unlock(&r->lock);
    return go_on;
}

static void settle(struct worker *w, struct item *item, int rc, const struct dg_error *err)
{
    struct run *run = item->run;
    pthread_mutex_lock(&w->runner->lock);
    if (rc)
        fail(run, rc, err);
    else
        run->accepted[run->n_accepted++] = item->job;
    leave(item);
    pthread_mutex_unlock(&w->runner->lock);
}

static int admit_one(struct worker *w, struct item *item, struct dg_error *err)
{
    struct dg_sentence s;
    dg_job_sentence(item->run->jobs[item->job], item->sentence, &s);
    return dg_engine_admit(w->engine, (uint64_t)(uintptr_t)item, &s, err);
}

static void admit(struct worker *w)
{
    for (;;) {
        struct dg_error err = {0};
        struct item *item = w->held;
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
static void collect(struct worker *w)
{
    const struct dg_result *res;
    while ((res = dg_engine_poll(w->engine))) {
        struct item *item = (struct item *)(uintptr_t)res->id;
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

/* What the engine found is worth nothing: every run that has something in it fails. */
static void fail_all(struct worker *w, const struct dg_error *sick)
{
    pthread_mutex_lock(&w->runner->lock);
    for (struct run *run = w->runner->first; run; run = run->next)
        for (size_t i = 0; i < run->taken; i++)
            if (run->items[i].worker == w)
                fail(run, sick->code, sick);
    pthread_mutex_unlock(&w->runner->lock);
}

static void *work(void *arg)
{
    struct worker *w = arg;
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

/* ---- the caller's thread ----------------------------------------------------------------- */

static int list_items(struct run *run, struct dg_error *err)
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
            run->items[at++] = (struct item){.run = run, .job = i, .sentence = s};
    }
    return DG_OK;
}

/* Tell of one accepted sentence, without the runner's lock; false: the caller ends the run. */
static bool tell(struct run *run, const struct dg_runner_watch *watch, size_t job)
{
    const bool whole = --run->untold[job] == 0;
    if (watch->accepted) {
        pthread_mutex_lock(&run->jobs_lock);
        watch->accepted(watch->arg, job);
        pthread_mutex_unlock(&run->jobs_lock);
    }
    return !watch->told || watch->told(watch->arg, job, whole) == 0;
}

/* Wait until every sentence was accepted and told of, or the run failed and left the engines. */
static void attend(struct dg_runner *r, struct run *run, const struct dg_runner_watch *watch)
{
    size_t told = 0;
    while (!failed(run) && told < run->n_items) {
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
    const struct dg_runner_watch *watch, struct dg_error *err)
{
    struct run run = {.jobs = jobs, .n_jobs = n};
    pthread_cond_init(&run.changed, NULL);
    pthread_mutex_init(&run.jobs_lock, NULL);
    int rc = list_items(&run, err);
    if (rc == DG_OK && run.n_items) {
        pthread_mutex_lock(&r->lock);
        struct run **at = &r->first;
        while (*at)
            at = &(*at)->next;
        *at = &run;
        pthread_cond_broadcast(&r->work);
        attend(r, &run, watch);
        for (at = &r->first; *at != &run;)
            at = &(*at)->next;
        *at = run.next;
        pthread_mutex_unlock(&r->lock);
        if (failed(&run))
            rc = dg_error_field(err, run.err.code, run.err.field, "%s", run.err.message);
    }
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
    for (size_t i = 0; i < n && done; i++) /* those that are nothing to do */
        c.finished += dg_job_sentences(jobs[i]) == 0;
    const struct dg_runner_watch watch = {.arg = &c, .told = count};
    return dg_runner_run_watched(r, jobs, n, done ? &watch : NULL, err);
}
