#include "server/request/planner.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define LONG_BYTES 100000
#define S 1000000000ull

static const struct dg_planner_options one_each = {
    .short_threads = 1, .long_threads = 1, .max_seconds = 2};

static struct dg_planner *open_one(void)
{
    struct dg_planner *p = NULL;
    assert_int_equal(dg_planner_open(&one_each, &p, NULL), DG_OK);
    return p;
}

/* Reports bodies that took this long; the estimate follows slowly. */
static void teach(struct dg_planner *p, size_t bytes, uint64_t took_ns, size_t tokens)
{
    for (int i = 0; i < 100; i++) {
        assert_int_equal(dg_planner_admit(p, bytes, NULL), DG_OK);
        dg_planner_planned(p, bytes, took_ns, tokens);
    }
}

static void what_waits_is_bounded_by_the_speed_of_late(void **state)
{
    struct dg_planner *p = open_one();
    struct dg_error err = {0};
    (void)state;
    teach(p, LONG_BYTES, S / 2, 0); /* half a second each */
    for (int i = 0; i < 4; i++)
        assert_int_equal(dg_planner_admit(p, LONG_BYTES, &err), DG_OK);
    assert_int_equal(dg_planner_admit(p, LONG_BYTES, &err), DG_EAGAIN);
    assert_non_null(strstr(err.message, "2.0 s of text work are waiting, 0.5 s more"));
    /* short ones are counted separately */
    assert_int_equal(dg_planner_admit(p, 2000, &err), DG_OK);
    dg_planner_planned(p, LONG_BYTES, 0, 0);
    assert_int_equal(dg_planner_admit(p, LONG_BYTES, &err), DG_OK);
    dg_planner_close(p);
}

static void one_that_is_over_the_bound_is_taken_when_nothing_waits(void **state)
{
    struct dg_planner *p = open_one();
    struct dg_error err = {0};
    (void)state;
    teach(p, LONG_BYTES, 10 * S, 0);
    assert_int_equal(dg_planner_admit(p, LONG_BYTES, &err), DG_OK);
    assert_int_equal(dg_planner_admit(p, LONG_BYTES, &err), DG_EAGAIN);
    dg_planner_close(p);
}

static void tokens_are_known_by_bytes(void **state)
{
    struct dg_planner *p = open_one();
    (void)state;
    assert_int_equal(dg_planner_tokens(p, 4000), 0);
    teach(p, 4000, 1000000, 1000);
    size_t tokens = dg_planner_tokens(p, 8000);
    assert_true(tokens >= 1999 && tokens <= 2001);
    dg_planner_close(p);
}

/* ---- lines ---- */

static atomic_bool go;
static atomic_int n_short;

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void wait_to_go(void *arg)
{
    (void)arg;
    while (!atomic_load(&go))
        sleep_ms(1);
}

static void count(void *arg)
{
    (void)arg;
    atomic_fetch_add(&n_short, 1);
}

static void short_texts_wait_for_no_long_one(void **state)
{
    struct dg_planner *p = open_one();
    struct dg_work reads = {.run = wait_to_go}, plans = {.run = wait_to_go}, waits = {.run = count},
                   short_one = {.run = count};
    (void)state;
    atomic_store(&go, false);
    atomic_store(&n_short, 0);
    assert_true(dg_planner_post(p, DG_STEP_READ, LONG_BYTES, &reads));
    assert_true(dg_planner_post(p, DG_STEP_PLAN, LONG_BYTES, &plans));
    assert_true(dg_planner_post(p, DG_STEP_PLAN, LONG_BYTES, &waits));
    assert_true(dg_planner_post(p, DG_STEP_PLAN, DG_SHORT_BYTES, &short_one));
    uint64_t end = dg_clock_ns() + 60 * S;
    while (atomic_load(&n_short) == 0 && dg_clock_ns() < end)
        sleep_ms(1);
    assert_int_equal(atomic_load(&n_short), 1);
    assert_true(dg_planner_cancel(p, DG_STEP_PLAN, LONG_BYTES, &waits));
    assert_false(dg_planner_cancel(p, DG_STEP_PLAN, LONG_BYTES, &waits));
    atomic_store(&go, true);
    dg_planner_close(p);
    assert_int_equal(atomic_load(&n_short), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_is_bounded_by_the_speed_of_late),
        cmocka_unit_test(one_that_is_over_the_bound_is_taken_when_nothing_waits),
        cmocka_unit_test(tokens_are_known_by_bytes),
        cmocka_unit_test(short_texts_wait_for_no_long_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
