#include "server/metrics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAIRS 64
#define MAX_ROUTES 63
#define MAX_LABELS (MAX_PAIRS + 1)
#define MAX_BUCKETS 20

static const char *const outcomes[] = {
    "ok", "invalid", "overloaded", "cancelled", "timeout", "error", "refused", NULL};
static const char *const stages[] = {"tokenize", "encode", "decode", "detokenize", NULL};
static const int statuses[] = {
    200, 204, 400, 401, 403, 404, 405, 408, 413, 414, 415, 422, 429, 431, 499, 500, 503, 504, 0};

enum { STATUSES = sizeof statuses / sizeof *statuses };

/* A family with at most one label; values NULL: no label, except for pairs, which come as they are
 * met. */
static const struct counter_family {
    const char *name, *help, *label;
    const char *const *values;
} counter_table[DG_COUNTERS] = {
    [DG_COUNT_REQUESTS] = {"dragoman_requests_total",
        "Translation and score requests by how they ended.", "outcome", outcomes},
    [DG_COUNT_SENTENCES] = {"dragoman_sentences_total", "Sentences translated.", "pair", NULL},
    [DG_COUNT_CHARACTERS] = {"dragoman_characters_total",
        "Characters of translated texts (code points).", "pair", NULL},
    [DG_COUNT_SOURCE_TOKENS] = {"dragoman_source_tokens_total", "Source tokens read.", NULL, NULL},
    [DG_COUNT_TARGET_TOKENS] = {"dragoman_target_tokens_total", "Tokens of the translations given.",
        NULL, NULL},
    [DG_COUNT_DECODE_STEPS] = {"dragoman_decode_steps_total",
        "Engine steps, each one position of every live sentence.", NULL, NULL},
    [DG_COUNT_SPLIT] = {"dragoman_truncated_total",
        "Parts of sentences that were too long and were split; nothing is "
        "dropped.",
        NULL, NULL},
    [DG_COUNT_LENGTH_LIMITED] = {"dragoman_length_limit_hits_total",
        "Translations that met their length limit.", NULL, NULL},
    [DG_COUNT_UNKNOWN] = {"dragoman_unknown_tokens_total",
        "Sentences with a character outside the vocabulary.", NULL, NULL},
    [DG_COUNT_BATCH_ITEMS] = {"dragoman_batch_items_total", "Items of batches by how they ended.",
        "outcome", outcomes},
    [DG_COUNT_COALESCED] = {"dragoman_coalesced_sentences_total",
        "Sentences that took the answer of an equal one they had waited with.", NULL, NULL},
    [DG_COUNT_REPETITION] = {"dragoman_repetition_detected_total",
        "Sentences whose first answer was caught in a loop and that were decoded again.", NULL,
        NULL},
    [DG_COUNT_LOW_CONFIDENCE] = {"dragoman_low_confidence_total",
        "Sentences whose answer the model itself finds improbable.", NULL, NULL},
    [DG_COUNT_NUMBER_MISMATCH] = {"dragoman_number_mismatch_total",
        "Sentences whose numbers are not those of their translation.", NULL, NULL},
    [DG_COUNT_SOURCE_LANGUAGE_DOUBTFUL] = {"dragoman_source_language_doubtful_total",
        "Sentences that are plainly in another language than the source's.", NULL, NULL},
    [DG_COUNT_WORD_COPIED] = {"dragoman_word_copied_total",
        "Sentences whose translation copies a source word that is not a name.", NULL, NULL},
};

static const double seconds[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
    1, 2.5, 5, 7.5, 10, 20, 40, 80};
static const double bytes[] = {
    256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864};
