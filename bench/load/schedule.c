#include "bench/load/schedule.h"

#include "bench/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct draw {
    const struct dg_load_plan *plan;
    uint64_t state;
    uint32_t *order;                   /* items, ordered by class, shuffled in each */
    size_t first[DG_LOAD_CLASSES + 1]; /* index of each class's first in order */
    size_t next[DG_LOAD_CLASSES];
    size_t n_classes;
    double total;
};

static int draw_open(struct draw *d, const struct dg_load_plan *plan,
    const struct dg_load_items *items, struct dg_error *err)
{
    memset(d, 0, sizeof *d);
    d->plan = plan;
    d->state = plan->seed;
    d->n_classes = items->n_classes;
    if (!(d->order = malloc(items->n * sizeof *d->order)))
        return dg_error_set(err, DG_ENOMEM, "no memory for a schedule");
    size_t n = 0;
    for (size_t c = 0; c < items->n_classes; c++) {
        d->first[c] = d->next[c] = n;
        d->total += plan->share[c];
        for (size_t i = 0; i < items->n; i++)
            if (items->list[i].class == c)
                d->order[n++] = (uint32_t)i;
        for (size_t i = n; i > d->first[c] + 1; i--) { /* Fisher-Yates */
            size_t j = d->first[c] + dg_bench_bits(&d->state) % (i - d->first[c]);
            uint32_t t = d->order[i - 1];
            d->order[i - 1] = d->order[j];
            d->order[j] = t;
        }
    }
    d->first[items->n_classes] = n;
    if (d->total > 0)
        return DG_OK;
    free(d->order);
    return dg_error_set(err, DG_EINVAL, "every class has the share 0");
}

static void draw_record(struct draw *d, struct dg_load_record *r)
{
    double at = dg_bench_unit(&d->state) * d->total;
    uint8_t c = 0;
    while (at > d->plan->share[c] && c + 1u < d->n_classes)
        at -= d->plan->share[c++];
    r->class = c;
    r->item = d->order[d->next[c]];
    if (++d->next[c] == d->first[c + 1])
        d->next[c] = d->first[c];
    /* Always drawn, so that the share of vanishing clients does not change the arrivals. */
    double leaves = dg_bench_unit(&d->state), when = dg_bench_unit(&d->state);
    uint64_t how = dg_bench_bits(&d->state);
    r->vanish = DG_LOAD_STAYS;
    if (leaves <= d->plan->vanish) {
        r->vanish = (uint8_t)(DG_LOAD_CLOSES + how % 4);
        r->vanish_ns = (uint64_t)(when * d->plan->vanish_seconds * 1e9);
    }
}

struct record_list {
    struct dg_load_record *list; /* [n] */
    size_t n, cap, max;
};

static int list_add(struct record_list *l, const struct dg_load_record *r, struct dg_error *err)
{
    if (l->n == l->max)
        return dg_error_set(err, DG_ELIMIT, "more than %zu requests", l->max);
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 4096;
        struct dg_load_record *more = realloc(l->list, cap * sizeof *more);
        if (!more)
            return dg_error_set(err, DG_ENOMEM, "no memory for a schedule");
        l->list = more;
        l->cap = cap;
    }
    l->list[l->n++] = *r;
    return DG_OK;
}

int dg_load_schedule_poisson(const struct dg_load_plan *plan, const struct dg_load_items *items,
    struct dg_load_record **out, size_t *n, struct dg_error *err)
{
    struct draw d;
    struct record_list l = {.max = plan->max_records};
    double from = 0;
    int rc = draw_open(&d, plan, items, err);
    if (rc != DG_OK)
        return rc;
    for (size_t p = 0; p < plan->n_phases; p++) {
        double t = from, end = from + plan->phases[p].seconds;
        while (rc == DG_OK && (t -= log(dg_bench_unit(&d.state)) / plan->phases[p].rate) < end) {
            struct dg_load_record r = {.due_ns = (uint64_t)(t * 1e9), .phase = (uint8_t)p};
            draw_record(&d, &r);
            if (plan->only < 0 || r.class == plan->only)
                rc = list_add(&l, &r, err);
        }
        from = end;
    }
    free(d.order);
    if (rc == DG_OK && l.n == 0)
        rc = dg_error_set(err, DG_EINVAL, "no request falls into the time given");
    if (rc != DG_OK) {
        free(l.list);
        return rc;
    }
    *out = l.list;
    *n = l.n;
    return DG_OK;
}

int dg_load_schedule_closed(const struct dg_load_plan *plan, const struct dg_load_items *items,
    size_t n, struct dg_load_record **out, struct dg_error *err)
{
    struct draw d;
    int rc = draw_open(&d, plan, items, err);
    if (rc != DG_OK)
        return rc;
    struct dg_load_record *list = calloc(n, sizeof *list);
    for (size_t i = 0; list && i < n; i++) {
        do
            draw_record(&d, &list[i]);
        while (plan->only >= 0 && list[i].class != plan->only);
    }
    free(d.order);
    *out = list;
    return list ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a schedule");
}

int dg_load_schedule_each(
    const struct dg_load_items *items, struct dg_load_record **out, struct dg_error *err)
{
    struct dg_load_record *list = calloc(items->n, sizeof *list);
    for (size_t i = 0; list && i < items->n; i++) {
        list[i].item = (uint32_t)i;
        list[i].class = (uint8_t)items->list[i].class;
    }
    *out = list;
    return list ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a schedule");
}
