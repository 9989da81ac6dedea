/* Routes about the server itself. HTTP threads. */
#ifndef DG_SERVER_API_HEALTH_H
#define DG_SERVER_API_HEALTH_H

#include "server/app.h"
#include "server/http/http.h"

void dg_health_index(struct dg_app *app, struct dg_http_exchange *x);   /* GET / */
void dg_health_live(struct dg_app *app, struct dg_http_exchange *x);    /* GET /livez */
void dg_health_ready(struct dg_app *app, struct dg_http_exchange *x);   /* GET /readyz */
void dg_health_openapi(struct dg_app *app, struct dg_http_exchange *x); /* GET /openapi.yaml */
void dg_health_docs(struct dg_app *app, struct dg_http_exchange *x);    /* GET /docs */

#endif
