/* Data of the page at /status: the current samples, and those of the last minutes, which the server
 * keeps. Each function names its thread. */
#ifndef DG_SERVER_API_STATUS_H
#define DG_SERVER_API_STATUS_H

#include "server/app.h"
#include "server/http/http.h"

struct dg_status;

/* Keep samples of app, the first one at dg_status_start, before any request is counted. The next
 * ones are taken on app's executor, which is closed before this. Called by the thread that opens
 * the server's parts. DG_ENOMEM. */
int dg_status_open(struct dg_app *app, struct dg_status **out, struct dg_error *err);
void dg_status_start(struct dg_status *s);
void dg_status_close(struct dg_status *s); /* NULL is fine */

/* GET /v1/status. A handler as routes.h has them. HTTP threads. */
void dg_status_figures(struct dg_app *app, struct dg_http_exchange *x);

#endif
