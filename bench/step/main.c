/* step-bench: the cost of a sentence and of a decoder step, and the ops that they spend it on. A
 * bundle, or the base model with random weights over any vocabulary; random sentences, forced
 * lengths; all sentences join at once. One JSON object on stdout.
 * On a GPU, --ops times the launches, and the wait for a whole step appears under topk, or under
 * "waiting for a step". */
#include "base/clock.h"
#include "base/command.h"
#include "bench/distribution.h"
#include "bench/print.h"
#include "bench/random.h"
#include "bench/step/profiler.h"
#include "bench/step/random_model.h"
#include "bench/step/timed.h"
#include "kernels/device.h"
#include "model/engine/internal.h" /* encode_rows */
#include "weights/bundle.h"
#include "weights/shortlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPS_MAX = 64 };

struct options {
    const char *model, *device, *precision;
    int f32;
    bool ops, cpu_time, no_shortlist, profile;
    uint32_t vocab, beam, sentences, source, length, threads, reps;
};

struct bench {
    struct options o;
    struct dg_backend *device, *timed; /* timed: wraps device with --ops; else NULL */
    struct dg_backend *be;             /* the outermost of them */
    struct dg_bundle *bundle;
    struct dg_weights *weights; /* of a random model */
    struct dg_shortlist *list;  /* a bundle's, or NULL */
    struct dg_model *model;
    struct dg_engine *engine;
    int32_t *ids; /* [sentences,source] */
    double total_ms[REPS_MAX], first_ms[REPS_MAX], step_ms[REPS_MAX];
    uint32_t steps;
};

static const char *const types[] = {"int8", "f32", NULL};

#define AT(member) DG_FIELD_AT(struct options, member)
#define COUNT(member, most, initial) DG_FIELD_INT, AT(member), 1, most, .fallback = initial

static const struct dg_field rows[] = {
    {"model", DG_FIELD_STRING, AT(model), .argument = "BUNDLE",
        .help = "bundle to time (default: the base model with random weights)"},
    {"vocab", COUNT(vocab, 1e6, "32000"), .help = "vocabulary of the random weights"},
    {"type", DG_FIELD_WORD, AT(f32), 0, 1, .words = types, .fallback = "int8", .argument = "TYPE",
        .help = "type of the random weights"},
    {"beam", COUNT(beam, DG_MAX_BEAM, "4"), .help = "beam size"},
    {"sentences", COUNT(sentences, 1e6, "1"), .help = "sentences at a time"},
    {"source", COUNT(source, 1e6, "27"), .help = "tokens of each sentence"},
    {"length", COUNT(length, 1e6, "27"), .help = "tokens of each answer"},
    {"threads", COUNT(threads, 1e6, "1"), .help = "threads of a step"},
    {"reps", COUNT(reps, REPS_MAX, "5"), .help = "repetitions, besides one to warm up"},
    {"ops", DG_FIELD_BOOL, AT(ops), .help = "list the time of each op"},
    {"cpu_time", DG_FIELD_BOOL, AT(cpu_time),
        .help = "measure CPU time: for one thread on a crowded machine, where it leaves out the "
                "wait for a core"},
    {"no_shortlist", DG_FIELD_BOOL, AT(no_shortlist), .help = "leave out the bundle's shortlist"},
    {"device", DG_FIELD_STRING, AT(device), .fallback = "cpu", .argument = "NAME",
        .help = "cpu or cuda[:N]"},
    {"precision", DG_FIELD_STRING, AT(precision), .argument = "TYPE",
        .help = "of a GPU: fp32, fp16 or bf16"},
    {"profile", DG_FIELD_BOOL, AT(profile),
        .help = "tell a GPU's profiler to begin with the last repetition"},
};

static int open_model(struct bench *b, struct dg_error *err)
{
    struct dg_config c;
    int rc;
    if (b->o.model) {
        if ((rc = dg_bundle_open(b->o.model, &b->bundle, err)) ||
            (rc = dg_config_read(dg_bundle_manifest(b->bundle), &c, err)))
            return rc;
    } else {
        dg_config_base(&c, b->o.vocab);
        if ((rc = dg_random_weights(&c, !b->o.f32, &b->weights, err)))
            return rc;
    }
    const struct dg_weights *w = b->bundle ? dg_bundle_weights(b->bundle) : b->weights;
    uint32_t positions = b->o.source > b->o.length ? b->o.source : b->o.length;
    if ((rc = dg_model_open(&c, w, b->be, positions + 1, &b->model, err)))
        return rc;
    const char *list = b->bundle && !b->o.no_shortlist ? dg_bundle_shortlist(b->bundle) : "";
    if (!list[0])
        return DG_OK;
    if ((rc = dg_shortlist_open(list, c.source_vocab, c.target_vocab, &b->list, err)))
        return rc;
    dg_model_use_shortlist(b->model, w, b->list);
    return DG_OK;
}

