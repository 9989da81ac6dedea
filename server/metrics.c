#include "server/metrics.h"

#include "server/histogram.h"
#include "server/metrics_names.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROUTES 127
#define MAX_LABELS (DG_METRICS_NAMES + 1)

static const char *const outcomes[] = {
    "ok", "invalid", "overloaded", "cancelled", "timeout", "error", "refused", NULL};
static const char *const stages[] = {"tokenize", "encode", "decode", "detokenize", NULL};
/* All that the server answers with (tests/api/test_metrics.py); 0: any other. */
static const int statuses[] = {200, 201, 204, 400, 401, 403, 404, 405, 408, 413, 414, 415, 422, 429,
    431, 456, 499, 500, 503, 504, 0};

const char *const dg_metrics_classes[DG_METRICS_CLASSES] = {"interactive", "bulk"};

enum {
    STATUSES = sizeof statuses / sizeof *statuses,
    OUTCOMES = sizeof outcomes / sizeof *outcomes - 1
};

/* A family with at most one label. values NULL: no label, except for pairs, whose values are
 * collected as they occur. */
static const struct counter_family {
    const char *name, *help, *label;
    const char *const *values;
} counter_table[DG_COUNTERS] = {
    [DG_COUNT_SENTENCES] = {"dragoman_sentences_total",
        "Sentences translated, including those of documents.", "pair", NULL},
    [DG_COUNT_CHARACTERS] = {"dragoman_characters_total",
        "Characters of translated texts and documents (code points).", "pair", NULL},
    [DG_COUNT_SOURCE_TOKENS] = {"dragoman_source_tokens_total", "Source tokens read.", NULL, NULL},
    [DG_COUNT_TARGET_TOKENS] = {"dragoman_target_tokens_total", "Target tokens of translations.",
        NULL, NULL},
    [DG_COUNT_DECODE_STEPS] = {"dragoman_decode_steps_total",
        "Decode steps; each advances every live sentence by one position.", NULL, NULL},
    [DG_COUNT_SPLIT] = {"dragoman_truncated_total",
        "Parts of sentences split because they were too long; no text is dropped.", NULL, NULL},
    [DG_COUNT_LENGTH_LIMITED] = {"dragoman_length_limit_hits_total",
        "Translations that reached their length limit.", NULL, NULL},
    [DG_COUNT_UNKNOWN] = {"dragoman_unknown_tokens_total",
        "Sentences with a character outside the vocabulary.", NULL, NULL},
    [DG_COUNT_BATCH_ITEMS] = {"dragoman_batch_items_total",
        "Batch items by outcome, without texts of documents.", "outcome", outcomes},
    [DG_COUNT_COALESCED] = {"dragoman_coalesced_sentences_total",
        "Sentences answered together with an equal sentence in the queue.", NULL, NULL},
    [DG_COUNT_REPETITION] = {"dragoman_repetition_detected_total",
        "Sentences decoded again because the first answer looped.", NULL, NULL},
    [DG_COUNT_LOW_CONFIDENCE] = {"dragoman_low_confidence_total",
        "Sentences flagged low_confidence.", NULL, NULL},
    [DG_COUNT_NUMBER_MISMATCH] = {"dragoman_number_mismatch_total",
        "Sentences whose translation has other numbers than the source.", NULL, NULL},
    [DG_COUNT_SOURCE_LANGUAGE_DOUBTFUL] = {"dragoman_source_language_doubtful_total",
        "Sentences that look like another language than the request's source.", NULL, NULL},
    [DG_COUNT_WORD_COPIED] = {"dragoman_word_copied_total",
        "Sentences whose translation copies a source word that is not a name.", NULL, NULL},
};

/* A step of a small model and its wait in an empty queue take tenths of a millisecond. */
static const double second_bounds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01,
    0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80};
static const double bytes[] = {
    256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864};
