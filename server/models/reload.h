/* Models exchanged while the server runs: by SIGHUP, or by POST /v1/models/reload. The executor
 * opens them while requests continue. Asking while a reload runs asks for another one after it,
 * because the files may have changed since it began. Any thread. */
#ifndef DG_SERVER_MODELS_RELOAD_H
#define DG_SERVER_MODELS_RELOAD_H

#include "base/executor.h"
#include "server/models/models.h"

struct dg_reload;

struct dg_reload_options {
    struct dg_executor *executor;
    struct dg_models *models;
    /* of the bundles, borrowed */
    const char *path;
    /* of both */
    void *arg;
    /* Before and after each reload, on its thread. Optional. */
    void (*begins)(void *arg);
    void (*ends)(void *arg);
};

int dg_reload_open(
    const struct dg_reload_options *options, struct dg_reload **out, struct dg_error *err);
/* Waiters for a later reload than the one that runs are told that the server stops, and none is
 * begun any more. NULL is fine. */
void dg_reload_stop(struct dg_reload *r);
/* After it was stopped and its executor closed. NULL is fine. */
void dg_reload_close(struct dg_reload *r);

/* Which request is told the outcome of a reload. */
struct dg_reload_waiter {
    /* once; any thread; may free it */
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
    /* now */
    bool running;
    /* since the epoch; 0: none yet */
    double last_ok_s;
};
void dg_reload_count(struct dg_reload *r, struct dg_reload_counts *out);

#endif
