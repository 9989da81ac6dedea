#include "translate/runner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct worker {
    struct dg_runner *runner;
    struct dg_backend *be;
    struct dg_engine *engine;
};

/* One sentence to translate; its number is the engine's id. */
struct item {
    size_t job, sentence;
};

struct dg_runner {
    struct worker *workers;
    int n_workers;
    /* guards all below while a run is on */
    pthread_mutex_t lock;
    struct dg_job *const *jobs;
    size_t n_jobs, jobs_done;
    struct item *items;
    size_t n_items, next;
    /* [n_jobs] sentences that are not accepted yet */
    size_t *left;
    struct dg_error err;
    void (*done)(void *arg, size_t finished, size_t n);
    void *arg;
};

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
    int rc = 0;
    if (!r || !(r->workers = calloc((size_t)workers, sizeof *r->workers))) {
        free(r);
        return dg_error_set(err, DG_ENOMEM, "no memory for %d workers", workers);
    }
    pthread_mutex_init(&r->lock, NULL);
    r->n_workers = workers;
    for (int i = 0; i < workers && !rc; i++) {
        struct worker *w = &r->workers[i];
        w->runner = r;
        rc = dg_device_open(device, &w->be, err);
        if (!rc)
            rc = dg_engine_open(dg_translator_model(t), w->be, limits, &w->engine, err);
    }
    if (rc) {
        dg_runner_close(r);
        return rc;
    }
    *out = r;
    return 0;
}

void dg_runner_close(struct dg_runner *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->n_workers; i++) {
        dg_engine_close(r->workers[i].engine);
        dg_device_close(r->workers[i].be);
    }
    pthread_mutex_destroy(&r->lock);
    free(r->workers);
    free(r);
}

static bool failed(struct dg_runner *r)
{
    pthread_mutex_lock(&r->lock);
    bool yes = r->err.code != DG_OK;
    pthread_mutex_unlock(&r->lock);
    return yes;
}

static void fail(struct dg_runner *r, int rc, const struct dg_error *err)
{
    pthread_mutex_lock(&r->lock);
    dg_error_field(&r->err, rc, err->field, "%s", err->message);
    pthread_mutex_unlock(&r->lock);
}

/* The next sentence nobody has taken, or n_items. */
static size_t take(struct dg_runner *r)
{
    pthread_mutex_lock(&r->lock);
    size_t i = r->next < r->n_items ? r->next++ : r->n_items;
    pthread_mutex_unlock(&r->lock);
    return i;
}

static void finish_one(struct dg_runner *r, size_t job)
{
    if (--r->left[job] == 0) {
        r->jobs_done++;
        if (r->done)
            r->done(r->arg, r->jobs_done, r->n_jobs);
    }
}

/* A sentence's second round. Its first has just left, so there is room for it. */
static int admit_again(struct worker *w, size_t item, struct dg_error *err)
{
    struct dg_sentence s;
    dg_job_sentence(
        w->runner->jobs[w->runner->items[item].job], w->runner->items[item].sentence, &s);
    return dg_engine_admit(w->engine, item, &s, err);
}

/* Hand finished sentences to their jobs. A job may be shared by workers, so accepting is under the
 * lock. */
static void collect(struct worker *w)
{
    struct dg_runner *r = w->runner;
    const struct dg_result *res;
    while ((res = dg_engine_poll(w->engine))) {
        size_t item = res->id;
        const struct item *it = &r->items[item];
        struct dg_error err = {0};
        pthread_mutex_lock(&r->lock);
        int rc = dg_job_accept(r->jobs[it->job], it->sentence, res, &err);
        if (!rc)
            finish_one(r, it->job);
        pthread_mutex_unlock(&r->lock);
        dg_engine_release(w->engine, res);
        if (rc == DG_EAGAIN)
            rc = admit_again(w, item, &err);
        if (rc)
            fail(r, rc, &err);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct dg_runner *r = w->runner;
    size_t held = take(r); /* taken but not admitted yet */
    while (!failed(r)) {
        while (held < r->n_items) {
            struct dg_sentence s;
            struct dg_error err = {0};
            dg_job_sentence(r->jobs[r->items[held].job], r->items[held].sentence, &s);
            int rc = dg_engine_admit(w->engine, held, &s, &err);
            if (rc == DG_EAGAIN)
                break;
            if (rc) {
                fail(r, rc, &err);
                break;
            }
            held = take(r);
        }
        struct dg_error sick = {0};
        uint32_t rows = dg_engine_step(w->engine);
        if (w->be->ops->status(w->be, &sick)) /* what this step found is worth nothing */
            fail(r, sick.code, &sick);
        else
            collect(w);
        if (!rows && held == r->n_items) /* a second round follows on a step with rows */
            break;
    }
    /* After a failure the engine must be empty again for the next run. */
    for (size_t i = 0; i < r->n_items && failed(r); i++)
        dg_engine_cancel(w->engine, i);
    return NULL;
}

static int list_items(
    struct dg_runner *r, struct dg_job *const *jobs, size_t n, struct dg_error *err)
{
    r->n_items = r->next = r->jobs_done = 0;
    for (size_t i = 0; i < n; i++)
        r->n_items += dg_job_sentences(jobs[i]);
    r->items = malloc((r->n_items ? r->n_items : 1) * sizeof *r->items);
    r->left = malloc((n ? n : 1) * sizeof *r->left);
    if (!r->items || !r->left)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu sentences", r->n_items);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        r->left[i] = dg_job_sentences(jobs[i]);
        if (!r->left[i])
            r->jobs_done++;
        for (size_t s = 0; s < r->left[i]; s++)
            r->items[at++] = (struct item){i, s};
    }
    return 0;
}

int dg_runner_run(struct dg_runner *r, struct dg_job *const *jobs, size_t n,
    void (*done)(void *arg, size_t finished, size_t n), void *arg, struct dg_error *err)
{
    pthread_t *threads = calloc((size_t)r->n_workers, sizeof *threads);
    int started = 0, rc = threads ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for threads");
    r->jobs = jobs;
    r->n_jobs = n;
    r->done = done;
    r->arg = arg;
    dg_error_clear(&r->err);
    if (!rc)
        rc = list_items(r, jobs, n, err);
    if (!rc) {
        for (; started < r->n_workers - 1; started++)
            if (pthread_create(&threads[started], NULL, work, &r->workers[started + 1]))
                break; /* fewer threads are slower, not wrong */
        work(&r->workers[0]);
        for (int i = 0; i < started; i++)
            pthread_join(threads[i], NULL);
        if (r->err.code)
            rc = dg_error_field(err, r->err.code, r->err.field, "%s", r->err.message);
    }
    free(threads);
    free(r->items);
    free(r->left);
    r->items = NULL;
    r->left = NULL;
    return rc;
}
