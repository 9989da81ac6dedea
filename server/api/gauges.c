#include "server/api/gauges.h"

#include "base/array.h"

struct dg_gauge *dg_gauges_put(
    struct dg_gauges *g, const char *name, const char *help, double value)
{
    static _Thread_local struct dg_gauge lost;
    struct dg_gauge *list = dg_array_grow(g->list, g->n, &g->cap, sizeof *list);
    if (!list) {
        g->failed = true;
        return &lost;
    }
    g->list = list;
    g->list[g->n] = (struct dg_gauge){.name = name, .help = help, .value = value};
    return &g->list[g->n++];
}

void dg_gauges_count(struct dg_gauges *g, const char *name, const char *help, double value)
{
    dg_gauges_put(g, name, help, value)->counter = true;
}

struct dg_gauge *dg_gauges_label(struct dg_gauges *g, const char *name, const char *help,
    double value, const char *const *names_values)
{
    struct dg_gauge *gauge = dg_gauges_put(g, name, help, value);
    dg_metrics_label(gauge->labels, sizeof gauge->labels, names_values);
    return gauge;
}
