#include "server/metrics_names.h"

#include <stdio.h>
#include <string.h>

void dg_metrics_names_init(struct dg_metrics_names *names)
{
    pthread_mutex_init(&names->lock, NULL);
    atomic_init(&names->n, 0);
}

void dg_metrics_names_deinit(struct dg_metrics_names *names)
{
    pthread_mutex_destroy(&names->lock);
}

unsigned dg_metrics_names_place(struct dg_metrics_names *names, const char *name)
{
    pthread_mutex_lock(&names->lock);
    const size_t n = atomic_load(&names->n);
    size_t i = 0;
    while (i < n && strcmp(names->list[i], name) != 0)
        i++;
    if (i == n && n < DG_METRICS_NAMES) {
        snprintf(names->list[n], DG_METRICS_NAME_BYTES, "%s", name);
        atomic_store(&names->n, n + 1);
    }
    pthread_mutex_unlock(&names->lock);
    return (unsigned)i;
}
