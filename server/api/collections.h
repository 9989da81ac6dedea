/* /v1/glossaries and /v1/memories: collections that clients store on the server
 * (glossaries/collections.h). Both have the same answers, given on the thread of
 * dg_collections_post; the path says which is meant. Handlers: HTTP threads. */
#ifndef DG_SERVER_API_COLLECTIONS_H
#define DG_SERVER_API_COLLECTIONS_H

#include "server/api/side.h"

/* write: POST (a new one), PUT (replaces everything), PATCH (changes the name, adds entries);
 * remove: everything, or one language pair; entries: TSV, or CSV. */
dg_side_answer dg_api_collections_list, dg_api_collection_get, dg_api_collection_write,
    dg_api_collection_remove, dg_api_collection_entries;

/* Without --collections it lists the server's own. */
void dg_api_glossaries_list(struct dg_app *app, struct dg_http_exchange *x);
/* Without keys, for the server's owner alone. */
void dg_api_memory_write(struct dg_app *app, struct dg_http_exchange *x);
void dg_api_memory_remove(struct dg_app *app, struct dg_http_exchange *x);

#endif
