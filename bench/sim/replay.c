#include "bench/sim/replay.h"

#include "bench/distribution.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct setting {
    const struct dg_sim_command *o;
    struct dg_sim_cost cost;
    struct dg_sim_items items;
    uint32_t blocks;
    double share[DG_SIM_CLASSES];
    int only, bulk; /* classes, or -1 */
    double rate;    /* of --rate or --load */
};

static struct dg_sim_options options_of(const struct setting *s, enum dg_sim_batching batching)
{
    const struct dg_sim_command *o = s->o;
    struct dg_batch_policy policy = dg_batch_policy_default;
    if (o->encode_tokens >= 0)
        policy.encode_tokens = (uint32_t)o->encode_tokens;
    return (struct dg_sim_options){.batching = batching,
        .policy = policy,
        .workers = o->workers,
        .max_rows = o->rows,
        .step_rows = o->step_rows,
        .max_sentences = o->sentences,
        .blocks = s->blocks,
        .queue_tokens = o->queue_tokens,
        .queue_seconds = o->queue_seconds};
}

static int read_setting(struct setting *s, struct dg_error *err)
{
    const struct dg_sim_command *o = s->o;
    struct dg_json *v = dg_json_load(o->cost, err);
    int rc = v ? dg_sim_cost_read(v, &s->cost, err) : DG_EFORMAT;
    const struct dg_json *measured = dg_json_get(v, "measured");
    int64_t beam = dg_json_int(dg_json_get(measured, "beam"));
    s->blocks = (uint32_t)dg_json_int(dg_json_get(measured, "blocks"));
    if (rc == DG_OK && dg_json_get(v, "items"))
        rc = dg_sim_items_read(dg_json_get(v, "items"), &s->items, err);
    else if (rc == DG_OK)
        rc = dg_sim_items_invent(o->beam > 0 ? o->beam
                                 : beam > 0  ? (uint32_t)beam
                                             : 4,
            &s->items, err);
    dg_json_free(v);
    if (rc == DG_OK && o->outside_us >= 0)
        s->cost.outside_us = o->outside_us;
    if (rc == DG_OK && o->request_us >= 0)
        s->cost.request_us = o->request_us;
    for (size_t c = 0; c < DG_SIM_CLASSES; c++)
        s->share[c] = 1;
    for (size_t i = 0; i < o->n_share && rc == DG_OK; i++) {
        char name[64] = "", *end;
        size_t n = strcspn(o->share[i], "=");
        memcpy(name, o->share[i], n < 63 ? n : 63);
        int c = dg_sim_items_class(&s->items, name);
        double w = strtod(o->share[i] + n + 1, &end);
        if (c < 0 || end == o->share[i] + n + 1 || *end != '\0' || !(w >= 0))
            rc =
                dg_error_set(err, DG_EINVAL, "--share %s: no such class or no weight", o->share[i]);
        else
            s->share[c] = w;
    }
    s->only = o->only ? dg_sim_items_class(&s->items, o->only) : -1;
    s->bulk = o->bulk ? dg_sim_items_class(&s->items, o->bulk) : -1;
    if (rc == DG_OK && o->only && s->only < 0)
        rc = dg_error_set(err, DG_EINVAL, "--only %s: no such class", o->only);
    if (rc == DG_OK && o->bulk && s->bulk < 0)
        rc = dg_error_set(err, DG_EINVAL, "--bulk %s: no such class", o->bulk);
    return rc;
}

/* Requests per second with an unlimited backlog. */
static int capacity_of(
    struct setting *s, enum dg_sim_batching batching, double *out, struct dg_error *err)
{
    struct dg_sim_arrivals a;
    struct dg_sim_result r;
    struct dg_sim_options o = options_of(s, batching);
    size_t n = 40 * (size_t)(o.workers * o.max_sentences);
    o.queue_tokens = 0;
    o.queue_seconds = 0;
    int rc = dg_sim_arrivals_poisson(
        &s->items, &(struct dg_sim_poisson){0, n < 200000 ? n : 200000, s->share, -1, 7}, &a, err);
    if (rc == DG_OK)
        rc = dg_sim_run(&o, &s->cost, s->items.sentences, a.list, a.n, &r, err);
    double per_request = 0;
    for (size_t i = 0; i < a.n; i++)
        per_request += (double)a.list[i].n / (double)a.n;
    if (rc == DG_OK)
        *out = r.backlog_ns > 0
                   ? (double)r.backlog_sentences / per_request / ((double)r.backlog_ns / 1e9)
                   : 0;
    if (rc == DG_OK && *out <= 0)
        rc = dg_error_set(err, DG_EINVAL, "no capacity could be found");
    dg_sim_arrivals_free(&a);
    return rc;
}

