/* Histograms as in Prometheus: counts by upper bound and a sum. Any thread; observing is a few
 * atomic operations, no lock. A family defines what its histograms measure, and their bounds. */
#ifndef DG_SERVER_HISTOGRAM_H
#define DG_SERVER_HISTOGRAM_H

#include "base/buffer.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* A family has at most one bound fewer. */
#define DG_HISTOGRAM_BUCKETS 26

struct dg_histogram_family {
    const char *name, *help;
    /* [n_bounds], ascending */
    const double *bounds;
    size_t n_bounds;
    /* parts of a unit in which the sum is kept: nanoseconds for seconds */
    double per_unit;
};

struct dg_histogram {
    /* by bucket, not cumulative; the last bucket in use is above all bounds */
    atomic_uint_least64_t counts[DG_HISTOGRAM_BUCKETS];
    /* times the family's per_unit */
    atomic_uint_least64_t sum;
};

void dg_histogram_observe(
    const struct dg_histogram_family *f, struct dg_histogram *h, double value);

/* How many values it has. */
uint64_t dg_histogram_count(const struct dg_histogram *h);

/* Append its samples in Prometheus' text format. labels: "" or `{name="value"}`, escaped. */
void dg_histogram_write(const struct dg_histogram_family *f, const struct dg_histogram *h,
    const char *labels, struct dg_buffer *b);

#endif
