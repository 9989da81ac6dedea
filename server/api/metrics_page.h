/* GET /metrics: counters and histograms, and the gauges gathered now. HTTP threads. */
#ifndef DG_SERVER_API_METRICS_PAGE_H
#define DG_SERVER_API_METRICS_PAGE_H

#include "server/app.h"
#include "server/http/http.h"

void dg_metrics_page(struct dg_app *app, struct dg_http_exchange *x);

#endif
