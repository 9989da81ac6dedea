/* The project's own API, /v1 (openapi.yaml says what it promises). Handlers as routes.h has
 * them. */
#ifndef DG_SERVER_API_V1_H
#define DG_SERVER_API_V1_H

#include "server/app.h"
#include "server/http/http.h"

void dg_api_v1_models(struct dg_app *app, struct dg_http_exchange *x);    /* GET /v1/models */
void dg_api_v1_translate(struct dg_app *app, struct dg_http_exchange *x); /* POST /v1/translate */
void dg_api_v1_score(struct dg_app *app, struct dg_http_exchange *x);     /* POST /v1/score */

#endif
