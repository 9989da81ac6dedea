#include "bench/distribution.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void dg_bench_sort(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
}

/* Percentile p of sorted x[n], by nearest rank. */
static double percentile(const double *x, size_t n, double p)
{
    size_t rank = (size_t)ceil(p / 100.0 * (double)n);
    return x[rank > 0 ? rank - 1 : 0];
}

void dg_bench_distribution(double *x, size_t n, struct dg_json *o)
{
    double sum = 0;
    dg_bench_sort(x, n);
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    dg_json_set_real(o, "mean", sum / (double)n);
    dg_json_set_real(o, "p50", percentile(x, n, 50));
    dg_json_set_real(o, "p90", percentile(x, n, 90));
    dg_json_set_real(o, "p99", percentile(x, n, 99));
    dg_json_set_real(o, "max", x[n - 1]);
}