static const double powers[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

#define SECONDS second_bounds, sizeof second_bounds / sizeof *second_bounds, 1e9
#define POWERS powers, sizeof powers / sizeof *powers, 1
#define BYTES bytes, sizeof bytes / sizeof *bytes, 1

static_assert(
    sizeof second_bounds / sizeof *second_bounds < DG_HISTOGRAM_BUCKETS, "one is above all bounds");

/* Histograms with at most one label, of few values. */
static const struct histogram_row {
    struct dg_histogram_family family;
    const char *label;
    const char *const *values;
} histogram_table[DG_HISTOGRAMS] = {
    [DG_TIME_STAGE] = {{"dragoman_stage_duration_seconds",
                           "Time in each stage: per request in tokenize and detokenize, per "
                           "sentence in encode and decode.",
                           SECONDS},
        "stage", stages},
    [DG_TIME_FIRST] = {{"dragoman_time_to_first_sentence_seconds",
        "Time until the first sentence of a streamed request was written.", SECONDS}},
    [DG_SIZE_BATCH_ROWS] = {{"dragoman_batch_rows", "Hypotheses per decode step.", POWERS}},
    [DG_SIZE_BATCH_SENTENCES] = {{"dragoman_batch_sentences", "Sentences per decode step.",
        POWERS}},
};

static const struct dg_histogram_family
    http_family = {"dragoman_http_request_duration_seconds",
        "Time from complete request headers to the reply's last byte.", SECONDS},
    request_size_family = {"dragoman_http_request_size_bytes", "Size of request bodies.", BYTES},
    response_size_family = {"dragoman_http_response_size_bytes", "Size of reply bodies.", BYTES},
    wait_family = {"dragoman_queue_wait_seconds",
        "Time that sentences waited in the queue, by class.", SECONDS},
    step_family = {"dragoman_step_seconds", "Duration of a decode step.", SECONDS};

/* The histograms of one model. */
struct by_model {
    struct dg_histogram wait[DG_METRICS_CLASSES], step;
};

struct dg_metrics {
    const char *(*routes)[3];
    size_t n_routes;
    atomic_uint_least64_t requests[MAX_ROUTES][OUTCOMES];
    atomic_uint_least64_t counters[DG_COUNTERS][MAX_LABELS];
    struct dg_histogram histograms[DG_HISTOGRAMS][4];
    struct by_model models[DG_METRICS_NAMES + 1];
    /* by worker */
    atomic_uint_least64_t steps[DG_METRICS_WORKERS];
    atomic_uint_least64_t http[MAX_ROUTES + 1][STATUSES];
    struct dg_histogram http_time[MAX_ROUTES + 1], http_in[MAX_ROUTES + 1],
        http_out[MAX_ROUTES + 1];
    struct dg_metrics_names pairs, model_names;
};

int dg_metrics_open(
    const char *(*routes)[3], size_t n, struct dg_metrics **out, struct dg_error *err)
{
    struct dg_metrics *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for metrics");
    m->routes = routes;
    m->n_routes = n < MAX_ROUTES ? n : MAX_ROUTES;
    dg_metrics_names_init(&m->pairs);
    dg_metrics_names_init(&m->model_names);
    *out = m;
    return DG_OK;
}

void dg_metrics_close(struct dg_metrics *m)
{
    if (!m)
        return;
    dg_metrics_names_deinit(&m->pairs);
    dg_metrics_names_deinit(&m->model_names);
    free(m);
}

static void add(atomic_uint_least64_t *c, uint64_t n)
{
    atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

static uint64_t get(const atomic_uint_least64_t *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

void dg_metrics_add(struct dg_metrics *m, enum dg_counter c, unsigned label, uint64_t n)
{
    if (m && label < MAX_LABELS && n > 0) /* a sentence has eight flags, and mostly none set */
        add(&m->counters[c][label], n);
}

uint64_t dg_metrics_count(const struct dg_metrics *m, enum dg_counter c)
{
    return get(&m->counters[c][0]);
}

void dg_metrics_observe(
    struct dg_metrics *m, enum dg_histogram_name h, unsigned label, double value)
{
    if (m && label < 4)
        dg_histogram_observe(&histogram_table[h].family, &m->histograms[h][label], value);
}

void dg_metrics_waited(struct dg_metrics *m, unsigned model, unsigned class, double seconds)
{
    if (m && model <= DG_METRICS_NAMES && class < DG_METRICS_CLASSES)
        dg_histogram_observe(&wait_family, &m->models[model].wait[class], seconds);
}

void dg_metrics_stepped(struct dg_metrics *m, unsigned model, unsigned worker, double seconds)
{
    if (m && model <= DG_METRICS_NAMES)
        dg_histogram_observe(&step_family, &m->models[model].step, seconds);
    if (m && worker < DG_METRICS_WORKERS)
        add(&m->steps[worker], 1);
}

uint64_t dg_metrics_steps(const struct dg_metrics *m, unsigned worker)
{
    return worker < DG_METRICS_WORKERS ? get(&m->steps[worker]) : 0;
}

/* Histograms are by path: all methods of a path count under its first route. */
static size_t first_of_path(const struct dg_metrics *m, size_t route)
{
    size_t first = 0;
    while (first < route &&
           (route == m->n_routes || strcmp(m->routes[first][1], m->routes[route][1]) != 0))
        first++;
    return first;
}

void dg_metrics_http(struct dg_metrics *m, size_t route, const struct dg_metrics_exchange *e)
{
    size_t s = 0;
    if (!m)
        return;
    if (route > m->n_routes)
        route = m->n_routes;
    while (s < STATUSES - 1 && statuses[s] != e->status)
        s++;
    add(&m->http[route][s], 1);
    route = first_of_path(m, route);
    dg_histogram_observe(&http_family, &m->http_time[route], e->seconds);
    dg_histogram_observe(&request_size_family, &m->http_in[route], (double)e->bytes_in);
    dg_histogram_observe(&response_size_family, &m->http_out[route], (double)e->bytes_out);
}

void dg_metrics_request(struct dg_metrics *m, size_t route, enum dg_metrics_outcome how)
{
    if (m && route < m->n_routes)
        add(&m->requests[route][how], 1);
}

unsigned dg_metrics_pair(struct dg_metrics *m, const char *source, const char *target)
{
    char name[72];
    snprintf(name, sizeof name, "%.32s-%.32s", source, target);
    return m ? dg_metrics_names_place(&m->pairs, name) : 0;
}

unsigned dg_metrics_model(struct dg_metrics *m, const char *name)
{
    return m ? dg_metrics_names_place(&m->model_names, name) : 0;
}

static void write_head(struct dg_buffer *b, const char *name, const char *help, const char *type)
{
    dg_buffer_addf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_counter(struct dg_metrics *m, enum dg_counter c, struct dg_buffer *b)
{
    const struct counter_family *f = &counter_table[c];
    write_head(b, f->name, f->help, "counter");
    if (!f->label) {
        dg_buffer_addf(b, "%s %llu\n", f->name, (unsigned long long)get(&m->counters[c][0]));
        return;
    }
    if (f->values) {
        for (size_t i = 0; f->values[i]; i++)
            dg_buffer_addf(b, "%s{%s=\"%s\"} %llu\n", f->name, f->label, f->values[i],
                (unsigned long long)get(&m->counters[c][i]));
        return;
    }
    for (size_t i = 0, n = atomic_load(&m->pairs.n); i < n; i++) {
        char label[200];
        const char *const pair[] = {f->label, m->pairs.list[i], NULL};
        dg_metrics_label(label, sizeof label, pair);
        dg_buffer_addf(
            b, "%s%s %llu\n", f->name, label, (unsigned long long)get(&m->counters[c][i]));
    }
    if (get(&m->counters[c][DG_METRICS_NAMES]) > 0)
        dg_buffer_addf(b, "%s{%s=\"other\"} %llu\n", f->name, f->label,
            (unsigned long long)get(&m->counters[c][DG_METRICS_NAMES]));
}

/* Only of paths that were asked for: there are a hundred, and most clients use one or two. All
 * methods of a path are counted at its first route. */
static void write_by_route(struct dg_metrics *m, const struct dg_histogram_family *f,
    const struct dg_histogram *h, struct dg_buffer *b)
{
    write_head(b, f->name, f->help, "histogram");
    for (size_t r = 0; r <= m->n_routes; r++) {
        char labels[160];
        const char *const route[] = {"route", r < m->n_routes ? m->routes[r][1] : "other", NULL};
        if (dg_histogram_count(&h[r]) == 0)
            continue;
        dg_metrics_label(labels, sizeof labels, route);
        dg_histogram_write(f, &h[r], labels, b);
    }
}

/* Writes what is counted by model. */
static void write_models(struct dg_metrics *m, struct dg_buffer *b)
{
    const size_t named = atomic_load(&m->model_names.n), n = named + (named == DG_METRICS_NAMES);
    char labels[1200];
    write_head(b, wait_family.name, wait_family.help, "histogram");
    for (size_t i = 0; i < 2 * n; i++) {
        const char *const words[] = {"model",
            i / 2 < DG_METRICS_NAMES ? m->model_names.list[i / 2] : "other", "class",
            dg_metrics_classes[i % 2], NULL};
        dg_metrics_label(labels, sizeof labels, words);
        dg_histogram_write(&wait_family, &m->models[i / 2].wait[i % 2], labels, b);
    }
    write_head(b, step_family.name, step_family.help, "histogram");
    for (size_t i = 0; i < n; i++) {
        const char *const words[] = {
            "model", i < DG_METRICS_NAMES ? m->model_names.list[i] : "other", NULL};
        dg_metrics_label(labels, sizeof labels, words);
        dg_histogram_write(&step_family, &m->models[i].step, labels, b);
    }
}

static void write_http(struct dg_metrics *m, struct dg_buffer *b)
{
    write_head(b, "dragoman_http_requests_total",
        "HTTP requests by route and status; 499: the client disconnected.", "counter");
    for (size_t r = 0; r <= m->n_routes; r++) {
        for (size_t s = 0; s < STATUSES; s++) {
            uint64_t n = get(&m->http[r][s]);
            char code[16] = "other";
            if (n == 0)
                continue;
            if (statuses[s] > 0)
                snprintf(code, sizeof code, "%d", statuses[s]);
            dg_buffer_addf(b,
                "dragoman_http_requests_total{route=\"%s\",method=\"%s\",code=\"%s\"} %llu\n",
                r < m->n_routes ? m->routes[r][1] : "other",
                r < m->n_routes ? m->routes[r][0] : "other", code, (unsigned long long)n);
        }
    }
    write_by_route(m, &http_family, m->http_time, b);
    write_by_route(m, &request_size_family, m->http_in, b);
    write_by_route(m, &response_size_family, m->http_out, b);
}

/* A dialect is written at its first route. */
static bool is_first_of_dialect(const struct dg_metrics *m, size_t route)
{
    size_t first = 0;
    while (strcmp(m->routes[first][2], m->routes[route][2]) != 0)
        first++;
    return first == route;
}

static void write_requests(struct dg_metrics *m, struct dg_buffer *b)
{
    write_head(
        b, "dragoman_requests_total", "Translation and scoring requests by outcome.", "counter");
    for (size_t r = 0; r < m->n_routes; r++) {
        const char *dialect = m->routes[r][2];
        if (!is_first_of_dialect(m, r))
            continue;
        for (size_t how = 0; how < OUTCOMES; how++) {
            uint64_t n = 0;
            for (size_t i = r; i < m->n_routes; i++)
                n += strcmp(m->routes[i][2], dialect) == 0 ? get(&m->requests[i][how]) : 0;
            dg_buffer_addf(b, "dragoman_requests_total{dialect=\"%s\",outcome=\"%s\"} %llu\n",
                dialect, outcomes[how], (unsigned long long)n);
        }
    }
}

void dg_metrics_write(
    struct dg_metrics *m, const struct dg_gauge *gauges, size_t n, struct dg_buffer *b)
{
    write_http(m, b);
    write_requests(m, b);
    for (int c = 0; c < DG_COUNTERS; c++)
        write_counter(m, (enum dg_counter)c, b);
    for (int h = 0; h < DG_HISTOGRAMS; h++) {
        const struct histogram_row *row = &histogram_table[h];
        write_head(b, row->family.name, row->family.help, "histogram");
        for (size_t i = 0; row->values ? row->values[i] != NULL : i < 1; i++) {
            char labels[64] = "";
            const char *const words[] = {row->label, row->values ? row->values[i] : NULL, NULL};
            if (row->values)
                dg_metrics_label(labels, sizeof labels, words);
            dg_histogram_write(&row->family, &m->histograms[h][i], labels, b);
        }
    }
    write_models(m, b);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(gauges[i].name, gauges[i - 1].name) != 0)
            write_head(b, gauges[i].name, gauges[i].help, gauges[i].counter ? "counter" : "gauge");
        dg_buffer_addf(b, "%s%s %.15g\n", gauges[i].name, gauges[i].labels, gauges[i].value);
    }
}
