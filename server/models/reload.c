/* DESIGN. Who waits stands in one of two lists: for the reload that runs, or for the next one. An
 * exchange that waits is woken once, by this thread or at the end by close; it may be gone by then,
 * so its entry lives until the exchange drops it. */
#include "server/models/reload.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/http/reply.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What came of a reload. */
struct outcome {
    struct dg_models_loaded what;
    struct dg_error err;
};

struct waiter {
    struct dg_app *app;
    struct dg_http_exchange *x;
    struct outcome outcome;
    struct waiter *next;
};

struct dg_reload {
    struct dg_reload_options o;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t some;
    /* guarded by lock */
    bool asked, stop;
    struct waiter *waiting; /* for the next reload */
    struct dg_reload_counts counts;
};

static void log_outcome(const struct outcome *o)
{
    if (o->err.code == DG_OK)
        dg_log(DG_LOG_INFO, "reloaded opened=%zu kept=%zu removed=%zu seconds=%.2f", o->what.opened,
            o->what.kept, o->what.removed, o->what.seconds);
    else
        dg_log(DG_LOG_ERROR, "reload failed seconds=%.2f message=\"%s\"", o->what.seconds,
            o->err.message);
}

static void log_models(const struct dg_app *app)
{
    struct dg_served *list[DG_MODELS_MAX];
    size_t n = dg_models_list(app->models, list, DG_MODELS_MAX);
    for (size_t i = 0; i < n; i++) {
        dg_served_log(list[i]);
        dg_served_release(list[i]);
    }
}

static void wake_all(struct waiter *list, const struct outcome *o)
{
    while (list) {
        struct waiter *next = list->next; /* the wake may end in its being freed */
        list->outcome = *o;
        dg_http_wake(list->x);
        list = next;
    }
}

static void reload(struct dg_reload *r, struct waiter *waiting)
{
    struct dg_app *app = r->o.app;
    struct outcome o = {0};
    if (r->o.begins)
        r->o.begins(r->o.arg);
    dg_models_load(app->models, app->config.models, &o.what, &o.err);
    pthread_mutex_lock(&r->lock);
    r->counts.ok += o.err.code == DG_OK;
    r->counts.failed += o.err.code != DG_OK;
    if (o.err.code == DG_OK)
        r->counts.last_ok_s = dg_clock_wall_s();
    pthread_mutex_unlock(&r->lock);
    log_outcome(&o);
    if (o.err.code == DG_OK && o.what.opened > 0)
        log_models(app);
    if (r->o.ends)
        r->o.ends(r->o.arg);
    wake_all(waiting, &o);
}

static void *work(void *arg)
{
    struct dg_reload *r = arg;
    for (;;) {
        pthread_mutex_lock(&r->lock);
        while (!r->asked && !r->stop)
            pthread_cond_wait(&r->some, &r->lock);
        bool stop = r->stop;
        struct waiter *waiting = r->waiting;
        if (!stop)
            r->waiting = NULL;
        r->asked = false;
        pthread_mutex_unlock(&r->lock);
        if (stop)
            return NULL;
        reload(r, waiting);
    }
}

int dg_reload_open(
    const struct dg_reload_options *options, struct dg_reload **out, struct dg_error *err)
{
    struct dg_reload *r = calloc(1, sizeof *r);
    if (!r)
        return dg_error_set(err, DG_ENOMEM, "no memory for reloading models");
    r->o = *options;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->some, NULL);
    int number = pthread_create(&r->thread, NULL, work, r);
    if (number != 0) {
        pthread_mutex_destroy(&r->lock);
        pthread_cond_destroy(&r->some);
        free(r);
        return dg_error_set(err, DG_EIO, "cannot start a thread: %s", strerror(number));
    }
    *out = r;
    return DG_OK;
}

void dg_reload_stop(struct dg_reload *r)
{
    struct outcome o = {0};
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    bool first = !r->stop;
    r->stop = true;
    struct waiter *waiting = r->waiting;
    r->waiting = NULL;
    pthread_cond_signal(&r->some);
    pthread_mutex_unlock(&r->lock);
    if (first)
        pthread_join(r->thread, NULL);
    dg_error_set(&o.err, DG_ECANCELED, "the server is stopping");
    wake_all(waiting, &o);
}

void dg_reload_close(struct dg_reload *r)
{
    if (!r)
        return;
    dg_reload_stop(r);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->some);
    free(r);
}

/* w NULL: nobody waits. False: the server stops. */
static bool ask(struct dg_reload *r, struct waiter *w)
{
    pthread_mutex_lock(&r->lock);
    bool taken = !r->stop;
    if (taken) {
        r->asked = true;
        if (w) {
            w->next = r->waiting;
            r->waiting = w;
        }
        pthread_cond_signal(&r->some);
    }
    pthread_mutex_unlock(&r->lock);
    return taken;
}

void dg_reload_ask(struct dg_reload *r)
{
    ask(r, NULL);
}

void dg_reload_count(struct dg_reload *r, struct dg_reload_counts *out)
{
    pthread_mutex_lock(&r->lock);
    *out = r->counts;
    pthread_mutex_unlock(&r->lock);
}

/* ---- POST /v1/models/reload ---- */

static void finish(void *arg, struct dg_http_exchange *x)
{
    const struct waiter *w = arg;
    const struct dg_models_loaded *what = &w->outcome.what;
    struct dg_http_reply r = {0};
    if (w->outcome.err.code == DG_ECANCELED) {
        dg_reply_failure(&r, &w->outcome.err);
    } else if (w->outcome.err.code != DG_OK) {
        /* What is on disk is wrong, not this server: it goes on with what it had. */
        dg_reply_error(&r, 422, "reload_failed", NULL, w->outcome.err.message);
    } else {
        struct dg_json *root = dg_json_new_object();
        dg_json_set_int(root, "opened", (int64_t)what->opened);
        dg_json_set_int(root, "kept", (int64_t)what->kept);
        dg_json_set_int(root, "removed", (int64_t)what->removed);
        dg_json_set_real(root, "seconds", what->seconds);
        dg_json_set_take(root, "models", dg_models_describe(w->app->models));
        dg_reply_json_take(&r, 200, root);
    }
    dg_http_reply_take(x, &r);
}

/* The reload goes on: others may wait for it, and it cannot be stopped half-way. */
static void gone(void *arg)
{
    (void)arg;
}

static void drop(void *arg)
{
    free(arg);
}

static void fail(struct dg_http_exchange *x, int status, const char *code, const char *message)
{
    struct dg_http_reply r = {0};
    dg_reply_error(&r, status, code, NULL, message);
    dg_http_reply_take(x, &r);
}

void dg_reload_handle(struct dg_app *app, struct dg_http_exchange *x)
{
    static const struct dg_http_later later = {.finish = finish, .gone = gone, .drop = drop};
    const struct dg_http_request *request = dg_http_request(x);
    if (request->body_len > 0 && !(request->body_len == 2 && memcmp(request->body, "{}", 2) == 0)) {
        fail(x, 400, "invalid_request", "this takes no body, or {}");
        return;
    }
    if (atomic_load(&app->state) == DG_APP_STARTING) {
        fail(x, 503, "starting", "the models are being loaded");
        return;
    }
    struct waiter *w = calloc(1, sizeof *w);
    if (!w) {
        fail(x, 503, "overloaded", "no memory for a request");
        return;
    }
    w->app = app;
    w->x = x;
    dg_http_later(x, &later, w); /* w is the exchange's from here on */
    if (!ask(app->reload, w))
        fail(x, 503, "stopping", "the server is stopping");
}
