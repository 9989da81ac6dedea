/* dragoman bench: speed with forced lengths, so that engines can be compared on random weights.
 * latency: one sentence at a time; throughput: all sentences through the engines at once. */
#include "base/clock.h"

#include "base/alloc.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/decode_options.h"
#include "cli/json_line.h"
#include "cli/lines.h"
#include "translate/search_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
    struct dg_decode_options o;
    struct dragoman_model *model;
    char *path;
    /* 1: throughput mode; 0: latency mode */
    int throughput;
    int64_t length, reps;
    /* 0: not given */
    int64_t src_len, count;
    /* [n] tokens separated by spaces */
    char **sentences;
    size_t n, cap;
    /* latency: the first in_cut tokens of the next sentence */
    struct dg_buffer cut;
    int64_t in_cut;
};

static const char *const modes[] = {"latency", "throughput", NULL};

#define AT(member) DG_FIELD_AT(struct bench, member)

static const struct dg_field rows[] = {
    {"sentences", DG_FIELD_STRING, AT(path), .flags = DG_FIELD_REQUIRED, .argument = "FILE",
        .help = "file of sentences as tokens, one per line"},
    {"mode", DG_FIELD_WORD, AT(throughput), 0, 1, .words = modes, .fallback = "latency",
        .argument = "KIND", .help = "latency (one sentence at a time, p50) or throughput"},
    {"length", DG_FIELD_INT, AT(length), 0, 1000, .fallback = "27",
        .help = "forced number of output tokens; 0: natural end, at most --max-length"},
    {"src_len", DG_FIELD_INT, AT(src_len), 1, 500,
        .help = "latency: tokens per source (default: 27)"},
    {"count", DG_FIELD_INT, AT(count), 1, 100000,
        .help = "latency: sentences per repetition (default: 12)"},
    {"reps", DG_FIELD_INT, AT(reps), 1, 64, .fallback = "3", .help = "number of repetitions"},
};

static void add_sentence_take(struct bench *b, char *s)
{
    b->sentences =
        dg_alloc_grow(b->sentences, b->n + 1, &b->cap, sizeof *b->sentences, "sentences");
    b->sentences[b->n++] = s;
}

/* Sentences for latency mode: all tokens of the file in a row, cut after every src_len. */
static void cut_line(struct bench *b, char *line)
{
    char *save = NULL;
    for (char *w = strtok_r(line, " \t\r", &save); w && (int64_t)b->n < b->count;
         w = strtok_r(NULL, " \t\r", &save)) {
        dg_buffer_addf(&b->cut, "%s%s", b->in_cut ? " " : "", w);
        dg_alloc_check(!b->cut.failed, "a sentence");
        if (++b->in_cut == b->src_len) {
            add_sentence_take(b, dg_buffer_take(&b->cut, NULL));
            b->in_cut = 0;
        }
    }
}

static int read_sentences(struct bench *b, struct dg_error *err)
{
    struct dg_lines *lines = NULL;
    const char *text = "";
    size_t n;
    int rc = dg_lines_open(&b->path, 1, &lines, err);
    while (!rc && (b->throughput || (int64_t)b->n < b->count) &&
           !(rc = dg_lines_next(lines, true, &text, &n, err)) && text) {
        char *line = strndup(text, n);
        dg_alloc_check(line, "a sentence");
        if (b->throughput) {
            add_sentence_take(b, line);
        } else {
            cut_line(b, line);
            free(line);
        }
    }
    dg_lines_close(lines);
    if (!rc && !b->n)
        rc = dg_error_set(err, DG_EINVAL, "%s: too few tokens for one sentence", b->path);
    return rc;
}

/* Translate sentences first..first+n-1; sets the number of output tokens and the seconds taken. */
static int translate(struct bench *b, size_t first, size_t n, uint64_t *tokens, double *seconds,
    struct dg_error *err)
{
    struct dg_job **jobs = dg_alloc(n, sizeof *jobs, "sentences");
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        const char *s = b->sentences[first + i];
        rc = dg_job_encode(b->model->translator, s, strlen(s), &b->o.translate, &jobs[i], err);
    }
    uint64_t from = dg_clock_ns();
    if (!rc)
        rc = dg_runner_run(b->model->runner, jobs, n, NULL, NULL, err);
    *seconds = (double)(dg_clock_ns() - from) / 1e9;
    *tokens = 0;
    for (size_t i = 0; i < n && jobs; i++) {
        struct dg_answers a;
        if (!rc && !(rc = dg_job_finish(jobs[i], &a, err)))
            *tokens += a.target_tokens;
        dg_job_free(jobs[i]);
    }
    free(jobs);
    return rc;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Measure one repetition's figure: median milliseconds per sentence, or tokens per second. */
