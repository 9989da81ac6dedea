/* POST /v1/detect: which of the served languages each text is in. Handler as routes.h has it. */
#ifndef DG_SERVER_API_DETECT_H
#define DG_SERVER_API_DETECT_H

#include "server/app.h"
#include "server/http/http.h"

void dg_api_detect(struct dg_app *app, struct dg_http_exchange *x);

#endif
