/* Requests about glossaries and memories: answered on the single thread of dg_collections_post, so
 * that no HTTP thread waits for a file. HTTP threads, except for the answer. */
#ifndef DG_SERVER_API_SIDE_H
#define DG_SERVER_API_SIDE_H

#include "server/app.h"
#include "server/http/http.h"
#include "store/memory.h"

/* The request. */
struct dg_side {
    struct dg_app *app;
    /* only dg_http_request may be called on it */
    const struct dg_http_exchange *x;
    const struct dg_http_request *request;
    /* owner of the collections, see dg_gate_owner */
    char owner[DG_MEMORY_OWNER];
    /* header Accept; "": none */
    char accept[80];
    /* the body is declared as JSON */
    bool json;
};

/* Fill in the reply. On the thread of dg_collections_post. */
typedef void dg_side_answer(const struct dg_side *s, struct dg_http_reply *r);

/* Queue a request for its answer. Without collections (--collections), refuse gets 403; if too many
 * requests are waiting, 503. */
void dg_side_run(struct dg_app *app, struct dg_http_exchange *x, dg_side_answer *answer,
    void (*refuse)(struct dg_http_reply *r, int status, const char *message));

/* Copy the part of the path after prefix, up to the next slash, to out. */
void dg_side_part(const struct dg_side *s, const char *prefix, char out[DG_MEMORY_ID]);

#endif
