/* Requests that are answered on a thread of their own, so that no HTTP thread waits for a file:
 * those about glossaries and memories on the single thread of dg_collections_post, those that bring
 * or remove a document on the single thread of dg_uploader_post. HTTP threads, except for the
 * answer. */
#ifndef DG_SERVER_API_SIDE_H
#define DG_SERVER_API_SIDE_H

#include "server/app.h"
#include "server/http/http.h"
#include "store/memory.h"

struct dg_visit;

/* The request. */
struct dg_side {
    struct dg_app *app;
    const struct dg_http_request *request;
    /* owner of the collections or the document, see dg_gate_owner */
    char owner[DG_MEMORY_OWNER];
    /* what is charged for a document */
    struct dg_visit *visit;
    /* header Accept; "": none */
    char accept[80];
    /* the body is declared as JSON */
    bool json;
};

/* Fill in the reply. On the thread where the request is answered. */
typedef void dg_side_answer(const struct dg_side *s, struct dg_http_reply *r);
/* Queue a request about collections. Without them (--collections), the reply is 403; if too many
 * requests are waiting, 503. */
void dg_side_run(struct dg_app *app, struct dg_http_exchange *x, dg_side_answer *answer);
/* Queue a request that brings or removes a document (app->uploader is set). If too many are
 * waiting, the reply is 503. */
void dg_side_run_document(struct dg_app *app, struct dg_http_exchange *x, dg_side_answer *answer);

#endif
