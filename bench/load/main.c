/* dragoman-load: puts load on a server on this machine and measures it (docs/serving-bench.md).
 * Connects to 127.0.0.1 only. */
#include "base/clock.h"
#include "bench/load/idle.h"
#include "bench/load/options.h"
#include "bench/load/report.h"
#include "bench/load/slow.h"
#include "bench/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct load {
    struct dg_load_options o;
    struct dg_load_items items;
    struct dg_load_record *records; /* [n] */
    size_t n;
    struct dg_json *fields[DG_LOAD_CLASSES];
    struct dg_load_idle idle;
    struct dg_load_slow slow;
    struct dg_error learn_error;
};

static int read_items(struct load *l, struct dg_error *err)
{
    struct dg_load_fields fields[DG_LOAD_CLASSES];
    const struct dg_load_options *o = &l->o;
    for (size_t i = 0; i < o->n_fields; i++) {
        const char *text = o->fields[i].value;
        if (!(l->fields[i] = dg_json_parse(text, strlen(text), err)) ||
            dg_json_typeof(l->fields[i]) != DG_JSON_OBJECT)
            return dg_error_set(err, DG_EINVAL, "--fields takes an object, not %s", text);
        fields[i] = (struct dg_load_fields){o->fields[i].class, l->fields[i]};
    }
    return dg_load_items_read(o->items, o->path, fields, o->n_fields, &l->items, err);
}

/* Complete the plan by the items' classes. */
static int make_plan(struct load *l, struct dg_error *err)
{
    const struct dg_load_options *o = &l->o;
    struct dg_load_plan *p = &l->o.plan;
    char *end;
    p->only = -1;
    for (size_t c = 0; c < l->items.n_classes; c++)
        p->share[c] = 1;
    for (size_t i = 0; i < o->n_share; i++) {
        int c = dg_load_items_class(&l->items, o->share[i].class);
        double w = strtod(o->share[i].value, &end);
        if (c < 0 || end == o->share[i].value || *end != '\0' || !(w >= 0 && w < 1e9))
            return dg_error_set(err, DG_EINVAL,
                "--share %s=%s: a class of the items and a weight are expected", o->share[i].class,
                o->share[i].value);
        p->share[c] = w;
    }
    if (o->only &&
        ((p->only = dg_load_items_class(&l->items, o->only)) < 0 || p->share[p->only] <= 0))
        return dg_error_set(err, DG_EINVAL, "--only %s: no such class, or its share is 0", o->only);
    return DG_OK;
}

static int make_records(struct load *l, struct dg_error *err)
{
    switch (l->o.verb) {
    case DG_LOAD_LEARN:
        l->n = l->items.n;
        return dg_load_schedule_each(&l->items, &l->records, err);
    case DG_LOAD_CLOSED:
        l->n = l->o.plan.max_records;
        return dg_load_schedule_closed(&l->o.plan, &l->items, l->n, &l->records, err);
    default: return dg_load_schedule_poisson(&l->o.plan, &l->items, &l->records, &l->n, err);
    }
}

static void learn(void *arg, const struct dg_load_record *r, const char *body, size_t n)
{
    struct load *l = arg;
    dg_load_item_learn(&l->items.list[r->item], body, n, &l->learn_error);
}

static struct dg_json *nuisance_report(struct load *l)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "idle", (int64_t)l->idle.n);
    dg_json_set_int(o, "idle_answered_at_end", (int64_t)dg_load_idle_check(&l->idle));
    dg_json_set_int(o, "slow", l->o.slow);
    dg_load_slow_close(&l->slow);
    dg_json_set_take(o, "slow_headers", dg_load_slow_report(&l->slow, DG_LOAD_SLOW_HEADERS));
    dg_json_set_take(o, "slow_body", dg_load_slow_report(&l->slow, DG_LOAD_SLOW_BODY));
    return o;
}

static int drive(struct load *l, struct dg_error *err)
{
    const struct dg_load_options *o = &l->o;
    struct dg_load_client_options c = {
        .port = (uint16_t)o->port,
        .max_connections = o->verb == DG_LOAD_LEARN ? 1 : (uint32_t)o->connections,
        .concurrency = o->verb == DG_LOAD_LEARN    ? 1
                       : o->verb == DG_LOAD_CLOSED ? (uint32_t)o->concurrency
                                                   : 0,
        .seconds = o->verb == DG_LOAD_CLOSED ? o->seconds : 0,
        .grace_seconds = o->grace,
        .term_pid = (pid_t)o->term_pid,
        .term_seconds = o->term_after,
        .arg = l,
        .answered = o->verb == DG_LOAD_LEARN ? learn : NULL,
    };
    struct dg_load_run run = {.items = &l->items,
        .plan = &l->o.plan,
        .records = l->records,
        .warm_up_seconds = o->warm_up,
        .closed = o->verb != DG_LOAD_OPEN};
    if (c.concurrency > c.max_connections)
        c.max_connections = c.concurrency;
    run.cpu_ns = dg_clock_cpu_ns();
    int rc = dg_load_client_run(&c, &l->items, l->records, l->n, &run.result, err);
    run.cpu_ns = dg_clock_cpu_ns() - run.cpu_ns;
    run.n = run.result.started;
    if (rc != DG_OK)
        return rc;
    struct dg_json *report = dg_load_report(&run);
    if (o->verb == DG_LOAD_OPEN)
        dg_json_set_take(report, "beside", nuisance_report(l));
    rc = dg_bench_print(report, 1, err);
    dg_json_free(report);
    if (rc == DG_OK && o->trace)
        rc = dg_load_report_trace(&run, o->trace, err);
    return rc;
}

/* Write the answers learned; an item without an answer is an error that names it. */
static int write_learned(struct load *l, struct dg_error *err)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->records[i].outcome != DG_LOAD_OK)
            return dg_error_set(
                err, DG_EIO, "item %zu was not answered (status %u)", i + 1, l->records[i].status);
    if (l->learn_error.code != DG_OK) {
        *err = l->learn_error;
        return err->code;
    }
    return dg_load_items_write(&l->items, l->o.out, err);
}

static int run(struct load *l, struct dg_error *err)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    int rc = read_items(l, err);
    if (rc == DG_OK)
        rc = make_plan(l, err);
    if (rc == DG_OK)
        rc = make_records(l, err);
    if (rc == DG_OK)
        rc = dg_load_idle_open(
            &l->idle, (uint16_t)l->o.port, l->o.verb == DG_LOAD_OPEN ? (size_t)l->o.idle : 0, err);
    if (rc == DG_OK)
        rc = dg_load_slow_open(&l->slow, (uint16_t)l->o.port,
            l->o.verb == DG_LOAD_OPEN ? (size_t)l->o.slow : 0, l->o.slow_interval, err);
    if (rc == DG_OK)
        rc = drive(l, err);
    if (rc == DG_OK && l->o.verb == DG_LOAD_LEARN)
        rc = write_learned(l, err);
    return rc;
}

int main(int argc, char *argv[])
{
    static struct load l;
    struct dg_error err = {0};
    int status = dg_load_options_read(argc, argv, &l.o);
    if (status >= 0)
        return status;
    int rc = run(&l, &err);
    if (rc != DG_OK)
        fprintf(stderr, "dragoman-load: %s\n", err.message);
    dg_load_slow_close(&l.slow);
    dg_load_idle_close(&l.idle);
    dg_load_items_free(&l.items);
    for (size_t i = 0; i < DG_LOAD_CLASSES; i++)
        dg_json_free(l.fields[i]);
    free(l.records);
    return rc == DG_OK ? 0 : 1;
}
