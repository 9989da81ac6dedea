/* DESIGN. Steps are timed with sentences of forced length, so that rows stay what they are set to.
 * What is measured: step(rows)       at a short context, the share of the context taken off again
 *   cell_ns          the same rows at a short and a long context
 *   encode(pieces)   first steps of newcomers, the decoder's part taken off
 *   pair_ns          one long sentence beside several short ones of as many pieces in all */
#include "bench/sim/measure.h"

#include "base/clock.h"
#include "bench/sim/arrivals.h"
#include "kernels/cpu/cpu.h"
#include "translate/translate.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHORT_CONTEXT 16
#define LONG_CONTEXT 192
#define PROBE_STEPS 12
#define MAX_TIMES 1024

struct entry {
    struct dg_job *job;
    uint32_t item, index; /* of the sentence in the job */
    uint32_t source_tokens, max_target, steps, blocks;
};

struct measure {
    const struct dg_sim_measure_options *o;
    struct dg_backend *be;
    struct dg_translator *translator;
    struct dg_engine *engine;
    struct dg_sim_cost cost;
    uint32_t beam, blocks_total;
    uint64_t next_id;
    double times[MAX_TIMES];
    size_t n_times;
    /* items */
    struct dg_json **lines; /* [n_items] */
    struct dg_job **jobs;   /* [n_items] */
    size_t n_items;
    struct entry *entries; /* [n_entries] in order of items */
    size_t n_entries;
    double real_s, foretold_s; /* until nothing waited any more */
    uint64_t real_sentences, real_steps;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(struct measure *m)
{
    qsort(m->times, m->n_times, sizeof *m->times, compare);
    double v = m->n_times > 0 ? m->times[m->n_times / 2] : 0;
    m->n_times = 0;
    return v;
}

static void drain(struct measure *m)
{
    const struct dg_result *r;
    while ((r = dg_engine_poll(m->engine)))
        dg_engine_release(m->engine, r);
}

/* One thread's work is timed by its own clock, which a busy machine does not disturb; several must
 * be by the wall's. */
static uint64_t now_ns(const struct measure *m)
{
    struct timespec t;
    if (m->o->threads > 1 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
        return dg_clock_ns();
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* One step's microseconds. */
static double step_us(struct measure *m)
{
    uint64_t t0 = now_ns(m);
    dg_engine_step(m->engine);
    double us = (double)(now_ns(m) - t0) / 1e3;
    drain(m);
    return us;
}

/* n sentences of S pieces that live for `steps` steps. */
static int admit(struct measure *m, uint32_t n, uint32_t S, uint32_t steps, struct dg_error *err)
{
    const struct dg_config *c = dg_model_config(dg_translator_model(m->translator));
    int32_t *ids = malloc(S * sizeof *ids);
    int rc = ids ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory");
    for (uint32_t k = 0; k < n && rc == DG_OK; k++) {
        for (uint32_t i = 0; i < S; i++)
            ids[i] = (int32_t)((i * 31 + k * 7 + 5) % c->source_vocab);
        ids[S - 1] = c->eos;
        struct dg_sentence s = {.source = ids,
            .n_source = S,
            .search = {
                .beam = m->beam, .n_best = 1, .max_len = steps, .min_len = steps, .alpha = -1}};
        if ((rc = dg_engine_admit(m->engine, m->next_id++, &s, err)) == DG_EAGAIN)
            rc = dg_error_set(
                err, DG_EAGAIN, "the engine has no room for %u sentences of %u pieces", n, S);
    }
    free(ids);
    return rc;
}

/* Median microseconds of a step of n sentences with all their rows, about `context` positions
 * behind each. */
static int probe_step(
    struct measure *m, uint32_t n, uint32_t context, double *us, struct dg_error *err)
{
    for (uint32_t rep = 0; rep < m->o->repeats; rep++) {
        int rc = admit(m, n, context, PROBE_STEPS, err);
        if (rc != DG_OK)
            return rc;
        for (int i = 0; i < PROBE_STEPS; i++) {
            double t = step_us(m);
            if (i > 1 && i + 1 < PROBE_STEPS &&
                m->n_times < MAX_TIMES) /* not the first ones, nor the last with its sorting */
                m->times[m->n_times++] = t;
        }
    }
    *us = median(m);
    return DG_OK;
}

/* Median microseconds of the step in which n sentences of S pieces join, over its decoder's part.
 */
static int probe_encode(struct measure *m, uint32_t n, uint32_t S, double *us, struct dg_error *err)
{
    for (uint32_t rep = 0; rep < m->o->repeats + 2; rep++) {
        int rc = admit(m, n, S, 2, err);
        if (rc != DG_OK)
            return rc;
        double t = step_us(m);
        if (rep > 0)
            m->times[m->n_times++] = t;
        step_us(m);
    }
    *us = median(m) - dg_sim_curve_at(&m->cost.step_us, n) - 1e-3 * m->cost.cell_ns * n * S;
    if (*us < 0)
        *us = 0;
    return DG_OK;
}

/* Positions behind a row in the middle of a probe. */
static double cells_of(uint32_t rows, uint32_t context)
{
    return (double)rows * (context + PROBE_STEPS / 2.0);
}

static int measure_steps(struct measure *m, struct dg_error *err)
{
    struct dg_sim_curve *c = &m->cost.step_us;
    uint32_t most = m->o->max_rows / m->beam, n = 1;
    double near, far;
    if (most > m->o->max_sentences)
        most = m->o->max_sentences;
    uint32_t half = most > 1 ? most / 2 : 1;
    int rc = probe_step(m, half, SHORT_CONTEXT, &near, err); /* once to warm up */
    if (rc == DG_OK)
        rc = probe_step(m, half, SHORT_CONTEXT, &near, err);
    /* As many as the cache holds of the long ones. */
    uint32_t fit =
        m->blocks_total / ((LONG_CONTEXT + 15) / 16 + m->beam * ((PROBE_STEPS + 15) / 16));
    if (rc == DG_OK && fit < half) {
        half = fit > 0 ? fit : 1;
        rc = probe_step(m, half, SHORT_CONTEXT, &near, err);
    }
    if (rc == DG_OK)
        rc = probe_step(m, half, LONG_CONTEXT, &far, err);
    if (rc != DG_OK)
        return rc;
    double more = (double)half * m->beam * (LONG_CONTEXT - SHORT_CONTEXT);
    m->cost.cell_ns = far > near ? 1e3 * (far - near) / more : 0;
    while (c->n < DG_SIM_POINTS) {
        double us;
        if ((rc = probe_step(m, n, SHORT_CONTEXT, &us, err)) != DG_OK)
            return rc;
        us -= 1e-3 * m->cost.cell_ns * cells_of(n * m->beam, SHORT_CONTEXT);
        c->x[c->n] = n * m->beam;
        c->y[c->n++] = us > 0 ? us : 0;
        if (n == most)
            break;
        n = n < 4 ? n + 1 : n + n / 2;
        n = n > most ? most : n;
    }
    return DG_OK;
}

static int measure_encode(struct measure *m, struct dg_error *err)
{
    static const uint32_t lengths[] = {4, 8, 16, 32, 64, 128, 256};
    struct dg_sim_curve *c = &m->cost.encode_us;
    double one, four;
    uint32_t most = dg_model_max_positions(dg_translator_model(m->translator));
    int rc = probe_encode(m, 1, 256 < most ? 256 : most, &one, err);
    if (rc == DG_OK && most >= 256 && m->o->max_rows >= 4 * m->beam)
        rc = probe_encode(m, 4, 64, &four, err);
    else
        four = one;
    if (rc != DG_OK)
        return rc;
    m->cost.pair_ns = one > four ? 1e3 * (one - four) / (256.0 * 256.0 - 4 * 64.0 * 64.0) : 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && lengths[i] <= most; i++) {
        double us;
        if ((rc = probe_encode(m, 1, lengths[i], &us, err)) != DG_OK)
            return rc;
        us -= 1e-3 * m->cost.pair_ns * lengths[i] * lengths[i];
        c->x[c->n] = lengths[i];
        c->y[c->n++] = us > 0 ? us : 0;
    }
    return DG_OK;
}

static int plan_item(
    struct measure *m, const struct dg_json *line, struct dg_job **out, struct dg_error *err)
{
    const struct dg_json *body = dg_json_get(line, "body");
    struct dg_translate_options o = {.search = {.beam = m->beam, .alpha = -1}};
    const char *text = NULL;
    int rc = dg_json_field_string(body, "body", "text", &text, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(body, "body", "source", &o.source, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(body, "body", "target", &o.target, err);
    if (rc == DG_OK && !text)
        rc = dg_error_set(err, DG_EFORMAT, "an item without body.text");
    return rc == DG_OK ? dg_job_plan(m->translator, text, strlen(text), &o, out, err) : rc;
}

static int read_items(struct measure *m, struct dg_error *err)
{
    struct dg_buffer b;
    size_t lines = 1;
    dg_buffer_init(&b);
    int rc = dg_file_read(m->o->items, &b, err);
    for (size_t i = 0; i < b.len; i++)
        lines += b.data[i] == '\n';
    m->lines = calloc(lines, sizeof *m->lines);
    m->jobs = calloc(lines, sizeof *m->jobs);
    if (rc == DG_OK && (!m->lines || !m->jobs))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu items", lines);
    for (const char *p = b.data; rc == DG_OK && p && *p;) {
        size_t len = strcspn(p, "\n");
        size_t i = m->n_items;
        if (!(m->lines[i] = dg_json_parse(p, len, err)))
            rc = DG_EFORMAT;
        m->n_items++;
        if (rc == DG_OK)
            rc = plan_item(m, m->lines[i], &m->jobs[i], err);
        if (rc == DG_OK)
            m->n_entries += dg_job_sentences(m->jobs[i]);
        if (rc != DG_OK)
            dg_error_prefix(err, "%s: item %zu", m->o->items, i + 1);
        p += len + (p[len] == '\n');
    }
    dg_buffer_deinit(&b);
    if (rc == DG_OK && !(m->entries = calloc(m->n_entries + 1, sizeof *m->entries)))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu sentences", m->n_entries);
    return rc;
}

static void fill_entries(struct measure *m)
{
    struct entry *e = m->entries;
    for (size_t i = 0; i < m->n_items; i++)
        for (size_t k = 0; k < dg_job_sentences(m->jobs[i]); k++, e++) {
            *e = (struct entry){.job = m->jobs[i], .item = (uint32_t)i, .index = (uint32_t)k};
            dg_job_cost(e->job, k, &e->source_tokens, &e->max_target);
        }
}

/* Admit from entry *next on what fits. */
static int admit_entries(struct measure *m, size_t *next, struct dg_error *err)
{
    struct dg_capacity before, after;
    for (; *next < m->n_entries; (*next)++) {
        struct entry *e = &m->entries[*next];
        struct dg_sentence s;
        dg_job_sentence(e->job, e->index, &s);
        dg_engine_capacity(m->engine, &before);
        int rc = dg_engine_admit(m->engine, *next, &s, err);
        if (rc == DG_EAGAIN)
            return DG_OK;
        if (rc != DG_OK)
            return rc;
        dg_engine_capacity(m->engine, &after);
        e->blocks = before.blocks_free - after.blocks_free;
    }
    return DG_OK;
}

/* All items through the engine, refilled before each step: steps of each sentence, and the engine's
 * throughput without a server around it. */
static int run_items(struct measure *m, struct dg_error *err)
{
    size_t next = 0, answered = 0;
    uint64_t steps = 0, t0 = now_ns(m);
    int rc = DG_OK;
    while (rc == DG_OK && answered < m->n_entries) {
        const struct dg_result *r;
        bool waiting = next < m->n_entries;
        rc = admit_entries(m, &next, err);
        if (waiting && next == m->n_entries) {
            m->real_s = (double)(now_ns(m) - t0) / 1e9;
            m->real_sentences = answered;
            m->real_steps = steps;
        }
        dg_engine_step(m->engine);
        while ((r = dg_engine_poll(m->engine))) {
            m->entries[r->id].steps = r->steps;
            steps += r->steps;
            answered++;
            dg_engine_release(m->engine, r);
        }
    }
    return rc;
}

static struct dg_json *items_json(const struct measure *m)
{
    struct dg_json *list = dg_json_new_array();
    size_t k = 0;
    for (size_t i = 0; i < m->n_items; i++) {
        struct dg_json *o = dg_json_new_object(), *sentences = dg_json_new_array();
        const char *class = dg_json_string(dg_json_get(m->lines[i], "class"), NULL);
        dg_json_set_string(o, "class", class ? class : "all");
        for (; k < m->n_entries && m->entries[k].item == i; k++) {
            const struct entry *e = &m->entries[k];
            const uint32_t figures[] = {
                e->source_tokens, e->max_target, m->beam, e->steps, e->blocks};
            struct dg_json *x = dg_json_new_array();
            for (size_t f = 0; f < 5; f++)
                dg_json_append_take(x, dg_json_new_int(figures[f]));
            dg_json_append_take(sentences, x);
        }
        dg_json_set_take(o, "sentences", sentences);
        dg_json_append_take(list, o);
    }
    return list;
}

/* The same run in fake time. */
static int foretell(struct measure *m, const struct dg_json *items, struct dg_error *err)
{
    struct dg_sim_items table = {0};
    struct dg_sim_result r;
    struct dg_sim_options o = {.workers = 1,
        .max_rows = m->o->max_rows,
        .max_sentences = m->o->max_sentences,
        .blocks = m->blocks_total};
    int rc = dg_sim_items_read(items, &table, err);
    struct dg_sim_request *requests = calloc(table.n + 1, sizeof *requests);
    for (size_t i = 0; i < table.n && requests; i++)
        requests[i] = (struct dg_sim_request){.first = table.list[i].first, .n = table.list[i].n};
    if (!requests)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu requests", table.n);
    if (rc == DG_OK)
        rc = dg_sim_run(&o, &m->cost, table.sentences, requests, table.n, &r, err);
    if (rc == DG_OK)
        m->foretold_s = (double)r.backlog_ns / 1e9;
    free(requests);
    dg_sim_items_free(&table);
    return rc;
}

static int open_engine(struct measure *m, struct dg_error *err)
{
    const struct dg_sim_measure_options *o = m->o;
    struct dg_cpu_options cpu = {.threads = (int)o->threads};
    struct dg_engine_limits limits = {
        .max_rows = o->max_rows, .max_sentences = o->max_sentences, .max_target = o->max_target};
    struct dg_capacity capacity;
    int rc = dg_cpu_open(&cpu, &m->be, err);
    if (rc == DG_OK)
        rc = dg_translator_open(o->model, m->be, o->max_target, &m->translator, err);
    if (rc == DG_OK)
        rc = dg_engine_open(dg_translator_model(m->translator), m->be, &limits, &m->engine, err);
    if (rc != DG_OK)
        return rc;
    dg_engine_capacity(m->engine, &capacity);
    m->blocks_total = capacity.blocks_total;
    m->beam = o->beam ? o->beam : dg_model_config(dg_translator_model(m->translator))->beam;
    if (m->beam == 0 || m->beam > o->max_rows)
        return dg_error_set(
            err, DG_EINVAL, "beam %u does not fit into %u rows", m->beam, o->max_rows);
    return DG_OK;
}

static struct dg_json *result(const struct measure *m)
{
    struct dg_json *o = dg_json_new_object(), *on = dg_json_new_object();
    const struct dg_bundle *b = dg_translator_bundle(m->translator);
    dg_json_set_string(on, "model", dg_bundle_name(b));
    dg_json_set_string(on, "version", dg_bundle_version(b));
    dg_json_set_string(on, "backend", m->be->name);
    dg_json_set_int(on, "threads", m->o->threads);
    dg_json_set_int(on, "beam", m->beam);
    dg_json_set_int(on, "rows", m->o->max_rows);
    dg_json_set_int(on, "sentences", m->o->max_sentences);
    dg_json_set_int(on, "blocks", m->blocks_total);
    dg_json_set_take(o, "measured", on);
    dg_sim_cost_write(&m->cost, o);
    return o;
}

static int measure_items(struct measure *m, struct dg_json *o, struct dg_error *err)
{
    int rc = read_items(m, err);
    if (rc != DG_OK)
        return rc;
    fill_entries(m);
    if ((rc = run_items(m, err)) != DG_OK)
        return rc;
    struct dg_json *items = items_json(m), *engine = dg_json_new_object();
    rc = foretell(m, items, err);
    double s = m->real_s > 0 ? m->real_s : 1;
    dg_json_set_real(engine, "seconds", m->real_s);
    dg_json_set_real(engine, "simulated_seconds", m->foretold_s);
    dg_json_set_real(engine, "sentences_per_s", (double)m->real_sentences / s);
    dg_json_set_real(engine, "steps_of_sentences_per_s", (double)m->real_steps / s);
    dg_json_set_take(o, "engine", engine);
    dg_json_set_take(o, "items", items);
    return rc;
}

int dg_sim_measure(
    const struct dg_sim_measure_options *o, struct dg_json **out, struct dg_error *err)
{
    struct measure *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory");
    m->o = o;
    int rc = open_engine(m, err);
    if (rc == DG_OK)
        rc = measure_steps(m, err);
    if (rc == DG_OK)
        rc = measure_encode(m, err);
    if (rc == DG_OK) {
        *out = result(m);
        rc = o->items ? measure_items(m, *out, err) : DG_OK;
        if (rc != DG_OK) {
            dg_json_free(*out);
            *out = NULL;
        }
    }
    for (size_t i = 0; i < m->n_items; i++) {
        dg_json_free(m->lines[i]);
        dg_job_free(m->jobs[i]);
    }
    free(m->lines);
    free(m->jobs);
    free(m->entries);
    dg_engine_close(m->engine);
    dg_translator_close(m->translator);
    dg_cpu_close(m->be);
    free(m);
    return rc;
}
