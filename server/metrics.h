/* Counters and histograms for Prometheus. Any thread; adding is a few atomic operations, no lock.
 * Labels are bounded: routes, dialects, status codes, language pairs and outcomes, never texts,
 * keys or addresses. Gauges are read at their source on request (api/metrics_page.c) and passed to
 * dg_metrics_write. */
#ifndef DG_SERVER_METRICS_H
#define DG_SERVER_METRICS_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_metrics;

enum dg_metrics_outcome {
    DG_OUTCOME_OK,
    DG_OUTCOME_INVALID,
    DG_OUTCOME_OVERLOADED,
    DG_OUTCOME_CANCELLED,
    DG_OUTCOME_TIMEOUT,
    DG_OUTCOME_ERROR,
    DG_OUTCOME_REFUSED /* no key, or one that may not do this (now) */
};
enum dg_metrics_stage { DG_STAGE_TOKENIZE, DG_STAGE_ENCODE, DG_STAGE_DECODE, DG_STAGE_DETOKENIZE };

enum dg_counter {
    DG_COUNT_SENTENCES,  /* label: pair */
    DG_COUNT_CHARACTERS, /* label: pair */
    DG_COUNT_SOURCE_TOKENS,
    DG_COUNT_TARGET_TOKENS,
    DG_COUNT_DECODE_STEPS,
    DG_COUNT_SPLIT,
    DG_COUNT_LENGTH_LIMITED,
    DG_COUNT_UNKNOWN,
    DG_COUNT_BATCH_ITEMS, /* label: enum dg_metrics_outcome */
    DG_COUNT_COALESCED,
    DG_COUNT_REPETITION,
    DG_COUNT_LOW_CONFIDENCE,
    DG_COUNT_NUMBER_MISMATCH,
    DG_COUNT_SOURCE_LANGUAGE_DOUBTFUL,
    DG_COUNT_WORD_COPIED,
    DG_COUNTERS
};

enum dg_histogram_name {
    DG_TIME_STAGE, /* seconds; label: enum dg_metrics_stage */
    DG_TIME_FIRST, /* seconds, each streamed request */
    DG_SIZE_BATCH_ROWS,
    DG_SIZE_BATCH_SENTENCES,
    DG_HISTOGRAMS
};

/* A value that is read on request. labels is "" or `{name="value"}`, escaped (dg_metrics_label). */
struct dg_gauge {
    const char *name, *help;
    /* reported with type counter */
    bool counter;
    /* a bundle's name may be 255 bytes, each escaped */
    char labels[1024];
    double value;
};

/* routes: method, path and API of each [n], borrowed until close; a request to none of them is
 * counted under "other". */
int dg_metrics_open(
    const char *(*routes)[3], size_t n, struct dg_metrics **out, struct dg_error *err);
void dg_metrics_close(struct dg_metrics *m); /* NULL is fine */

/* m NULL: no effect. label 0 if the metric has none. */
void dg_metrics_add(struct dg_metrics *m, enum dg_counter c, unsigned label, uint64_t n);
void dg_metrics_observe(
    struct dg_metrics *m, enum dg_histogram_name h, unsigned label, double value);
/* The current value of a counter without a label. */
uint64_t dg_metrics_count(const struct dg_metrics *m, enum dg_counter c);
/* An answered HTTP request; route: index, or n for none. */
struct dg_metrics_exchange {
    int status;
    double seconds;
    /* sizes of the bodies */
    size_t bytes_in, bytes_out;
};
void dg_metrics_http(struct dg_metrics *m, size_t route, const struct dg_metrics_exchange *e);
/* Count a request for work by its outcome and its route's API. */
void dg_metrics_request(struct dg_metrics *m, size_t route, enum dg_metrics_outcome how);
/* The label of a language pair, the same for the same codes; all pairs beyond the limit share
 * one. */
unsigned dg_metrics_pair(struct dg_metrics *m, const char *source, const char *target);

/* The label of a model by its name, as for pairs. */
unsigned dg_metrics_model(struct dg_metrics *m, const char *name);

/* Classes of sentences, in the order of enum dg_class (schedule/batcher.h). */
#define DG_METRICS_CLASSES 2
extern const char *const dg_metrics_classes[DG_METRICS_CLASSES];
/* Record a sentence's wait for a worker. */
void dg_metrics_waited(struct dg_metrics *m, unsigned model, unsigned class, double seconds);
/* The most workers: 64 on each of 64 devices. */
#define DG_METRICS_WORKERS 4096
/* Record a worker's step of a model. */
void dg_metrics_stepped(struct dg_metrics *m, unsigned model, unsigned worker, double seconds);
/* A worker's steps of all models since the start. */
uint64_t dg_metrics_steps(const struct dg_metrics *m, unsigned worker);

/* `{a="x",b="y"}` from NULL-ended name, value, ...; values escaped; cut at cap. */
void dg_metrics_label(char *out, size_t cap, const char *const *names_values);

/* Append everything in Prometheus' text format 0.0.4. Gauges of one name must be adjacent. */
void dg_metrics_write(
    struct dg_metrics *m, const struct dg_gauge *gauges, size_t n, struct dg_buffer *b);

#endif
