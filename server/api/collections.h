/* /v1/glossaries and /v1/memories: what clients keep here (glossaries/collections.h). The same
 * handlers for both; the path says which. HTTP threads. */
#ifndef DG_SERVER_API_COLLECTIONS_H
#define DG_SERVER_API_COLLECTIONS_H

#include "server/app.h"
#include "server/http/http.h"

/* GET: all; POST: a new one. */
void dg_api_collections(struct dg_app *app, struct dg_http_exchange *x);
/* GET, PUT (all of it), PATCH (its name; more entries), DELETE (it, or two languages of it). */
void dg_api_collection(struct dg_app *app, struct dg_http_exchange *x);
/* GET: TSV, or CSV. */
void dg_api_collection_entries(struct dg_app *app, struct dg_http_exchange *x);

/* Is this the path of a route of theirs, or of a dialect's for the same? */
bool dg_api_is_collections(const char *path);

#endif
