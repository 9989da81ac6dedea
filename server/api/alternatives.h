/* POST /v1/alternatives: other ways to go on at one place of a translation. Handler as routes.h has
 * it. */
#ifndef DG_SERVER_API_ALTERNATIVES_H
#define DG_SERVER_API_ALTERNATIVES_H

#include "server/app.h"
#include "server/http/http.h"

void dg_api_alternatives(struct dg_app *app, struct dg_http_exchange *x);

#endif
