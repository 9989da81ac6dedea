/* Replaces the models while the server runs: on SIGHUP, or POST /v1/models/reload. The executor
 * opens them while requests continue. Asking while a reload runs causes another one after it,
 * because the files may have changed since it began. Any thread. */
#ifndef DG_SERVER_MODELS_RELOAD_H
#define DG_SERVER_MODELS_RELOAD_H

#include "base/executor.h"
#include "server/models/models.h"

struct dg_reload;

struct dg_reload_options {
    struct dg_executor *executor;
    struct dg_models *models;
    /* path of the bundles, borrowed */
    const char *path;
    /* argument of both callbacks */
    void *arg;
    /* before and after each reload, on its thread */
    void (*begins)(void *arg);
    void (*ends)(void *arg);
};

int dg_reload_open(
    const struct dg_reload_options *options, struct dg_reload **out, struct dg_error *err);
/* Start no more reloads, and tell waiters for a later one than the running one that the server is
 * stopping. NULL is fine. */
void dg_reload_stop(struct dg_reload *r);
/* Call it after dg_reload_stop, once the executor is closed. NULL is fine. */
void dg_reload_close(struct dg_reload *r);

/* A request that waits for the outcome of a reload. */
struct dg_reload_waiter {
    /* called once, from any thread; may free w */
    void (*told)(struct dg_reload_waiter *w);
    struct dg_models_loaded what;
    /* DG_ECANCELED: the server stops */
    struct dg_error err;
    struct dg_reload_waiter *next;
};

/* Reload soon. w NULL: the outcome is only logged and counted. False: the server stops, and w will
 * not be told. */
bool dg_reload_ask(struct dg_reload *r, struct dg_reload_waiter *w);

struct dg_reload_counts {
    uint64_t ok, failed;
    /* a reload is running now; the last one that ended failed */
    bool running, last_failed;
    /* since the epoch; 0: none yet */
    double last_ok_s;
};
void dg_reload_count(struct dg_reload *r, struct dg_reload_counts *out);

#endif