static const double powers[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

struct histogram_family {
    const char *name, *help, *label;
    const char *const *values;
    const double *bounds;
    size_t n_bounds;
    double per_unit; /* of the sum's counter */
};

#define SECONDS seconds, sizeof seconds / sizeof *seconds, 1e9
#define POWERS powers, sizeof powers / sizeof *powers, 1
#define BYTES bytes, sizeof bytes / sizeof *bytes, 1

static const struct histogram_family histogram_table[DG_HISTOGRAMS] = {
    [DG_TIME_QUEUE] = {"dragoman_queue_wait_seconds", "How long a sentence waited for a worker.",
        NULL, NULL, SECONDS},
    [DG_TIME_STAGE] = {"dragoman_stage_duration_seconds",
        "Time in each stage: per request in tokenize and detokenize, per "
        "sentence in encode and decode.",
        "stage", stages, SECONDS},
    [DG_TIME_FIRST] = {"dragoman_time_to_first_sentence_seconds",
        "Of streamed requests, until their first sentence was written.", NULL, NULL, SECONDS},
    [DG_SIZE_BATCH_ROWS] = {"dragoman_batch_rows", "Hypotheses advanced in one step.", NULL, NULL,
        POWERS},
    [DG_SIZE_BATCH_SENTENCES] = {"dragoman_batch_sentences", "Sentences live in one step.", NULL,
        NULL, POWERS},
};

static const struct histogram_family http_family = {"dragoman_http_request_duration_seconds",
    "From complete headers to the reply's last byte.", "route", NULL, SECONDS};

static const struct histogram_family request_size_family = {"dragoman_http_request_size_bytes",
                                         "Bodies of requests.", "route", NULL, BYTES},
                                     response_size_family = {"dragoman_http_response_size_bytes",
                                         "Bodies of replies.", "route", NULL, BYTES};

struct histogram {
    /* by bucket, not cumulative; the last is what is above all bounds */
    atomic_uint_least64_t counts[MAX_BUCKETS];
    atomic_uint_least64_t sum; /* times the family's per_unit */
};

struct dg_metrics {
    const char *(*routes)[2];
    size_t n_routes;
    atomic_uint_least64_t counters[DG_COUNTERS][MAX_LABELS];
    struct histogram histograms[DG_HISTOGRAMS][4];
    atomic_uint_least64_t http[MAX_ROUTES + 1][STATUSES];
    struct histogram http_time[MAX_ROUTES + 1], http_in[MAX_ROUTES + 1], http_out[MAX_ROUTES + 1];
    pthread_mutex_t lock;
    /* guarded by lock */
    char pairs[MAX_PAIRS][72];
    size_t n_pairs;
};

int dg_metrics_open(
    const char *(*routes)[2], size_t n, struct dg_metrics **out, struct dg_error *err)
{
    struct dg_metrics *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for metrics");
    m->routes = routes;
    m->n_routes = n < MAX_ROUTES ? n : MAX_ROUTES;
    pthread_mutex_init(&m->lock, NULL);
    *out = m;
    return DG_OK;
}

void dg_metrics_close(struct dg_metrics *m)
{
    if (!m)
        return;
    pthread_mutex_destroy(&m->lock);
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
    if (m && label < MAX_LABELS)
        add(&m->counters[c][label], n);
}

uint64_t dg_metrics_count(const struct dg_metrics *m, enum dg_counter c, unsigned label)
{
    return label < MAX_LABELS ? get(&m->counters[c][label]) : 0;
}

static void observe(const struct histogram_family *f, struct histogram *h, double value)
{
    size_t i = 0;
    while (i < f->n_bounds && value > f->bounds[i])
        i++;
    add(&h->counts[i], 1);
    add(&h->sum, value > 0 ? (uint64_t)(value * f->per_unit) : 0);
}

void dg_metrics_observe(struct dg_metrics *m, enum dg_histogram h, unsigned label, double value)
{
    if (m && label < 4)
        observe(&histogram_table[h], &m->histograms[h][label], value);
}

/* Histograms are by path: one of several methods counts with the first route of its path. */
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
    observe(&http_family, &m->http_time[route], e->seconds);
    observe(&request_size_family, &m->http_in[route], (double)e->bytes_in);
    observe(&response_size_family, &m->http_out[route], (double)e->bytes_out);
}

unsigned dg_metrics_pair(struct dg_metrics *m, const char *source, const char *target)
{
    char name[72];
    unsigned found = MAX_PAIRS;
    if (!m)
        return 0;
    snprintf(name, sizeof name, "%.32s-%.32s", source, target);
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n_pairs && found == MAX_PAIRS; i++)
        if (strcmp(m->pairs[i], name) == 0)
            found = (unsigned)i;
    if (found == MAX_PAIRS && m->n_pairs < MAX_PAIRS) {
        found = (unsigned)m->n_pairs++;
        memcpy(m->pairs[found], name, sizeof name);
    }
    pthread_mutex_unlock(&m->lock);
    return found;
}

