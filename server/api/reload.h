/* POST /v1/models/reload: models exchanged while the server runs. Handler as routes.h has it. */
#ifndef DG_SERVER_API_RELOAD_H
#define DG_SERVER_API_RELOAD_H

#include "server/app.h"
#include "server/http/http.h"

void dg_api_reload(struct dg_app *app, struct dg_http_exchange *x);

#endif
