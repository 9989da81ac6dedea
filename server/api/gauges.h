/* A list of gauges for the page of metrics, made for each request. One thread. */
#ifndef DG_SERVER_API_GAUGES_H
#define DG_SERVER_API_GAUGES_H

#include "server/metrics.h"

struct dg_gauges {
    /* [cap]; the caller frees it */
    struct dg_gauge *list;
    size_t n, cap;
    /* memory ran out: the page would lack some */
    bool failed;
};

/* Add a gauge; when memory is out, return a dummy that is not shown. name and help are borrowed. */
struct dg_gauge *dg_gauges_put(
    struct dg_gauges *g, const char *name, const char *help, double value);
/* Add a counter that is kept elsewhere. */
void dg_gauges_count(struct dg_gauges *g, const char *name, const char *help, double value);
/* Add a gauge with labels (names and values in turn, NULL-ended). */
struct dg_gauge *dg_gauges_label(struct dg_gauges *g, const char *name, const char *help,
    double value, const char *const *names_values);

#endif