/* One character of a label's value, escaped; the bytes of p that it took. */
static size_t add_character(struct dg_buffer *b, const char *p)
{
    size_t n = 1;
    if (*p == '\n') {
        dg_buffer_adds(b, "\\n");
        return 1;
    }
    if (*p == '"' || *p == '\\')
        dg_buffer_adds(b, "\\");
    while (((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    dg_buffer_add(b, p, n);
    return n;
}

void dg_metrics_label(char *out, size_t cap, const char *const *names_values)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    size_t end = 0; /* of the labels that fit whole, but for the brace */
    for (size_t i = 0; names_values[i] && end + 1 < cap; i += 2) {
        dg_buffer_addf(&b, "%s%s=\"", i > 0 ? "," : "{", names_values[i]);
        for (const char *p = names_values[i + 1]; *p;) {
            size_t before = b.len;
            p += add_character(&b, p);
            if (b.len + sizeof "\"}" <= cap)
                continue;
            b.len = before; /* the value is cut here, and still closed */
            break;
        }
        dg_buffer_adds(&b, "\"");
        if (b.len + sizeof "}" > cap)
            break;
        end = b.len;
    }
    if (b.failed || end == 0)
        snprintf(out, cap, "%s", "");
    else
        snprintf(out, cap, "%.*s}", (int)end, b.data);
    dg_buffer_deinit(&b);
}

static void write_head(struct dg_buffer *b, const char *name, const char *help, const char *type)
{
    dg_buffer_addf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* One histogram; label may be NULL. */
static void write_histogram(struct dg_buffer *b, const struct histogram_family *f,
    const struct histogram *h, const char *value)
{
    char label[160] = "", only[164] = "";
    uint64_t below = 0;
    if (value) {
        snprintf(label, sizeof label, "%s=\"%s\",", f->label, value);
        snprintf(only, sizeof only, "{%s=\"%s\"}", f->label, value);
    }
    for (size_t i = 0; i <= f->n_bounds; i++) {
        char bound[32] = "+Inf";
        if (i < f->n_bounds)
            snprintf(bound, sizeof bound, "%.10g", f->bounds[i]);
        below += get(&h->counts[i]);
        dg_buffer_addf(
            b, "%s_bucket{%sle=\"%s\"} %llu\n", f->name, label, bound, (unsigned long long)below);
    }
    dg_buffer_addf(b, "%s_sum%s %.9g\n", f->name, only, (double)get(&h->sum) / f->per_unit);
    dg_buffer_addf(b, "%s_count%s %llu\n", f->name, only, (unsigned long long)below);
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
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n_pairs; i++) {
        char label[200];
        const char *const pair[] = {f->label, m->pairs[i], NULL};
        dg_metrics_label(label, sizeof label, pair);
        dg_buffer_addf(
            b, "%s%s %llu\n", f->name, label, (unsigned long long)get(&m->counters[c][i]));
    }
    pthread_mutex_unlock(&m->lock);
    if (get(&m->counters[c][MAX_PAIRS]) > 0)
        dg_buffer_addf(b, "%s{%s=\"other\"} %llu\n", f->name, f->label,
            (unsigned long long)get(&m->counters[c][MAX_PAIRS]));
}

static void write_by_route(struct dg_metrics *m, const struct histogram_family *f,
    const struct histogram *h, struct dg_buffer *b)
{
    write_head(b, f->name, f->help, "histogram");
    for (size_t r = 0; r <= m->n_routes; r++) {
        if (first_of_path(m, r) != r)
            continue;
        write_histogram(b, f, &h[r], r < m->n_routes ? m->routes[r][1] : "other");
    }
}

static void write_http(struct dg_metrics *m, struct dg_buffer *b)
{
    write_head(b, "dragoman_http_requests_total",
        "Requests by route and status; 499: the client went away.", "counter");
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

void dg_metrics_write(
    struct dg_metrics *m, const struct dg_gauge *gauges, size_t n, struct dg_buffer *b)
{
    write_http(m, b);
    for (int c = 0; c < DG_COUNTERS; c++)
        write_counter(m, (enum dg_counter)c, b);
    for (int h = 0; h < DG_HISTOGRAMS; h++) {
        const struct histogram_family *f = &histogram_table[h];
        write_head(b, f->name, f->help, "histogram");
        for (size_t i = 0; f->values ? f->values[i] != NULL : i < 1; i++)
            write_histogram(b, f, &m->histograms[h][i], f->values ? f->values[i] : NULL);
    }
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(gauges[i].name, gauges[i - 1].name) != 0)
            write_head(b, gauges[i].name, gauges[i].help, gauges[i].counter ? "counter" : "gauge");
        dg_buffer_addf(b, "%s%s %.15g\n", gauges[i].name, gauges[i].labels, gauges[i].value);
    }
}
