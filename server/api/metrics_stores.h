/* Metrics of the files that outlive the server: API keys, documents, collections, suggestions. Any
 * thread. */
#ifndef DG_SERVER_API_METRICS_STORES_H
#define DG_SERVER_API_METRICS_STORES_H

#include "server/api/gauges.h"
#include "server/app.h"

void dg_metrics_stores(struct dg_gauges *g, struct dg_app *app);

#endif
