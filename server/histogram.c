#include "server/histogram.h"

#include <string.h>

void dg_histogram_observe(const struct dg_histogram_family *f, struct dg_histogram *h, double value)
{
    size_t i = 0;
    while (i < f->n_bounds && value > f->bounds[i])
        i++;
    atomic_fetch_add_explicit(&h->counts[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(
        &h->sum, value > 0 ? (uint64_t)(value * f->per_unit) : 0, memory_order_relaxed);
}

uint64_t dg_histogram_count(const struct dg_histogram *h)
{
    uint64_t n = 0;
    for (size_t i = 0; i < DG_HISTOGRAM_BUCKETS; i++)
        n += atomic_load_explicit(&h->counts[i], memory_order_relaxed);
    return n;
}

void dg_histogram_write(const struct dg_histogram_family *f, const struct dg_histogram *h,
    const char *labels, struct dg_buffer *b)
{
    /* `{a="x"}` becomes `{a="x",le="..."}`. */
    const int inner = labels[0] == '{' ? (int)strlen(labels) - 2 : 0;
    const char *begin = inner > 0 ? labels + 1 : "", *comma = inner > 0 ? "," : "";
    unsigned long long below = 0;
    for (size_t i = 0; i < f->n_bounds; i++) {
        below += atomic_load_explicit(&h->counts[i], memory_order_relaxed);
        dg_buffer_addf(b, "%s_bucket{%.*s%sle=\"%.10g\"} %llu\n", f->name, inner, begin, comma,
            f->bounds[i], below);
    }
    below += atomic_load_explicit(&h->counts[f->n_bounds], memory_order_relaxed);
    dg_buffer_addf(b, "%s_bucket{%.*s%sle=\"+Inf\"} %llu\n", f->name, inner, begin, comma, below);
    double sum = (double)atomic_load_explicit(&h->sum, memory_order_relaxed) / f->per_unit;
    dg_buffer_addf(
        b, "%s_sum%s %.9g\n%s_count%s %llu\n", f->name, labels, sum, f->name, labels, below);
}