/* An engine that holds exactly these sentences at their full length. */
static int open_engine(struct bench *b, struct dg_error *err)
{
    const struct dg_config *c = dg_model_config(b->model);
    const struct options *o = &b->o;
    size_t blocks = (o->source + 15) / 16 + (size_t)o->beam * ((o->length + 15) / 16);
    struct dg_engine_limits limits = {.max_rows = o->sentences * o->beam,
        .max_sentences = o->sentences,
        .max_source = o->source,
        .max_target = o->length,
        .cache_bytes = blocks * o->sentences * dg_cache_block_bytes(c)};
    uint64_t state = 5;
    size_t n = (size_t)o->sentences * o->source;
    b->ids = malloc(n * sizeof *b->ids);
    if (!b->ids)
        return dg_error_set(err, DG_ENOMEM, "no memory for sentences");
    for (size_t i = 0; i < n; i++) {
        uint32_t id = 2 + dg_bench_number(&state) % (c->source_vocab - 2);
        b->ids[i] = (i + 1) % o->source ? (int32_t)id : c->eos;
    }
    return dg_engine_open(b->model, b->be, &limits, &b->engine, err);
}

/* Run all sentences once, from admission to the last answer. */
static int run_once(struct bench *b, uint32_t rep, struct dg_error *err)
{
    const struct options *o = &b->o;
    struct dg_search search = {
        .beam = o->beam, .n_best = 1, .max_len = o->length, .min_len = o->length, .alpha = 0.6f};
    uint64_t (*now)(void) = o->cpu_time ? dg_clock_cpu_ns : dg_clock_ns, start = now();
    for (uint32_t i = 0; i < o->sentences; i++) {
        struct dg_sentence s = {
            .source = b->ids + (size_t)i * o->source, .n_source = o->source, .search = search};
        int rc = dg_engine_admit(b->engine, i, &s, err);
        if (rc)
            return rc == DG_EAGAIN ? dg_error_set(err, rc, "sentence %u found no room", i) : rc;
    }
    uint32_t in_pass = b->engine->encode_rows / o->source;
    if (b->timed)
        dg_timed_expect_encoder(b->timed, (o->sentences + in_pass - 1) / in_pass);
    uint64_t first = 0, second = 0;
    b->steps = 0;
    while (dg_engine_step(b->engine)) {
        if (!b->steps++)
            first = second = now();
        else if (b->steps == 2)
            second = now();
    }
    uint64_t end = now();
    if (b->steps > o->length) { /* steps are launched ahead: the second call read the first */
        b->steps--;
        first = second;
    }
    b->total_ms[rep] = 1e-6 * (double)(end - start);
    b->first_ms[rep] = 1e-6 * (double)(first - start);
    b->step_ms[rep] = b->steps > 1 ? 1e-6 * (double)(end - first) / (b->steps - 1) : 0;
    for (const struct dg_result *r; (r = dg_engine_poll(b->engine));)
        dg_engine_release(b->engine, r);
    return 0;
}

/* The median of sorted ms[n]. */
static double median(const double *ms, uint32_t n)
{
    return n % 2 ? ms[n / 2] : (ms[n / 2 - 1] + ms[n / 2]) / 2;
}

/* "VmRSS" or "VmHWM" of this process in MB. */
static double memory_mb(const char *field)
{
    char line[256];
    double kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, field, strlen(field)))
            kb = strtod(line + strlen(field) + 1, NULL);
    if (f)
        fclose(f);
    return kb * 1024e-6;
}

