#include "server/api/api.h"

#include "server/http/reply.h"
#include "server/models/describe.h"
#include "server/models/reload.h"

#include <stdlib.h>
#include <string.h>

/* A waiting exchange. The client may be gone when the reload ends, so this lives until the exchange
 * drops it. */
struct waiter {
    struct dg_reload_waiter base;
    struct dg_app *app;
    struct dg_http_exchange *x;
};

static void told(struct dg_reload_waiter *w)
{
    dg_http_wake(((struct waiter *)w)->x);
}

static void finish(void *arg, struct dg_http_exchange *x)
{
    const struct waiter *w = arg;
    const struct dg_models_loaded *what = &w->base.what;
    struct dg_http_reply r = {0};
    if (w->base.err.code == DG_ECANCELED || w->base.err.code == DG_ENOMEM) {
        dg_reply_failure(&r, &w->base.err);
    } else if (w->base.err.code != DG_OK) {
        /* The files on disk are wrong, not this server: it goes on with the old models. */
        dg_reply_error(&r, 422, "reload_failed", NULL, w->base.err.message);
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

void dg_api_reload(struct dg_app *app, struct dg_http_exchange *x)
{
    /* If the client leaves, the reload goes on: others may wait for it, and it cannot be stopped
     * half-way. */
    static const struct dg_http_later later = {.finish = finish, .drop = free};
    const struct dg_http_request *request = dg_http_request(x);
    if (request->body_len > 0 && !(request->body_len == 2 && memcmp(request->body, "{}", 2) == 0)) {
        dg_reply_with_error(x, 400, "invalid_request", "this takes no body, or {}");
        return;
    }
    if (atomic_load(&app->state) == DG_APP_STARTING) {
        dg_reply_with_error(x, 503, "starting", "the models are loading");
        return;
    }
    struct waiter *w = calloc(1, sizeof *w);
    if (!w) {
        dg_reply_with_error(x, 503, "overloaded", "no memory for a request");
        return;
    }
    w->app = app;
    w->x = x;
    w->base.told = told;
    dg_http_later(x, &later, w); /* the exchange owns w from here on */
    if (!dg_reload_ask(app->reload, &w->base))
        dg_reply_with_error(x, 503, "stopping", "the server is stopping");
}