/* Answers per second as dragoman-load's closed loop measures them: between the first fifth of a
 * long run and its last tenth, when the loop runs dry. */
static int closed_loop(struct setting *s, double *per_s, struct dg_error *err)
{
    enum { N = 4000 };
    struct dg_sim_arrivals a = {0};
    struct dg_sim_result r;
    struct dg_sim_options o = options_of(s, DG_SIM_CONTINUOUS);
    double *done = calloc(N, sizeof *done);
    o.queue_tokens = 0;
    o.queue_seconds = 0;
    o.under_way = 64;
    int rc = done ? dg_sim_arrivals_poisson(
                        &s->items, &(struct dg_sim_poisson){1, N, s->share, -1, 7}, &a, err)
                  : dg_error_set(err, DG_ENOMEM, "no memory");
    if (rc == DG_OK &&
        (rc = dg_sim_run(&o, &s->cost, s->items.sentences, a.list, a.n, &r, err)) == DG_OK) {
        for (size_t i = 0; i < N; i++)
            done[i] = (double)a.list[i].done_ns / 1e9;
        dg_bench_sort(done, N);
        *per_s = (N - N / 10 - N / 5) / (done[N - N / 10] - done[N / 5]);
    }
    dg_sim_arrivals_free(&a);
    free(done);
    return rc;
}

/* A loaded machine does more than steps: connections, the kernel, clients. This cost appears when
 * all workers are busy, and is charged there. */
static int scale_to_capacity(struct setting *s, struct dg_error *err)
{
    double found = 0;
    int rc = DG_OK;
    for (int i = 0; i < 8 && rc == DG_OK && fabs(found / s->o->capacity - 1) > 0.003; i++) {
        rc = closed_loop(s, &found, err);
        if (rc == DG_OK)
            dg_sim_cost_scale_busy(&s->cost, found / s->o->capacity);
    }
    return rc;
}

/* Latencies in milliseconds of a class, simulated or (real) traced. */
static struct dg_json *latencies(
    const struct dg_sim_arrivals *a, uint32_t class, bool real, double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct dg_sim_request *r = &a->list[i];
        if (r->class != class || (real ? a->real_ms[i] < 0 : r->done_ns == 0))
            continue;
        scratch[n++] = real ? a->real_ms[i] : (double)(r->done_ns - r->at_ns) / 1e6;
    }
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "n", (int64_t)n);
    if (n > 0)
        dg_bench_distribution(scratch, n, o);
    return o;
}

static struct dg_json *report(const struct setting *s, enum dg_sim_batching batching,
    const struct dg_sim_arrivals *a, const struct dg_sim_result *r, double *scratch)
{
    struct dg_json *o = dg_json_new_object(), *classes = dg_json_new_object();
    double seconds = (double)(r->end_ns - a->list[0].at_ns) / 1e9;
    seconds = seconds > 0 ? seconds : 1e-9;
    dg_json_set_string(o, "batching", dg_sim_batching_name(batching));
    dg_json_set_int(o, "requests", (int64_t)a->n);
    dg_json_set_int(o, "refused", (int64_t)r->refused);
    dg_json_set_real(o, "seconds", seconds);
    dg_json_set_real(o, "sentences_per_s", (double)r->sentences / seconds);
    dg_json_set_real(o, "target_tokens_per_s", (double)r->target_tokens / seconds);
    dg_json_set_real(o, "busy", (double)r->busy_ns / 1e9 / seconds / s->o->workers);
    dg_json_set_real(o, "rows_per_step", r->steps > 0 ? (double)r->rows / (double)r->steps : 0);
    for (uint32_t c = 0; c < s->items.n_classes; c++) {
        struct dg_json *one = dg_json_new_object();
        dg_json_set_take(one, "latency_ms", latencies(a, c, false, scratch));
        if (a->real_ms)
            dg_json_set_take(one, "real_latency_ms", latencies(a, c, true, scratch));
        dg_json_set_take(classes, s->items.classes[c], one);
    }
    dg_json_set_take(o, "classes", classes);
    return o;
}

