/* The routes: one table of method, path, handler and flags; openapi.yaml describes the same ones (a
 * test compares). HEAD follows GET. Any thread; the table is constant. */
#ifndef DG_SERVER_API_ROUTES_H
#define DG_SERVER_API_ROUTES_H

#include "server/api/dialect.h"
#include "server/api/side.h"

struct dg_endpoint;

/* Without flags a route needs the translate scope: a new one is never open by oversight. */
enum dg_route_flag {
    /* about the server, or at an address that nobody can guess: open unless --keys-open closes it,
     * then open to every key */
    DG_ROUTE_PAGE = 1,
    /* open to all */
    DG_ROUTE_PROBE = 2,
    /* about the models and a key's usage: open to every key, whatever its scopes */
    DG_ROUTE_ANY_KEY = 4,
    /* needs the admin scope */
    DG_ROUTE_ADMIN = 8,
    /* names or lists languages of the models; endpoints do so, too */
    DG_ROUTE_LANGUAGES = 16,
    /* clients send documents to it */
    DG_ROUTE_UPLOAD = 32
};

struct dg_route {
    const char *method, *path;
    void (*handle)(struct dg_app *app, struct dg_http_exchange *x);
    /* instead of handle: an endpoint, or an answer about collections (dg_side_run) */
    const struct dg_endpoint *endpoint;
    dg_side_answer *answer;
    /* NULL: our own */
    const struct dg_dialect *dialect;
    /* enum dg_route_flag, or'ed */
    unsigned flags;
};

/* All routes, [*n], also of dialects that are switched off. */
const struct dg_route *dg_routes(size_t *n);

/* The route for a request, or NULL with *status 404 or 405 (204 for OPTIONS) and allow filled for
 * the latter two. dialects: the enabled ones (dialect.h); *dialect: the one that the path belongs
 * to, or would by its prefix; NULL: our own. */
const struct dg_route *dg_routes_find(const char *method, const char *path, const char *dialects,
    int *status, char allow[64], const struct dg_dialect **dialect);

/* Copy the third part of a path, the {id} or {version} of a route that has one, to out[cap]; "" if
 * it is too long to be an id. */
void dg_routes_id(const char *path, char *out, size_t cap);

/* Required scopes of a route, as bits of enum dg_scope; 0: open to all. pages_open: pages about the
 * server are open, too. */
unsigned dg_routes_scope(const struct dg_route *route, bool pages_open);
/* Does it need the models? Requests get 503 until they are loaded; its handler can rely on at least
 * one source and one target language. */
bool dg_routes_need_models(const struct dg_route *route);
/* Do its requests count as translations? */
bool dg_routes_translate(const struct dg_route *route);

#endif
