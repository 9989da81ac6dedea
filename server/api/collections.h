/* /v1/glossaries and /v1/memories: collections that clients store on the server
 * (glossaries/collections.h). Both have the same handlers; the path says which is meant. HTTP
 * threads. */
#ifndef DG_SERVER_API_COLLECTIONS_H
#define DG_SERVER_API_COLLECTIONS_H

#include "server/app.h"
#include "server/http/http.h"

/* GET: all; POST: a new one. */
void dg_api_collections(struct dg_app *app, struct dg_http_exchange *x);
/* GET, PUT (replaces everything), PATCH (changes the name, adds entries), DELETE (everything, or
 * one language pair). */
void dg_api_collection(struct dg_app *app, struct dg_http_exchange *x);
/* GET: TSV, or CSV. */
void dg_api_collection_entries(struct dg_app *app, struct dg_http_exchange *x);

#endif
