/* Counters and histograms, and the gauges gathered now. Handlers as routes.h has them. HTTP
 * threads. */
#ifndef DG_SERVER_API_METRICS_PAGE_H
#define DG_SERVER_API_METRICS_PAGE_H

#include "server/app.h"
#include "server/http/http.h"

/* GET /metrics, as text for Prometheus. */
void dg_metrics_page(struct dg_app *app, struct dg_http_exchange *x);
/* GET /v1/status, as JSON for the page at /status. */
void dg_metrics_status(struct dg_app *app, struct dg_http_exchange *x);

#endif