static double field(const struct dg_json *o, const char *outer, const char *key)
{
    return dg_json_number(dg_json_get(outer ? dg_json_get(o, outer) : o, key));
}

static void print_row(const struct setting *s, const struct dg_json *o)
{
    printf("%-13s %8.1f sentences/s  capacity %8.1f/s  busy %3.0f %%  rows %6.1f  refused %lld\n",
        dg_json_string(dg_json_get(o, "batching"), NULL), field(o, NULL, "sentences_per_s"),
        field(o, NULL, "capacity_per_s"), 100 * field(o, NULL, "busy"),
        field(o, NULL, "rows_per_step"), (long long)dg_json_int(dg_json_get(o, "refused")));
    for (size_t c = 0; c < s->items.n_classes; c++) {
        const struct dg_json *one = dg_json_get(dg_json_get(o, "classes"), s->items.classes[c]);
        if (field(one, "latency_ms", "n") == 0)
            continue;
        printf("  %-11s p50 %9.1f ms  p90 %9.1f ms  p99 %9.1f ms", s->items.classes[c],
            field(one, "latency_ms", "p50"), field(one, "latency_ms", "p90"),
            field(one, "latency_ms", "p99"));
        if (dg_json_get(one, "real_latency_ms"))
            printf("   real p50 %9.1f ms  p99 %9.1f ms", field(one, "real_latency_ms", "p50"),
                field(one, "real_latency_ms", "p99"));
        printf("\n");
    }
}

static int run_one(
    struct setting *s, enum dg_sim_batching batching, struct dg_json *list, struct dg_error *err)
{
    const struct dg_sim_command *o = s->o;
    struct dg_sim_options so = options_of(s, batching);
    struct dg_sim_arrivals a;
    struct dg_sim_result r;
    double capacity = 0;
    int rc = capacity_of(s, batching, &capacity, err);
    if (rc != DG_OK)
        return rc;
    if (o->trace)
        rc = dg_sim_arrivals_trace(&s->items, o->trace, o->speed, (int)o->phase, &a, err);
    else
        rc = dg_sim_arrivals_poisson(&s->items,
            &(struct dg_sim_poisson){s->rate, o->requests, s->share, s->only, o->seed}, &a, err);
    for (size_t i = 0; rc == DG_OK && i < a.n; i++)
        a.list[i].bulk = (int)a.list[i].class == s->bulk;
    if (rc == DG_OK)
        rc = dg_sim_run(&so, &s->cost, s->items.sentences, a.list, a.n, &r, err);
    double *scratch = rc == DG_OK ? malloc(a.n * sizeof *scratch) : NULL;
    if (rc == DG_OK && !scratch)
        rc = dg_error_set(err, DG_ENOMEM, "no memory");
    if (rc == DG_OK) {
        struct dg_json *v = report(s, batching, &a, &r, scratch);
        dg_json_set_real(v, "capacity_per_s", capacity);
        if (!o->trace)
            dg_json_set_real(v, "rate", s->rate);
        if (!o->json)
            print_row(s, v);
        dg_json_append_take(list, v);
    }
    free(scratch);
    dg_sim_arrivals_free(&a);
    return rc;
}

int dg_sim_replay(const struct dg_sim_command *o, struct dg_json *list, struct dg_error *err)
{
    struct setting s = {.o = o, .rate = o->rate};
    int rc = read_setting(&s, err);
    if (rc == DG_OK && o->capacity > 0)
        rc = scale_to_capacity(&s, err);
    if (rc == DG_OK && o->load > 0 &&
        (rc = capacity_of(&s, DG_SIM_CONTINUOUS, &s.rate, err)) == DG_OK)
        s.rate *= o->load;
    for (int b = 0; b < DG_SIM_BATCHINGS && rc == DG_OK; b++)
        if (o->all || (enum dg_sim_batching)b == o->batching)
            rc = run_one(&s, (enum dg_sim_batching)b, list, err);
    dg_sim_items_free(&s.items);
    return rc;
}
