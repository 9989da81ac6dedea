#include "bench/sim/measure.h"

#include "bench/load/items.h"
#include "bench/sim/arrivals.h"
#include "bench/sim/company.h"
#include "bench/sim/probe.h"
#include "kernels/cpu/cpu.h"
#include "translate/translate.h"

#include <stdlib.h>
#include <string.h>

/* Longest answer, in tokens. */
#define MAX_TARGET 1024

struct entry {
    struct dg_job *job;
    uint32_t item, index; /* index: the sentence in the job */
    uint32_t source_tokens, max_target, steps, again, blocks;
};

struct measure {
    const struct dg_sim_command *o;
    struct dg_backend *be;
    struct dg_translator *translator;
    struct dg_engine *engine;
    struct dg_sim_probe probe;
    struct dg_load_items items;
    struct dg_job **jobs;  /* [items.n] */
    struct entry *entries; /* [n_entries] in order of items */
    size_t n_entries;
    size_t answered;
    uint32_t at_a_time;        /* limit of a run, in sentences */
    double real_s, foretold_s; /* of a run, until nothing waited any more; the latter simulated */
    uint64_t real_sentences, real_steps;
};

static int plan_item(
    struct measure *m, const struct dg_json *line, struct dg_job **out, struct dg_error *err)
{
    const struct dg_json *body = dg_json_get(line, "body");
    struct dg_translate_options o = {.search = {.beam = m->probe.beam, .alpha = -1}};
    const char *text = NULL;
    int rc = dg_json_field_string(body, "body", "text", &text, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(body, "body", "source", &o.source, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(body, "body", "target", &o.target, err);
    if (rc == DG_OK && !text)
        rc = dg_error_set(err, DG_EFORMAT, "an item without body.text");
    return rc == DG_OK ? dg_job_encode(m->translator, text, strlen(text), &o, out, err) : rc;
}

static int read_items(struct measure *m, struct dg_error *err)
{
    int rc = dg_load_items_read(m->o->items, "", NULL, 0, &m->items, err);
    if (rc != DG_OK)
        return rc;
    if (!(m->jobs = calloc(m->items.n, sizeof *m->jobs)))
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu items", m->items.n);
    for (size_t i = 0; i < m->items.n; i++) {
        if (plan_item(m, m->items.list[i].line, &m->jobs[i], err) != DG_OK)
            return dg_error_prefix(err, "%s: item %zu", m->o->items, i + 1);
        m->n_entries += dg_job_sentences(m->jobs[i]);
    }
    m->entries = calloc(m->n_entries + 1, sizeof *m->entries);
    return m->entries ? DG_OK
                      : dg_error_set(err, DG_ENOMEM, "no memory for %zu sentences", m->n_entries);
}

/* Replace the jobs by new ones without answers. */
static int renew_entries(struct measure *m, struct dg_error *err)
{
    struct entry *e = m->entries;
    for (size_t i = 0; i < m->items.n; i++) {
        dg_job_free(m->jobs[i]);
        m->jobs[i] = NULL;
        int rc = plan_item(m, m->items.list[i].line, &m->jobs[i], err);
        if (rc != DG_OK)
            return rc;
        for (size_t k = 0; k < dg_job_sentences(m->jobs[i]); k++, e++) {
            *e = (struct entry){.job = m->jobs[i], .item = (uint32_t)i, .index = (uint32_t)k};
            dg_job_cost(e->job, k, &e->source_tokens, &e->max_target);
        }
    }
    m->answered = 0;
    return DG_OK;
}

/* Admit entries from *next on, as many as fit. */
static int admit_entries(struct measure *m, size_t *next, struct dg_error *err)
{
    struct dg_capacity before, after;
    for (; *next < m->n_entries && *next < m->answered + m->at_a_time; (*next)++) {
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

/* Take a sentence's answer; after a loop comes a second round, as in the server. */
static int take_answer(struct measure *m, const struct dg_result *r, struct dg_error *err)
{
    const uint64_t id = r->id;
    struct entry *e = &m->entries[id];
    struct dg_sentence s;
    *(e->steps > 0 ? &e->again : &e->steps) = r->steps;
    int rc = dg_job_accept(e->job, e->index, r, err);
    dg_engine_release(m->engine, r);
    if (rc != DG_EAGAIN) {
        m->answered++;
        return rc;
    }
    dg_job_sentence(e->job, e->index, &s);
    return dg_engine_admit(m->engine, id, &s, err);
}

/* Run all items through the engine, `at_a_time` sentences at once, refilled before each step.
 * Measures the steps of each sentence, and the engine's throughput without a server. */
static int run_items(struct measure *m, uint32_t at_a_time, struct dg_error *err)
{
    size_t next = 0;
    int rc = renew_entries(m, err);
    uint64_t steps = 0, t0 = dg_sim_probe_now(&m->probe);
    m->at_a_time = at_a_time;
    while (rc == DG_OK && m->answered < m->n_entries) {
        const struct dg_result *r;
        bool waiting = next < m->n_entries;
        rc = admit_entries(m, &next, err);
        if (waiting && next == m->n_entries) {
            m->real_s = (double)(dg_sim_probe_now(&m->probe) - t0) / 1e9;
            m->real_sentences = m->answered;
            m->real_steps = steps;
        }
        dg_engine_step(m->engine);
        while (rc == DG_OK && (r = dg_engine_poll(m->engine))) {
            steps += r->steps;
            rc = take_answer(m, r, err);
        }
    }
    return rc;
}

static int plan_copies(struct measure *m, struct dg_job **jobs, size_t n, struct dg_error *err)
{
    int rc = DG_OK;
    for (size_t i = 0; i < n && rc == DG_OK; i++)
        rc = plan_item(m, m->items.list[i % m->items.n].line, &jobs[i], err);
    return rc;
}

static struct dg_engine_limits limits_of(const struct measure *m)
{
    return (struct dg_engine_limits){
        .max_rows = m->o->rows, .max_sentences = m->o->sentences, .max_target = MAX_TARGET};
}

/* Cores of each of this many workers. */
static uint32_t share_of(const struct measure *m, uint32_t workers)
{
    return m->o->threads > workers ? m->o->threads / workers : 1;
}

/* Run all workers in parallel: the engine's throughput without a server. */
static int run_crowd(struct measure *m, double *per_s, struct dg_error *err)
{
    const size_t n = m->items.n * m->o->repeats;
    const uint32_t workers = m->o->workers;
    const struct dg_sim_company_options o = {
        .workers = workers, .threads = share_of(m, workers), .limits = limits_of(m)};
    struct dg_job **jobs = calloc(n + 1, sizeof *jobs);
    int rc = jobs ? plan_copies(m, jobs, n, err)
                  : dg_error_set(err, DG_ENOMEM, "no memory for %zu items", n);
    if (rc == DG_OK)
        rc = dg_sim_company_run(m->translator, &o, jobs, n, per_s, err);
    for (size_t i = 0; jobs && i < n; i++)
        dg_job_free(jobs[i]);
    free(jobs);
    return rc;
}

/* Measure two parallel workers, then three, and so on. */
static int measure_companies(struct measure *m, struct dg_error *err)
{
    struct dg_sim_cost *cost = &m->probe.cost;
    struct dg_sim_company_options o = {
        .model = dg_translator_model(m->translator), .limits = limits_of(m)};
    int rc = DG_OK;
    for (o.workers = 2;
         o.workers <= m->o->workers && cost->n_busy < DG_SIM_COMPANIES && rc == DG_OK;
         o.workers++) {
        o.threads = share_of(m, o.workers);
        rc = dg_sim_company_measure(&m->probe, &o, &cost->busy[cost->n_busy++], err);
    }
    return rc;
}

static struct dg_json *items_json(const struct measure *m)
{
    struct dg_json *list = dg_json_new_array();
    size_t k = 0;
    for (size_t i = 0; i < m->items.n; i++) {
        struct dg_json *o = dg_json_new_object(), *sentences = dg_json_new_array();
        dg_json_set_string(o, "class", m->items.classes[m->items.list[i].class]);
        for (; k < m->n_entries && m->entries[k].item == i; k++) {
            const struct entry *e = &m->entries[k];
            const uint32_t figures[] = {
                e->source_tokens, e->max_target, m->probe.beam, e->steps, e->blocks, e->again};
            struct dg_json *x = dg_json_new_array();
            for (size_t f = 0; f < 6; f++)
                dg_json_append_take(x, dg_json_new_int(figures[f]));
            dg_json_append_take(sentences, x);
        }
        dg_json_set_take(o, "sentences", sentences);
        dg_json_append_take(list, o);
    }
    return list;
}

/* Simulate the same run in fake time. */
static int foretell(struct measure *m, const struct dg_json *items, struct dg_error *err)
{
    struct dg_sim_items table = {0};
    struct dg_sim_result r;
    struct dg_sim_options o = {.batching = DG_SIM_FIFO,
        .workers = 1,
        .max_rows = m->o->rows,
        .max_sentences = m->at_a_time,
        .blocks = m->probe.blocks};
    int rc = dg_sim_items_read(items, &table, err);
    struct dg_sim_request *requests = calloc(table.n + 1, sizeof *requests);
    for (size_t i = 0; i < table.n && requests; i++)
        requests[i] = (struct dg_sim_request){.first = table.list[i].first, .n = table.list[i].n};
    if (!requests)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu requests", table.n);
    if (rc == DG_OK)
        rc = dg_sim_run(&o, &m->probe.cost, table.sentences, requests, table.n, &r, err);
    if (rc == DG_OK)
        m->foretold_s = (double)r.backlog_ns / 1e9;
    free(requests);
    dg_sim_items_free(&table);
    return rc;
}

static int open_engine(struct measure *m, struct dg_error *err)
{
    const struct dg_sim_command *o = m->o;
    struct dg_cpu_options cpu = {.threads = (int)o->threads};
    struct dg_engine_limits limits = limits_of(m);
    struct dg_capacity capacity;
    int rc = dg_cpu_open(&cpu, &m->be, err);
    if (rc == DG_OK)
        rc = dg_translator_open(o->model, m->be, MAX_TARGET, &m->translator, err);
    if (rc == DG_OK)
        rc = dg_engine_open(dg_translator_model(m->translator), m->be, &limits, &m->engine, err);
    if (rc != DG_OK)
        return rc;
    dg_engine_capacity(m->engine, &capacity);
    const struct dg_model *model = dg_translator_model(m->translator);
    const struct dg_config *config = dg_model_config(model);
    m->probe = (struct dg_sim_probe){.engine = m->engine,
        .config = config,
        .max_positions = dg_model_max_positions(model),
        .beam = o->beam ? o->beam : config->beam,
        .threads = o->threads,
        .max_rows = o->rows,
        .max_sentences = o->sentences,
        .blocks = capacity.blocks_total,
        .repeats = o->repeats};
    if (m->probe.beam == 0 || m->probe.beam > o->rows)
        return dg_error_set(
            err, DG_EINVAL, "beam %u does not fit into %u rows", m->probe.beam, o->rows);
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
    dg_json_set_int(on, "beam", m->probe.beam);
    dg_json_set_int(on, "rows", m->o->rows);
    dg_json_set_int(on, "sentences", m->o->sentences);
    dg_json_set_int(on, "blocks", m->probe.blocks);
    dg_json_set_take(o, "measured", on);
    dg_sim_cost_write(&m->probe.cost, o);
    return o;
}

/* Probes run alone and warm, with made-up sentences. Correct the cost model by the last run of real
 * ones. */
static int fit(struct measure *m, const struct dg_json *items,
    void (*correct)(struct dg_sim_cost *c, double times), struct dg_error *err)
{
    int rc = foretell(m, items, err);
    if (rc == DG_OK && m->foretold_s > 0 && m->real_s > 0)
        correct(&m->probe.cost, m->real_s / m->foretold_s);
    return rc;
}

static int measure_items(struct measure *m, struct dg_json *o, struct dg_error *err)
{
    int rc = read_items(m, err);
    if (rc != DG_OK)
        return rc;
    if ((rc = run_items(m, 1, err)) != DG_OK)
        return rc;
    struct dg_json *items = items_json(m), *engine = dg_json_new_object();
    rc = fit(m, items, dg_sim_cost_scale, err);
    if (rc == DG_OK)
        rc = run_items(m, m->o->sentences, err);
    double uncorrected_s = 0;
    for (int i = 0; i < 4 && rc == DG_OK; i++) {
        rc = fit(m, items, dg_sim_cost_tilt, err);
        uncorrected_s = i == 0 ? m->foretold_s : uncorrected_s;
    }
    double s = m->real_s > 0 ? m->real_s : 1;
    dg_json_set_real(engine, "seconds", m->real_s);
    dg_json_set_real(engine, "simulated_seconds", uncorrected_s);
    dg_json_set_real(engine, "sentences_per_s", (double)m->real_sentences / s);
    dg_json_set_real(engine, "steps_of_sentences_per_s", (double)m->real_steps / s);
    double together = 0;
    if (rc == DG_OK)
        rc = run_crowd(m, &together, err);
    dg_json_set_int(engine, "workers", m->o->workers);
    dg_json_set_real(engine, "workers_requests_per_s", together);
    dg_sim_cost_write(&m->probe.cost, o); /* corrected */
    dg_json_set_take(o, "engine", engine);
    dg_json_set_take(o, "items", items);
    return rc;
}

int dg_sim_measure(const struct dg_sim_command *o, struct dg_json **out, struct dg_error *err)
{
    struct measure *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory");
    m->o = o;
    int rc = open_engine(m, err);
    if (rc == DG_OK)
        rc = dg_sim_probe_run(&m->probe, err);
    if (rc == DG_OK)
        rc = measure_companies(m, err);
    if (rc == DG_OK) {
        *out = result(m);
        rc = o->items ? measure_items(m, *out, err) : DG_OK;
        if (rc != DG_OK) {
            dg_json_free(*out);
            *out = NULL;
        }
    }
    for (size_t i = 0; m->jobs && i < m->items.n; i++)
        dg_job_free(m->jobs[i]);
    free(m->jobs);
    dg_load_items_free(&m->items);
    free(m->entries);
    dg_engine_close(m->engine);
    dg_translator_close(m->translator);
    dg_cpu_close(m->be);
    free(m);
    return rc;
}
