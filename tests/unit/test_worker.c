/* What a worker learns about its engine's speed. Every step takes a millisecond, whatever the
 * machine: the clock is the test's own, and moves on whenever the worker reads it. */
#include "server/schedule/worker.h"

#include "base/clock.h"
#include "kernels/cpu/cpu.h"
#include "server/schedule/pace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define BUNDLE "tests/data/en-de"
#define N 160
#define ROWS 8
#define PAIRS 10

/* Replaces all of base/clock.c, so that the linker takes none of it from the library. */
static _Atomic uint64_t now_ns = 1000000;

uint64_t dg_clock_ns(void)
{
    return atomic_fetch_add(&now_ns, 1000000);
}

double dg_clock_wall_s(void)
{
    return 1;
}

uint64_t dg_clock_boot_ns(void)
{
    return 1;
}

uint64_t dg_clock_cpu_ns(void)
{
    return 0;
}

static void count_done(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* A worker translates N sentences of about the same length, ROWS hypotheses at a time. Returns its
 * speed, and the source tokens that it answered in *tokens and its steps in *steps. */
static double work(uint32_t beam, uint64_t *tokens, uint64_t *steps)
{
    const struct dg_engine_limits limits = {
        .max_rows = ROWS, .max_sentences = ROWS / beam, .max_beam = beam};
    const struct dg_translate_options options = {.search = {.beam = beam, .alpha = -1}};
    const struct dg_queue_options o = {.max_tokens = 1000000, .policy = dg_batch_policy_default};
    struct dg_replica replica = {0};
    struct dg_served model = {.refs = 1, .replicas = &replica, .n_replicas = 1};
    struct dg_core_share share = {0};
    struct dg_workers *workers;
    struct dg_job *jobs[N];
    struct dg_task *tasks[N];
    struct dg_error err = {0};
    struct dg_workers_options w = {.n = 1, .share = &share};
    atomic_int done = 0;
    char text[64];
    if (dg_cpu_open(NULL, &replica.be, &err) ||
        dg_translator_open(BUNDLE, replica.be, 200, &model.translator, &err) ||
        dg_engine_open(
            dg_translator_model(model.translator), replica.be, &limits, &replica.engine, &err) ||
        dg_queue_open(&o, &w.queue, &err))
        fail_msg("%s", err.message);
    for (int i = 0; i < N; i++) { /* all are there before the worker: it alone reads the clock */
        snprintf(text, sizeof text, "Two dogs play with number %d.", i + 10);
        if (dg_job_encode(model.translator, text, strlen(text), &options, &jobs[i], &err) ||
            dg_task_open(&model, &jobs[i], 1, &tasks[i], &err))
            fail_msg("%s", err.message);
        tasks[i]->done = count_done;
        tasks[i]->arg = &done;
        *tokens += tasks[i]->entries[0].source_tokens;
        assert_int_equal(dg_queue_submit(w.queue, tasks[i], &err), DG_OK);
    }
    if (dg_workers_open(&w, &workers, &err))
        fail_msg("%s", err.message);
    while (atomic_load(&done) < N)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    dg_queue_stop(w.queue);
    assert_int_equal(dg_workers_close(workers), 0);
    const double rate = dg_pace_rate(replica.pace);
    *steps = atomic_load(&replica.steps);
    for (int i = 0; i < N; i++) {
        assert_int_equal(tasks[i]->outcome, DG_TASK_OK);
        dg_task_free(tasks[i]);
        dg_job_free(jobs[i]);
    }
    dg_queue_close(w.queue);
    dg_engine_close(replica.engine);
    free(replica.pace);
    dg_translator_close(model.translator);
    dg_cpu_close(replica.be);
    return rate;
}

/* The queue counts a sentence of beam 8 twice, so that half as many of them a second are the same
 * speed. */
static void a_speed_is_in_what_the_queue_counts(void **state)
{
    (void)state;
    for (uint32_t beam = 1; beam <= ROWS; beam *= 2) {
        uint64_t tokens = 0, steps = 0;
        const double rate = work(beam, &tokens, &steps);
        const double real = 1000.0 * (double)tokens / (double)steps * (beam > 4 ? beam / 4.0 : 1);
        print_message("beam %u: %.0f a second, really %.0f\n", beam, rate, real);
        if (!(fabs(rate / real - 1) < 0.25))
            fail_msg("beam %u: %.0f a second, really %.0f", beam, rate, real);
    }
}

/* A worker steps two models in turn. The answers of the first have wrong numbers, so that its
 * sentences are admitted a second time, just before a step of the second model. */
static void a_second_look_counts_for_its_own_model(void **state)
{
    static const char *const texts[2] = {
        "Two dogs play with 184,320 of the 2,202,118 red balls in 1998 and 17.35 in 83.",
        "Two dogs play."};
    const struct dg_engine_limits limits = {.max_rows = 4, .max_sentences = 1, .max_beam = 4};
    const struct dg_translate_options options = {.search = {.beam = 4, .alpha = -1}};
    const struct dg_queue_options o = {.max_tokens = 1000000, .policy = dg_batch_policy_default};
    struct dg_replica replicas[2] = {{0}};
    struct dg_served models[2] = {{.refs = 1}, {.refs = 1}};
    struct dg_core_share share = {0};
    struct dg_workers_options w = {.n = 1, .share = &share};
    struct dg_workers *workers;
    struct dg_job *jobs[PAIRS][2];
    struct dg_task *tasks[PAIRS][2];
    struct dg_error err = {0};
    atomic_int done = 0;
    (void)state;
    assert_int_equal(dg_queue_open(&o, &w.queue, &err), DG_OK);
    for (int m = 0; m < 2; m++) {
        models[m].replicas = &replicas[m];
        models[m].n_replicas = 1;
        if (dg_cpu_open(NULL, &replicas[m].be, &err) ||
            dg_translator_open(BUNDLE, replicas[m].be, 200, &models[m].translator, &err) ||
            dg_engine_open(dg_translator_model(models[m].translator), replicas[m].be, &limits,
                &replicas[m].engine, &err))
            fail_msg("%s", err.message);
    }
    for (int i = 0; i < 2 * PAIRS; i++) {
        const int m = i % 2;
        struct dg_job **job = &jobs[i / 2][m];
        struct dg_task **task = &tasks[i / 2][m];
        if (dg_job_encode(models[m].translator, texts[m], strlen(texts[m]), &options, job, &err) ||
            dg_task_open(&models[m], job, 1, task, &err))
            fail_msg("%s", err.message);
        (*task)->entries[0].key = 0; /* none is another's duplicate */
        (*task)->done = count_done;
        (*task)->arg = &done;
        assert_int_equal(dg_queue_submit(w.queue, *task, &err), DG_OK);
    }
    assert_int_equal(dg_workers_open(&w, &workers, &err), DG_OK);
    while (atomic_load(&done) < 2 * PAIRS)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    dg_queue_stop(w.queue);
    assert_int_equal(dg_workers_close(workers), 0);
    assert_true(tasks[0][1]->entries[0].source_tokens <= 8);
    for (size_t size = 4; size < DG_PACE_SIZES; size++) /* 9 tokens and more */
        assert_int_equal(replicas[1].pace->encode[size].n, 0);
    for (int i = 0; i < 2 * PAIRS; i++) {
        dg_task_free(tasks[i / 2][i % 2]);
        dg_job_free(jobs[i / 2][i % 2]);
    }
    dg_queue_close(w.queue);
    for (int m = 0; m < 2; m++) {
        dg_engine_close(replicas[m].engine);
        free(replicas[m].pace);
        dg_translator_close(models[m].translator);
        dg_cpu_close(replicas[m].be);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_speed_is_in_what_the_queue_counts),
        cmocka_unit_test(a_second_look_counts_for_its_own_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
