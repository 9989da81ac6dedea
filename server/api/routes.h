/* The routes: one table of method, path and handler; openapi.yaml describes the same ones (a test
 * compares). HEAD follows GET, OPTIONS and every other method are answered here.
 * HTTP threads; the table is constant. */
#ifndef DG_SERVER_API_ROUTES_H
#define DG_SERVER_API_ROUTES_H

#include "base/buffer.h"
#include "server/api/dialect.h"
#include "server/app.h"
#include "server/http/http.h"

struct dg_endpoint;

struct dg_route {
    const char *method, *path;
    void (*handle)(struct dg_app *app, struct dg_http_exchange *x);
    /* instead of handle */
    const struct dg_endpoint *endpoint;
    /* NULL: our own */
    const struct dg_dialect *dialect;
};

/* All routes, [*n], also of dialects that are switched off. */
const struct dg_route *dg_routes(size_t *n);

/* The route for a request, or NULL with *status 404 or 405 (204 for OPTIONS) and allow filled for
 * the latter two. dialects: the enabled ones (dialect.h); *dialect: the one that the path belongs
 * to, or would by its prefix; NULL: our own. */
const struct dg_route *dg_routes_find(const char *method, const char *path, const char *dialects,
    int *status, char allow[64], const struct dg_dialect **dialect);

/* Required scopes of a route, as bits of enum dg_scope; 0: open to all. pages_open: pages about the
 * server are open, too. */
unsigned dg_routes_scope(const char *method, const char *path, bool pages_open);

/* The callbacks of dg_http_options; app is a struct dg_app. */
void dg_routes_handle(void *app, struct dg_http_exchange *x);
void dg_routes_refuse(void *app, struct dg_http_exchange *x, int status, const char *code,
    const char *message, struct dg_http_reply *r);
void dg_routes_mark(void *app, struct dg_http_exchange *x, struct dg_http_reply *r);
void dg_routes_finished(void *app, struct dg_http_exchange *x, int status);

#endif
