/* DESIGN. A waiter is in one of two lists: for the reload that runs, or for the next one. It is
 * told once, by the reload or at the end by stop. */
#include "server/models/reload.h"

#include "base/clock.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>

struct dg_reload {
    struct dg_reload_options o;
    struct dg_work work;
    pthread_mutex_t lock;
    /* guarded by lock */
    bool stop;
    /* for the next reload */
    struct dg_reload_waiter *waiting;
    struct dg_reload_counts counts;
};

static void log_outcome(const struct dg_models_loaded *what, const struct dg_error *err)
{
    if (err->code == DG_OK)
        dg_log(DG_LOG_INFO, "reloaded opened=%zu kept=%zu removed=%zu seconds=%.2f", what->opened,
            what->kept, what->removed, what->seconds);
    else
        dg_log(
            DG_LOG_ERROR, "reload failed seconds=%.2f message=\"%s\"", what->seconds, err->message);
}

static void log_models(struct dg_models *models)
{
    struct dg_served *open[DG_MODELS_MAX];
    size_t n = dg_models_listings(models, NULL, open);
    for (size_t i = 0; i < n; i++) {
        if (open[i])
            dg_served_log(open[i]);
        dg_served_unref(open[i]);
    }
}

static void tell_all(
    struct dg_reload_waiter *list, const struct dg_models_loaded *what, const struct dg_error *err)
{
    while (list) {
        struct dg_reload_waiter *next = list->next; /* told may free it */
        list->what = *what;
        list->err = *err;
        list->told(list);
        list = next;
    }
}

static void reload(void *arg)
{
    struct dg_reload *r = arg;
    struct dg_models_loaded what = {0};
    struct dg_error err = {0};
    pthread_mutex_lock(&r->lock);
    bool stop = r->stop;
    struct dg_reload_waiter *waiting = r->waiting;
    r->waiting = NULL;
    r->counts.running = !stop;
    pthread_mutex_unlock(&r->lock);
    if (stop)
        return;
    r->o.begins(r->o.arg);
    dg_models_load(r->o.models, r->o.path, &what, &err);
    pthread_mutex_lock(&r->lock);
    r->counts.running = false;
    r->counts.ok += err.code == DG_OK;
    r->counts.failed += err.code != DG_OK;
    r->counts.last_failed = err.code != DG_OK;
    if (err.code == DG_OK)
        r->counts.last_ok_s = dg_clock_wall_s();
    pthread_mutex_unlock(&r->lock);
    log_outcome(&what, &err);
    if (err.code == DG_OK && what.opened > 0)
        log_models(r->o.models);
    r->o.ends(r->o.arg);
    tell_all(waiting, &what, &err);
}

int dg_reload_open(
    const struct dg_reload_options *options, struct dg_reload **out, struct dg_error *err)
{
    struct dg_reload *r = calloc(1, sizeof *r);
    if (!r)
        return dg_error_set(err, DG_ENOMEM, "no memory for reloading models");
    r->o = *options;
    r->work = (struct dg_work){.run = reload, .arg = r};
    pthread_mutex_init(&r->lock, NULL);
    *out = r;
    return DG_OK;
}

void dg_reload_stop(struct dg_reload *r)
{
    struct dg_models_loaded what = {0};
    struct dg_error err = {0};
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    struct dg_reload_waiter *waiting = r->waiting;
    r->waiting = NULL;
    pthread_mutex_unlock(&r->lock);
    dg_error_set(&err, DG_ECANCELED, "the server is stopping");
    tell_all(waiting, &what, &err);
}

void dg_reload_close(struct dg_reload *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    free(r);
}

bool dg_reload_ask(struct dg_reload *r, struct dg_reload_waiter *w)
{
    pthread_mutex_lock(&r->lock);
    bool taken = !r->stop;
    if (taken && w) {
        w->next = r->waiting;
        r->waiting = w;
    }
    if (taken)
        dg_executor_post(r->o.executor, &r->work); /* one that runs is followed by another */
    pthread_mutex_unlock(&r->lock);
    return taken;
}

void dg_reload_count(struct dg_reload *r, struct dg_reload_counts *out)
{
    pthread_mutex_lock(&r->lock);
    *out = r->counts;
    pthread_mutex_unlock(&r->lock);
}
