/* The server's own glossaries (--glossaries) as GET /v1/glossaries lists them. Any thread. */
#ifndef DG_SERVER_API_SERVER_GLOSSARIES_H
#define DG_SERVER_API_SERVER_GLOSSARIES_H

#include "base/json.h"
#include "server/app.h"
#include "server/http/http.h"

/* [{"name", "dictionaries"}], by name. */
struct dg_json *dg_server_glossaries(const struct dg_app *app);
/* Reply to GET /v1/glossaries on a server without --collections. False: x has no reply, because
 * there is no --glossaries either. HTTP thread. */
bool dg_server_glossaries_reply(const struct dg_app *app, struct dg_http_exchange *x);

#endif
