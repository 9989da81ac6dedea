#include "bench/load/report.h"

#include "base/file.h"
#include "bench/distribution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const outcome_names[DG_LOAD_OUTCOMES] = {
    "unanswered", "ok", "wrong", "refused", "lost", "unsent", "vanished"};

/* Figures of a record, in milliseconds; negative: not measured. */
enum figure {
    FIGURE_LATENCY,
    FIGURE_LAG,
    FIGURE_OVERHEAD,
    FIGURE_PLAN,
    FIGURE_QUEUE,
    FIGURE_ENCODE,
    FIGURE_DECODE,
    FIGURES
};

static const char *const figure_names[FIGURES] = {
    "latency_ms", "lag_ms", "overhead_ms", "plan_ms", "queue_ms", "encode_ms", "decode_ms"};

static double figure_of(const struct dg_load_record *r, enum figure f)
{
    const float *t = r->timing;
    bool sent = r->sent_ns >= r->due_ns && r->sent_ns <= r->done_ns; /* in full, before the reply */
    switch (f) {
    case FIGURE_LATENCY: return (double)(r->done_ns - r->due_ns) / 1e6;
    case FIGURE_LAG: return !sent ? -1 : (double)(r->sent_ns - r->due_ns) / 1e6;
    case FIGURE_OVERHEAD: /* all but queue and engine, the wire included */
        if (!sent || t[DG_LOAD_QUEUE] < 0 || t[DG_LOAD_ENCODE] < 0 || t[DG_LOAD_DECODE] < 0)
            return -1;
        return (double)(r->done_ns - r->sent_ns) / 1e6 -
               (double)(t[DG_LOAD_QUEUE] + t[DG_LOAD_ENCODE] + t[DG_LOAD_DECODE]);
    case FIGURE_PLAN: return (double)t[DG_LOAD_PLAN];
    case FIGURE_QUEUE: return (double)t[DG_LOAD_QUEUE];
    case FIGURE_ENCODE: return (double)t[DG_LOAD_ENCODE];
    case FIGURE_DECODE: return (double)t[DG_LOAD_DECODE];
    default: return -1;
    }
}

/* When the warm-up ends; 0: there is none. */
static uint64_t warm_ns(const struct dg_load_run *run)
{
    return run->closed ? (uint64_t)(run->warm_up_seconds * 1e9) : 0;
}

/* The distribution of a figure over records of one phase and class (-1: all) with this outcome that
 * were due after the warm-up. */
static struct dg_json *figures(const struct dg_load_run *run, int phase, int class,
    enum dg_load_outcome outcome, enum figure f, double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++) {
        const struct dg_load_record *r = &run->records[i];
        if (r->outcome != outcome || r->due_ns < warm_ns(run) ||
            (phase >= 0 && r->phase != phase) || (class >= 0 && r->class != class))
            continue;
        double x = figure_of(r, f);
        if (x >= 0)
            scratch[n++] = x;
    }
    struct dg_json *o = dg_json_new_object();
    if (n > 0)
        dg_bench_distribution(scratch, n, o);
    return o;
}

/* Counts by outcome, and of refused requests by status. */
static struct dg_json *counts(const struct dg_load_run *run, int phase, int class)
{
    struct dg_json *o = dg_json_new_object(), *statuses = dg_json_new_object();
    size_t n[DG_LOAD_OUTCOMES] = {0}, status[600] = {0}, all = 0;
    for (size_t i = 0; i < run->n; i++) {
        const struct dg_load_record *r = &run->records[i];
        if ((phase >= 0 && r->phase != phase) || (class >= 0 && r->class != class))
            continue;
        all++;
        n[r->outcome]++;
        if (r->outcome == DG_LOAD_REFUSED && r->status < 600)
            status[r->status]++;
    }
    dg_json_set_int(o, "requests", (int64_t)all);
    for (int i = 0; i < DG_LOAD_OUTCOMES; i++)
        dg_json_set_int(o, outcome_names[i], (int64_t)n[i]);
    for (int i = 100; i < 600; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        if (status[i] > 0)
            dg_json_set_int(statuses, key, (int64_t)status[i]);
    }
    dg_json_set_take(o, "refused_by_status", statuses);
    return o;
}

static struct dg_json *class_report(
    const struct dg_load_run *run, int phase, int class, double *scratch)
{
    struct dg_json *o = counts(run, phase, class);
    for (int f = 0; f < FIGURES; f++)
        dg_json_set_take(
            o, figure_names[f], figures(run, phase, class, DG_LOAD_OK, (enum figure)f, scratch));
    dg_json_set_take(
        o, "refused_ms", figures(run, phase, class, DG_LOAD_REFUSED, FIGURE_LATENCY, scratch));
    return o;
}

static struct dg_json *phase_report(const struct dg_load_run *run, int phase, double *scratch)
{
    struct dg_json *o = counts(run, phase, -1), *classes = dg_json_new_object();
    if (!run->closed) {
        dg_json_set_real(o, "rate", run->plan->phases[phase].rate);
        dg_json_set_real(o, "seconds", run->plan->phases[phase].seconds);
    }
    for (size_t c = 0; c < run->items->n_classes; c++)
        dg_json_set_take(
            classes, run->items->classes[c], class_report(run, phase, (int)c, scratch));
    dg_json_set_take(o, "classes", classes);
    return o;
}

