#include "server/api/side.h"

#include "base/executor.h"
#include "server/access/gate.h"
#include "server/glossaries/collections.h"
#include "server/uploads/uploads.h"

#include <stdio.h>
#include <stdlib.h>

/* A request that waits for its answer. Lives until the exchange drops it. */
struct waiting {
    struct dg_side side;
    struct dg_work work;
    struct dg_http_exchange *x;
    dg_side_answer *answer;
    struct dg_http_reply reply;
};

static void run(void *arg)
{
    struct waiting *w = arg;
    w->answer(&w->side, &w->reply);
    dg_http_wake(w->x);
}

static void finish(void *arg, struct dg_http_exchange *x)
{
    struct waiting *w = arg;
    dg_http_reply_take(x, &w->reply);
    w->reply.body = NULL;
}

static void drop(void *arg)
{
    struct waiting *w = arg;
    dg_gate_release(w->side.visit);
    free(w->reply.body);
    free(w);
}

static void fill(struct waiting *w, struct dg_app *app, struct dg_http_exchange *x)
{
    const char *accept = dg_http_header(x, "Accept");
    w->side.app = app;
    w->side.x = w->x = x;
    w->side.request = dg_http_request(x);
    dg_gate_owner(app->auth, x, w->side.owner);
    w->side.visit = dg_gate_hold(x);
    snprintf(w->side.accept, sizeof w->side.accept, "%s", accept ? accept : "");
    w->side.json = dg_http_is_type(dg_http_header(x, "Content-Type"), "application/json");
    w->work.run = run;
    w->work.arg = w;
}

/* A new waiting request, which its exchange owns; NULL: no memory. */
static struct waiting *begin(struct dg_app *app, struct dg_http_exchange *x, dg_side_answer *answer)
{
    /* If the client leaves, the request is carried out all the same: it may be a change. */
    static const struct dg_http_later later = {.finish = finish, .drop = drop};
    struct waiting *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->answer = answer;
    fill(w, app, x);
    dg_http_later(x, &later, w);
    return w;
}

void dg_side_run(struct dg_app *app, struct dg_http_exchange *x, dg_side_answer *answer,
    void (*refuse)(struct dg_http_reply *r, int status, const char *message))
{
    struct dg_http_reply r = {0};
    if (!app->collections) {
        refuse(&r, 403,
            "glossaries and memories of clients are disabled on this server (--collections "
            "enables them)");
        dg_http_reply_take(x, &r);
        return;
    }
    struct waiting *w = begin(app, x, answer);
    if (w && dg_collections_post(app->collections, &w->work))
        return;
    refuse(&r, 503, "too many requests of this kind are waiting");
    dg_http_reply_take(x, &r);
}

void dg_side_run_document(struct dg_app *app, struct dg_http_exchange *x, dg_side_answer *answer,
    void (*refuse)(struct dg_http_reply *r, int status, const char *message))
{
    struct dg_http_reply r = {0};
    struct waiting *w = begin(app, x, answer);
    if (w && dg_uploader_post(app->uploader, &w->work))
        return;
    refuse(&r, 503, "too many documents are waiting to be checked");
    dg_http_reply_take(x, &r);
}
