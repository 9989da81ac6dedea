/* GET /v1/models: what is served. Handler as routes.h has it. */
#ifndef DG_SERVER_API_MODELS_H
#define DG_SERVER_API_MODELS_H

#include "server/app.h"
#include "server/http/http.h"

void dg_api_models(struct dg_app *app, struct dg_http_exchange *x);

#endif