/* Answers per second. Closed loop: between the warm-up and the last request sent, while all
 * connections are busy; open loop: from the first due time to the last answer. */
static struct dg_json *throughput(const struct dg_load_run *run)
{
    struct dg_json *o = dg_json_new_object();
    uint64_t from = run->closed ? warm_ns(run) : UINT64_MAX, to = 0;
    uint64_t answers = 0, sentences = 0, in = 0, out = 0;
    for (size_t i = 0; i < run->n && !run->closed; i++) {
        const struct dg_load_record *r = &run->records[i];
        from = r->due_ns < from ? r->due_ns : from;
        to = r->outcome == DG_LOAD_OK && r->done_ns > to ? r->done_ns : to;
    }
    if (run->closed)
        to = run->result.last_send_ns;
    for (size_t i = 0; i < run->n; i++) {
        const struct dg_load_record *r = &run->records[i];
        const struct dg_load_item *item = &run->items->list[r->item];
        if (r->outcome != DG_LOAD_OK || r->done_ns <= from || r->done_ns > to)
            continue;
        answers++;
        sentences += item->sentences;
        in += item->source_tokens;
        out += item->target_tokens;
    }
    double s = to > from ? (double)(to - from) / 1e9 : 0;
    dg_json_set_real(o, "seconds", s);
    dg_json_set_int(o, "answers", (int64_t)answers);
    s = s > 0 ? s : 1;
    dg_json_set_real(o, "answers_per_s", (double)answers / s);
    dg_json_set_real(o, "sentences_per_s", (double)sentences / s);
    dg_json_set_real(o, "source_tokens_per_s", (double)in / s);
    dg_json_set_real(o, "target_tokens_per_s", (double)out / s);
    return o;
}

/* Outcomes of the requests sent before the server was told to stop, and of the later ones. */
static struct dg_json *term_report(const struct dg_load_run *run)
{
    struct dg_json *o = dg_json_new_object();
    size_t n[2][DG_LOAD_OUTCOMES] = {{0}};
    for (size_t i = 0; i < run->n; i++) {
        const struct dg_load_record *r = &run->records[i];
        bool before = r->sent_ns > 0 && r->sent_ns < run->result.term_ns;
        n[before ? 0 : 1][r->outcome]++;
    }
    dg_json_set_real(o, "at_s", (double)run->result.term_ns / 1e9);
    for (int k = 0; k < 2; k++) {
        struct dg_json *part = dg_json_new_object();
        for (int i = 0; i < DG_LOAD_OUTCOMES; i++)
            dg_json_set_int(part, outcome_names[i], (int64_t)n[k][i]);
        dg_json_set_take(o, k == 0 ? "sent_before" : "later", part);
    }
    return o;
}

struct dg_json *dg_load_report(const struct dg_load_run *run)
{
    struct dg_json *o = counts(run, -1, -1), *phases = dg_json_new_array();
    struct dg_json *generator = dg_json_new_object();
    double *scratch = malloc((run->n ? run->n : 1) * sizeof *scratch);
    double wall = (double)run->result.end_ns / 1e9;
    if (!scratch) {
        dg_json_free(o);
        dg_json_free(phases);
        dg_json_free(generator);
        return NULL;
    }
    dg_json_set_real(o, "seconds", wall);
    dg_json_set_take(o, "throughput", throughput(run));
    size_t n_phases = run->closed ? 1 : run->plan->n_phases;
    for (size_t p = 0; p < n_phases; p++)
        dg_json_append_take(phases, phase_report(run, (int)p, scratch));
    dg_json_set_take(o, "phases", phases);
    if (run->result.term_ns > 0)
        dg_json_set_take(o, "sigterm", term_report(run));
    dg_json_set_real(generator, "cpu_s", (double)run->cpu_ns / 1e9);
    dg_json_set_real(generator, "cpus", (double)run->cpu_ns / 1e9 / (wall > 0 ? wall : 1));
    dg_json_set_int(generator, "connections", run->result.connections);
    dg_json_set_int(generator, "connections_opened", run->result.opened);
    dg_json_set_take(o, "generator", generator);
    free(scratch);
    return o;
}

int dg_load_report_trace(const struct dg_load_run *run, const char *path, struct dg_error *err)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b,
        "phase\tclass\titem\tdue_ns\tsent_ns\tdone_ns\toutcome\tstatus\tsentences\tsource_tokens\t"
        "target_tokens\n");
    for (size_t i = 0; i < run->n; i++) {
        const struct dg_load_record *r = &run->records[i];
        const struct dg_load_item *item = &run->items->list[r->item];
        dg_buffer_addf(&b, "%u\t%s\t%u\t%llu\t%llu\t%llu\t%s\t%u\t%u\t%u\t%u\n", r->phase,
            run->items->classes[r->class], r->item, (unsigned long long)r->due_ns,
            (unsigned long long)r->sent_ns, (unsigned long long)r->done_ns,
            outcome_names[r->outcome], r->status, item->sentences, item->source_tokens,
            item->target_tokens);
    }
    int rc = b.failed ? dg_error_set(err, DG_ENOMEM, "no memory for a trace")
                      : dg_file_write(path, b.data, b.len, err);
    dg_buffer_deinit(&b);
    return rc;
}
