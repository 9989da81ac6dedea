/* Counters and histograms, and gauges gathered for each request. Handlers as routes.h has them.
 * HTTP threads. */
#ifndef DG_SERVER_API_METRICS_PAGE_H
#define DG_SERVER_API_METRICS_PAGE_H

#include "base/buffer.h"
#include "server/app.h"
#include "server/http/http.h"

/* GET /metrics, as text for Prometheus. */
void dg_metrics_page(struct dg_app *app, struct dg_http_exchange *x);
/* The same text. x NULL: without metrics of connections. False: memory is out. Any thread. */
bool dg_metrics_page_write(
    struct dg_app *app, const struct dg_http_exchange *x, struct dg_buffer *b);

#endif