static int repeat(struct bench *b, double *figure, uint64_t *tokens, struct dg_error *err)
{
    double s;
    int rc = 0;
    if (b->throughput) {
        rc = translate(b, 0, b->n, tokens, &s, err);
        *figure = (double)*tokens / s;
        return rc;
    }
    double *ms = dg_alloc(b->n, sizeof *ms, "times");
    for (size_t i = 0; i < b->n && !rc; i++) {
        rc = translate(b, i, 1, tokens, &s, err);
        ms[i] = 1e3 * s;
    }
    *figure = median(ms, b->n);
    free(ms);
    return rc;
}

static int run(struct bench *b, struct dg_error *err)
{
    double figures[64];
    uint64_t tokens = 0;
    int rc = 0;
    struct dg_json *o = dg_json_new_object(), *runs = dg_json_new_array();
    uint64_t cpu = dg_clock_cpu_ns(), wall = dg_clock_ns();
    for (int64_t i = 0; i < b->reps && !rc; i++) {
        rc = repeat(b, &figures[i], &tokens, err);
        dg_json_append_take(runs, dg_json_new_real(figures[i]));
    }
    cpu = dg_clock_cpu_ns() - cpu;
    wall = dg_clock_ns() - wall;
    double mid = rc ? 0 : median(figures, (size_t)b->reps);
    dg_json_set_string(o, "backend", b->model->be->name);
    dg_json_set_string(o, "mode", b->throughput ? "throughput" : "latency");
    dg_json_set_int(o, "sentences", (int64_t)b->n);
    dg_json_set_int(o, "tokens_out", (int64_t)tokens);
    dg_json_set_real(o, b->throughput ? "tokens_per_s" : "p50_ms", mid);
    dg_json_set_take(o, "runs", runs);
    dg_json_set_real(o, "cpu_s", 1e-9 * (double)cpu / (double)b->reps);
    dg_json_set_real(o, "cpus", (double)cpu / (double)(wall ? wall : 1));
    if (!rc && b->o.json)
        return dg_json_line_write(o, false, err);
    if (!rc)
        printf("%s: %.2f %s\n", b->model->be->name, mid,
            b->throughput ? "tokens/s" : "ms a sentence (p50)");
    dg_json_free(o);
    return rc;
}

/* Refuse options that the mode or a forced length makes useless. */
static int check(struct bench *b, struct dg_error *err)
{
    if (b->throughput && (b->src_len || b->count))
        return dg_error_set(err, DG_EINVAL,
            "%s is of --mode latency: throughput takes the file's lines as they are",
            b->src_len ? "--src-len" : "--count");
    if (!b->throughput && b->o.workers > 1)
        return dg_error_set(err, DG_EINVAL,
            "--workers %d is of --mode throughput: latency is that of one sentence alone",
            b->o.workers);
    if (b->length && b->o.translate.search.max_len)
        return dg_error_set(err, DG_EINVAL,
            "--max-length has an effect with --length 0 only: %d tokens are forced",
            (int)b->length);
    return dg_decode_options_check(&b->o, err);
}

int dg_cli_bench(int argc, char **argv)
{
    struct bench b = {.path = NULL};
    struct dg_error err = {0};
    dg_decode_options_init(&b.o);
    b.o.translate.tokens = true;
    struct dg_fields groups[4 + DG_DECODE_SEARCH] = {{rows, DG_FIELD_COUNT(rows), &b, NULL, NULL},
        dg_decode_options_model(&b.o), dg_decode_options_workers(&b.o),
        dg_n_best_fields(&b.o.translate.search)};
    dg_decode_options_search(&b.o, groups + 4);
    dg_fields_default(&groups[0]);
    const struct dg_command command = {.name = "dragoman bench",
        .usage = "usage: dragoman bench --sentences FILE [options]\n\n"
                 "Measures the speed of translation, with outputs of a forced length.\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups)};
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    if (check(&b, &err))
        return dg_command_refuse("dragoman bench", "%s", err.message);
    b.src_len = b.src_len ? b.src_len : 27;
    b.count = b.count ? b.count : 12;
    if (b.length)
        b.o.translate.search.max_len = b.o.translate.search.min_len = (uint32_t)b.length;
    if (!b.throughput)
        b.o.workers = 1;
    int rc = dg_decode_options_open(&b.o, &b.model, &err);
    if (!rc)
        rc = read_sentences(&b, &err);
    if (!rc)
        rc = run(&b, &err);
    dragoman_close(b.model);
    for (size_t i = 0; i < b.n; i++)
        free(b.sentences[i]);
    free(b.sentences);
    dg_buffer_deinit(&b.cut);
    return rc ? dg_cli_fail("bench", &err) : 0;
}
