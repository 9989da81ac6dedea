#include "server/api/side.h"

#include "base/executor.h"
#include "server/access/gate.h"
#include "server/api/routes.h"
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
}

static void drop(void *arg)
{
    struct waiting *w = arg;
    dg_gate_release(w->side.visit);
    free(w->reply.body);
    free(w);
}

/* A new waiting request, which its exchange owns; NULL: no memory. */
static struct waiting *begin(struct dg_app *app, struct dg_http_exchange *x, dg_side_answer *answer)
{
    /* If the client leaves, the request is carried out all the same: it may be a change. */
    static const struct dg_http_later later = {.finish = finish, .drop = drop};
    const char *accept = dg_http_header(x, "Accept");
    struct waiting *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->x = x;
    w->answer = answer;
    w->work = (struct dg_work){.run = run, .arg = w};
    w->side = (struct dg_side){.app = app,
        .request = dg_http_request(x),
        .visit = dg_gate_hold(x),
        .json = dg_http_is_type(dg_http_header(x, "Content-Type"), "application/json")};
    dg_gate_owner(app->auth, x, w->side.owner);
    snprintf(w->side.accept, sizeof w->side.accept, "%s", accept ? accept : "");
    dg_http_later(x, &later, w);
    return w;
}

static void refuse(struct dg_http_exchange *x, int status, const char *code, const char *message)
{
    dg_dialect_reply_error(x, dg_gate_route(x)->dialect, status, code, message);
}

void dg_side_run(struct dg_app *app, struct dg_http_exchange *x, dg_side_answer *answer)
{
    if (!app->collections) {
        refuse(x, 403, "forbidden",
            "glossaries and memories of clients are disabled on this server (--collections "
            "enables them)");
        return;
    }
    struct waiting *w = begin(app, x, answer);
    if (!w || !dg_collections_post(app->collections, &w->work))
        refuse(x, 503, "overloaded", "too many requests of this kind are waiting");
}

void dg_side_run_document(struct dg_app *app, struct dg_http_exchange *x, dg_side_answer *answer)
{
    struct waiting *w = begin(app, x, answer);
    if (!w || !dg_uploader_post(app->uploader, &w->work))
        refuse(x, 503, "overloaded", "too many documents are waiting to be checked");
}
