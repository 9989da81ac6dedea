/* DESIGN. Steps are timed with sentences of forced length, so that the number of rows stays as it
 * is set. step(rows)      at a short context, with the share of the context subtracted cell_ns the
 * same rows at a short and a long context encode(pieces)  first steps of joining sentences, with
 * the decoder's part subtracted pair_ns         one long sentence, compared with several short ones
 * of as many pieces in all */
#include "bench/sim/probe.h"

#include "base/clock.h"
#include "bench/distribution.h"

#include <stdlib.h>
#include <time.h>

#define SHORT_CONTEXT 16
#define LONG_CONTEXT 192
#define PROBE_STEPS 12
#define CELL_TURNS 5
#define PROBE_NS 100000000u /* minimum, so that no single moment of the machine decides */

static double median(struct dg_sim_probe *p)
{
    dg_bench_sort(p->times, p->n_times);
    double v = p->n_times > 0 ? p->times[p->n_times / 2] : 0;
    p->n_times = 0;
    return v;
}

static void drain(struct dg_sim_probe *p)
{
    const struct dg_result *r;
    while ((r = dg_engine_poll(p->engine)))
        dg_engine_release(p->engine, r);
}

uint64_t dg_sim_probe_now(const struct dg_sim_probe *p)
{
    struct timespec t;
    if (p->threads > 1 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
        return dg_clock_ns();
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint32_t dg_sim_probe_most(const struct dg_sim_probe *p)
{
    uint32_t n = p->max_rows / p->beam;
    return n < p->max_sentences ? n : p->max_sentences;
}

/* Take one step; returns its microseconds. */
static double step_us(struct dg_sim_probe *p)
{
    uint64_t t0 = dg_sim_probe_now(p);
    dg_engine_step(p->engine);
    double us = (double)(dg_sim_probe_now(p) - t0) / 1e3;
    drain(p);
    return us;
}

/* Admit n sentences of S pieces that run for `steps` steps. */
static int admit(
    struct dg_sim_probe *p, uint32_t n, uint32_t S, uint32_t steps, struct dg_error *err)
{
    const struct dg_config *c = p->config;
    int32_t *ids = malloc(S * sizeof *ids);
    int rc = ids ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory");
    for (uint32_t k = 0; k < n && rc == DG_OK; k++) {
        for (uint32_t i = 0; i < S; i++)
            ids[i] = (int32_t)((i * 31 + k * 7 + 5) % c->source_vocab);
        ids[S - 1] = c->eos;
        struct dg_sentence s = {.source = ids,
            .n_source = S,
            .search = {
                .beam = p->beam, .n_best = 1, .max_len = steps, .min_len = steps, .alpha = -1}};
        if ((rc = dg_engine_admit(p->engine, p->next_id++, &s, err)) == DG_EAGAIN)
            rc = dg_error_set(
                err, DG_EAGAIN, "the engine has no room for %u sentences of %u pieces", n, S);
    }
    free(ids);
    return rc;
}

/* Median microseconds of a step of n sentences with all their rows, each with about `context`
 * positions before it. */
static int probe_step(
    struct dg_sim_probe *p, uint32_t n, uint32_t context, double *us, struct dg_error *err)
{
    uint64_t t0 = dg_clock_ns();
    for (uint32_t rep = 0; rep < p->repeats || dg_clock_ns() - t0 < PROBE_NS; rep++) {
        int rc = admit(p, n, context, PROBE_STEPS, err);
        if (rc != DG_OK)
            return rc;
        for (int i = 0; i < PROBE_STEPS; i++) {
            double t = step_us(p);
            if (i > 1 && i + 1 < PROBE_STEPS &&
                p->n_times < DG_SIM_MAX_TIMES) /* not the first ones, nor the last, which sorts */
                p->times[p->n_times++] = t;
        }
    }
    *us = median(p);
    return DG_OK;
}

int dg_sim_probe_rows(struct dg_sim_probe *p, uint32_t n, double *us, struct dg_error *err)
{
    return probe_step(p, n, SHORT_CONTEXT, us, err);
}

/* Median microseconds of the step in which n sentences of S pieces join, minus its decoder's part.
 */
static int probe_encode(
    struct dg_sim_probe *p, uint32_t n, uint32_t S, double *us, struct dg_error *err)
{
    uint64_t t0 = dg_clock_ns();
    for (uint32_t rep = 0; rep < p->repeats + 2 || dg_clock_ns() - t0 < PROBE_NS; rep++) {
        int rc = admit(p, n, S, 2, err);
        if (rc != DG_OK)
            return rc;
        double t = step_us(p);
        if (rep > 0 && p->n_times < DG_SIM_MAX_TIMES)
            p->times[p->n_times++] = t;
        step_us(p);
    }
    *us = median(p) - dg_sim_curve_at(&p->cost.step_us, n) - 1e-3 * p->cost.cell_ns * n * S;
    if (*us < 0)
        *us = 0;
    return DG_OK;
}

/* Positions that all rows attend to, in the middle of a probe. */
static double cells_of(uint32_t rows, uint32_t context)
{
    return (double)rows * (context + PROBE_STEPS / 2.0);
}

/* Measure what a position costs a row: with few rows, as in most steps of a server that is not
 * full, at a long and a short context in turns. */
static int measure_cell(struct dg_sim_probe *p, uint32_t n, struct dg_error *err)
{
    double near = 0, far = 0, us;
    for (int turn = 0; turn < CELL_TURNS; turn++) {
        int rc = probe_step(p, n, SHORT_CONTEXT, &us, err);
        near += us;
        if (rc == DG_OK)
            rc = probe_step(p, n, LONG_CONTEXT, &us, err);
        if (rc != DG_OK)
            return rc;
        far += us;
    }
    double more = (double)CELL_TURNS * n * p->beam * (LONG_CONTEXT - SHORT_CONTEXT);
    p->cost.cell_ns = far > near ? 1e3 * (far - near) / more : 0;
    return DG_OK;
}

static int measure_steps(struct dg_sim_probe *p, struct dg_error *err)
{
    struct dg_sim_curve *c = &p->cost.step_us;
    uint32_t most = dg_sim_probe_most(p), n = 1;
    double us;
    int rc = probe_step(p, most > 1 ? most / 2 : 1, SHORT_CONTEXT, &us, err); /* warm-up */
    if (rc == DG_OK)
        rc = measure_cell(p, most > 1 ? 2 : 1, err);
    if (rc != DG_OK)
        return rc;
    while (c->n < DG_SIM_POINTS) {
        if ((rc = probe_step(p, n, SHORT_CONTEXT, &us, err)) != DG_OK)
            return rc;
        us -= 1e-3 * p->cost.cell_ns * cells_of(n * p->beam, SHORT_CONTEXT);
        c->x[c->n] = n * p->beam;
        c->y[c->n++] = us > 0 ? us : 0;
        if (n == most)
            break;
        n = n < 4 ? n + 1 : n + n / 2;
        n = n > most ? most : n;
    }
    return DG_OK;
}

static int measure_encode(struct dg_sim_probe *p, struct dg_error *err)
{
    static const uint32_t lengths[] = {4, 8, 16, 32, 64, 128, 256};
    struct dg_sim_curve *c = &p->cost.encode_us;
    double one, four;
    uint32_t most = p->max_positions;
    int rc = probe_encode(p, 1, 256 < most ? 256 : most, &one, err);
    if (rc == DG_OK && most >= 256 && p->max_rows >= 4 * p->beam)
        rc = probe_encode(p, 4, 64, &four, err);
    else
        four = one;
    if (rc != DG_OK)
        return rc;
    p->cost.pair_ns = one > four ? 1e3 * (one - four) / (256.0 * 256.0 - 4 * 64.0 * 64.0) : 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && lengths[i] <= most; i++) {
        double us;
        if ((rc = probe_encode(p, 1, lengths[i], &us, err)) != DG_OK)
            return rc;
        us -= 1e-3 * p->cost.pair_ns * lengths[i] * lengths[i];
        c->x[c->n] = lengths[i];
        c->y[c->n++] = us > 0 ? us : 0;
    }
    return DG_OK;
}

int dg_sim_probe_run(struct dg_sim_probe *p, struct dg_error *err)
{
    int rc = measure_steps(p, err);
    return rc == DG_OK ? measure_encode(p, err) : rc;
}
