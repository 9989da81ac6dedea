#include "bench/sim/company.h"

#include "base/clock.h"
#include "kernels/cpu/cpu.h"
#include "translate/run/runner.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define TURNS 3

struct company;

struct worker {
    struct company *company;
    struct dg_backend *be;
    struct dg_sim_probe probe;
    pthread_t thread;
    bool started;
};

enum mode { REST, WORK, END };

struct company {
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    enum mode mode;
    uint32_t sentences; /* of each step in mode WORK */
    uint32_t resting;   /* number of resting neighbours */
    struct worker *workers;
    uint32_t n; /* workers; the first is timed */
};

/* Wait for a neighbour's next work: the sentences of a step, or 0 to stop. */
static uint32_t next_work(struct company *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->mode == REST) {
        c->resting++;
        pthread_cond_broadcast(&c->changed);
        while (c->mode == REST)
            pthread_cond_wait(&c->changed, &c->lock);
        c->resting--;
    }
    uint32_t n = c->mode == WORK ? c->sentences : 0;
    pthread_mutex_unlock(&c->lock);
    return n;
}

static void rest_for_good(struct company *c)
{
    pthread_mutex_lock(&c->lock);
    c->resting++;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void *neighbour(void *arg)
{
    struct worker *w = arg;
    struct dg_error err = {0};
    double us;
    for (uint32_t n; (n = next_work(w->company)) > 0;)
        if (dg_sim_probe_rows(&w->probe, n, &us, &err) != DG_OK) {
            rest_for_good(w->company); /* the timed worker reports the same error */
            break;
        }
    return NULL;
}

static void tell(struct company *c, enum mode mode, uint32_t sentences)
{
    pthread_mutex_lock(&c->lock);
    c->mode = mode;
    c->sentences = sentences;
    pthread_cond_broadcast(&c->changed);
    while (mode == REST && c->resting + 1 < c->n)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static int start(struct company *c, const struct dg_sim_probe *alone,
    const struct dg_sim_company_options *o, struct dg_error *err)
{
    struct dg_cpu_options cpu = {.threads = (int)o->threads};
    for (uint32_t i = 0; i < c->n; i++) {
        struct worker *w = &c->workers[i];
        w->company = c;
        w->probe = *alone;
        w->probe.threads = o->threads;
        w->probe.engine = NULL;
        int rc = dg_cpu_open(&cpu, &w->be, err);
        if (rc == DG_OK)
            rc = dg_engine_open(o->model, w->be, &o->limits, &w->probe.engine, err);
        if (rc == DG_OK && i > 0 && pthread_create(&w->thread, NULL, neighbour, w) != 0)
            rc = dg_error_set(err, DG_ENOMEM, "no thread for a neighbour");
        if (rc != DG_OK)
            return rc;
        w->started = i > 0;
    }
    return DG_OK;
}

static void stop(struct company *c)
{
    tell(c, END, 0);
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->workers[i].started)
            pthread_join(c->workers[i].thread, NULL);
        dg_engine_close(c->workers[i].probe.engine);
        dg_cpu_close(c->workers[i].be);
    }
}

/* Alternates between the two, because a machine's speed varies. */
static int measure_at(
    struct company *c, struct dg_sim_probe *alone, uint32_t n, double *times, struct dg_error *err)
{
    double by_itself = 0, beside = 0, us = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        tell(c, REST, 0);
        int rc = dg_sim_probe_rows(alone, n, &us, err);
        by_itself += us;
        tell(c, WORK, n);
        if (rc == DG_OK)
            rc = dg_sim_probe_rows(&c->workers[0].probe, n, &us, err);
        if (rc != DG_OK)
            return rc;
        beside += us;
    }
    *times = by_itself > 0 ? beside / by_itself : 1;
    return DG_OK;
}

static int measure(
    struct company *c, struct dg_sim_probe *alone, struct dg_sim_curve *out, struct dg_error *err)
{
    uint32_t most = dg_sim_probe_most(alone), n = 1;
    for (out->n = 0; out->n < DG_SIM_POINTS;) {
        int rc = measure_at(c, alone, n, &out->y[out->n], err);
        if (rc != DG_OK)
            return rc;
        out->x[out->n++] = n * alone->beam;
        if (n == most)
            break;
        n = 2 * n < most ? 2 * n : most;
    }
    return DG_OK;
}

int dg_sim_company_measure(struct dg_sim_probe *alone, const struct dg_sim_company_options *o,
    struct dg_sim_company *out, struct dg_error *err)
{
    struct company c = {.mode = REST, .n = o->workers};
    if (!(c.workers = calloc(c.n, sizeof *c.workers)))
        return dg_error_set(err, DG_ENOMEM, "no memory for %u workers", c.n);
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    out->workers = o->workers;
    int rc = start(&c, alone, o, err);
    if (rc == DG_OK)
        rc = measure(&c, alone, &out->times, err);
    stop(&c);
    pthread_cond_destroy(&c.changed);
    pthread_mutex_destroy(&c.lock);
    free(c.workers);
    return rc;
}

struct watch {
    uint64_t from_ns, to_ns;
    size_t from, to;
};

static void on_done(void *arg, size_t finished, size_t n)
{
    struct watch *w = arg;
    if (w->from == 0 && finished >= n / 5) {
        w->from = finished;
        w->from_ns = dg_clock_ns();
    }
    if (finished <= n - n / 10) {
        w->to = finished;
        w->to_ns = dg_clock_ns();
    }
}

int dg_sim_company_run(const struct dg_translator *t, const struct dg_sim_company_options *o,
    struct dg_job *const *jobs, size_t n, double *jobs_per_s, struct dg_error *err)
{
    struct dg_runner *r = NULL;
    struct watch w = {0};
    int rc = dg_runner_open(t, (int)o->workers, (int)o->threads, &o->limits, &r, err);
    if (rc == DG_OK)
        rc = dg_runner_run(r, jobs, n, on_done, &w, err);
    *jobs_per_s =
        w.to_ns > w.from_ns ? 1e9 * (double)(w.to - w.from) / (double)(w.to_ns - w.from_ns) : 0;
    dg_runner_close(r);
    return rc;
}
