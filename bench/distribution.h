/* How measured values are spread. Any thread. */
#ifndef DG_BENCH_DISTRIBUTION_H
#define DG_BENCH_DISTRIBUTION_H

#include "base/json.h"

#include <stddef.h>

/* Sort x[n], ascending. */
void dg_bench_sort(double *x, size_t n);

/* Sort x[n], n > 0, and set its mean, p50, p90, p99 (by nearest rank) and max in object o. */
void dg_bench_distribution(double *x, size_t n, struct dg_json *o);

#endif
