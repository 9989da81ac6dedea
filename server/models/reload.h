/* Models exchanged while the server runs: by SIGHUP, or by POST /v1/models/reload. A thread of its
 * own opens them; requests go on meanwhile. Asking while a reload runs asks for another one after
 * it, because the files may have changed since it began. Any thread. */
#ifndef DG_SERVER_MODELS_RELOAD_H
#define DG_SERVER_MODELS_RELOAD_H

#include "server/app.h"
#include "server/http/http.h"

struct dg_reload;

struct dg_reload_options {
    struct dg_app *app; /* its models, from the directory in its settings */
    void *arg;          /* of both */
    /* Before and after each reload, from the reload's thread. Optional. */
    void (*begins)(void *arg);
    void (*ends)(void *arg);
};

int dg_reload_open(
    const struct dg_reload_options *options, struct dg_reload **out, struct dg_error *err);
/* Waits for a reload that runs; who waits for a later one is told that the server stops. NULL is
 * fine. */
void dg_reload_close(struct dg_reload *r);
/* The same, but the reload can still be asked for (in vain) until it is closed. */
void dg_reload_stop(struct dg_reload *r);

/* Reload, soon; nobody waits for the outcome, which is logged and counted. */
void dg_reload_ask(struct dg_reload *r);

struct dg_reload_counts {
    uint64_t ok, failed;
    double last_ok_s; /* since the epoch; 0: none yet */
};
void dg_reload_count(struct dg_reload *r, struct dg_reload_counts *out);

void dg_reload_handle(struct dg_app *app, struct dg_http_exchange *x); /* POST /v1/models/reload */

#endif