/* Add the per-op table: each op's share of the time since admission, over all repetitions. */
static void add_ops(struct bench *b, double total_ms, struct dg_json *out)
{
    const struct dg_timed_entry *e;
    size_t n = dg_timed_entries(b->timed, &e);
    double counted = 0;
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < n; i++) {
        struct dg_json *o = dg_json_new_object();
        double ms = 1e-6 * (double)e[i].ns;
        dg_json_set_string(o, "phase", e[i].phase == DG_TIMED_ENCODE ? "encoder" : "step");
        dg_json_set_string(o, "op", e[i].name);
        dg_json_set_int(o, "calls", (int64_t)e[i].calls);
        dg_json_set_real(o, "ms", ms);
        dg_json_set_real(o, "percent", 100 * ms / total_ms);
        if (e[i].macs > 0) {
            dg_json_set_real(o, "gop_s", 2e-6 * e[i].macs / ms);
            dg_json_set_real(o, "weights_gb_s", 1e-6 * e[i].bytes / ms);
        }
        dg_json_append_take(list, o);
        counted += ms;
    }
    dg_json_set_real(out, "ops_percent", 100 * counted / total_ms);
    dg_json_set_take(out, "ops", list);
}

static int print(struct bench *b, struct dg_error *err)
{
    const struct options *o = &b->o;
    double total = 0;
    for (uint32_t i = 0; i < o->reps; i++)
        total += b->total_ms[i];
    struct dg_json *out = dg_json_new_object();
    dg_json_set_string(out, "backend", b->be->name);
    dg_json_set_int(out, "vocabulary", dg_model_config(b->model)->target_vocab);
    dg_json_set_int(out, "beam", o->beam);
    dg_json_set_int(out, "sentences", o->sentences);
    dg_json_set_int(out, "source", o->source);
    dg_json_set_int(out, "length", o->length);
    dg_json_set_int(out, "threads", o->threads);
    dg_json_set_int(out, "steps", b->steps);
    dg_bench_sort(b->first_ms, o->reps);
    dg_bench_sort(b->step_ms, o->reps);
    dg_bench_sort(b->total_ms, o->reps);
    dg_json_set_real(out, "first_ms", median(b->first_ms, o->reps));
    dg_json_set_real(out, "step_ms", median(b->step_ms, o->reps));
    dg_json_set_real(out, "total_ms", median(b->total_ms, o->reps));
    dg_json_set_real(out, "best_first_ms", b->first_ms[0]);
    dg_json_set_real(out, "best_step_ms", b->step_ms[0]);
    dg_json_set_real(out, "best_total_ms", b->total_ms[0]);
    dg_json_set_real(out, "resident_mb", memory_mb("VmRSS"));
    dg_json_set_real(out, "peak_mb", memory_mb("VmHWM"));
    if (o->ops)
        add_ops(b, total, out);
    int rc = dg_bench_print(out, o->ops ? 1 : 0, err);
    dg_json_free(out);
    return rc;
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.vocab = 0}};
    struct dg_device device;
    struct dg_error err = {0};
    const struct dg_fields group = {rows, DG_FIELD_COUNT(rows), &b.o, NULL, NULL};
    const struct dg_command command = {.name = "step-bench",
        .usage = "usage: step-bench [options]\n\n"
                 "Prints as JSON what a sentence and a decoder step cost.\n",
        .groups = &group,
        .n_groups = 1};
    dg_fields_default(&group);
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    const struct dg_device_options wish = {b.o.device, b.o.precision, (int)b.o.threads};
    int rc = dg_device_choose(&wish, &device, &err);
    if (!rc)
        rc = dg_device_open(&device, &b.device, &err);
    if (!rc && b.o.ops)
        rc = dg_timed_open(b.device, &b.timed, &err);
    b.be = b.timed ? b.timed : b.device;
    if (!rc)
        rc = open_model(&b, &err);
    if (!rc)
        rc = open_engine(&b, &err);
    for (uint32_t i = 0; i <= b.o.reps && !rc; i++) { /* the first one is a warm-up */
        if (i == 1 && b.timed)
            dg_timed_reset(b.timed);
        if (i == b.o.reps && b.o.profile)
            bench_profile_from_here();
        rc = run_once(&b, i ? i - 1 : 0, &err);
    }
    if (!rc)
        rc = b.device->ops->status(b.device, &err);
    if (!rc)
        rc = print(&b, &err);
    dg_engine_close(b.engine);
    dg_model_close(b.model);
    dg_shortlist_close(b.list);
    dg_weights_close(b.weights);
    dg_bundle_close(b.bundle);
    dg_timed_close(b.timed);
    dg_device_close(b.device);
    free(b.ids);
    if (rc)
        fprintf(stderr, "step-bench: %s\n", err.message);
    return rc ? 1 : 0;
}
