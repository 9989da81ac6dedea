/* Handlers of routes under /v1 that are no endpoints (endpoints.h). HTTP threads. */
#ifndef DG_SERVER_API_API_H
#define DG_SERVER_API_API_H

#include "server/app.h"
#include "server/http/http.h"

/* GET /v1/models: the served models. */
void dg_api_models(struct dg_app *app, struct dg_http_exchange *x);
/* GET /v1/models/{version}/card: a model's description, its origin, and its MODEL_CARD.md. */
void dg_api_model_card(struct dg_app *app, struct dg_http_exchange *x);
/* GET /v1/languages: the languages and, for each, its targets and the pivots to them. */
void dg_api_languages(struct dg_app *app, struct dg_http_exchange *x);
/* GET /v1/usage: the key's usage of today. */
void dg_api_usage(struct dg_app *app, struct dg_http_exchange *x);
/* POST /v1/models/reload: models exchanged while the server runs. */
void dg_api_reload(struct dg_app *app, struct dg_http_exchange *x);

#endif
