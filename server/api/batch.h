/* POST /v1/batch: many texts, pairs mixed; answers together or line by line as they finish.
 * Handler as routes.h has it. */
#ifndef DG_SERVER_API_BATCH_H
#define DG_SERVER_API_BATCH_H

#include "server/app.h"
#include "server/http/http.h"

void dg_api_batch(struct dg_app *app, struct dg_http_exchange *x);

#endif
