#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <time.h>

static void monotonic_clock_rises_with_real_time(void **state)
{
    (void)state;
    uint64_t before = dg_clock_ns(), start = before;
    for (int i = 0; i < 100000; i++) {
        uint64_t now = dg_clock_ns();
        assert_true(now >= before);
        before = now;
    }
    struct timespec pause = {0, 20000000};
    start = dg_clock_ns();
    nanosleep(&pause, NULL);
    assert_true(dg_clock_ns() - start >= 20000000u);
}

static void wall_clock_is_now(void **state)
{
    (void)state;
    double low = (double)time(NULL) - 1, now = dg_clock_wall_s(), high = (double)time(NULL) + 1;
    assert_true(now >= low && now <= high);
}

/* Sleeping must not count, work must. */
static void cpu_clock_counts_work_only(void **state)
{
    (void)state;
    struct timespec pause = {0, 50000000};
    uint64_t least = UINT64_MAX, start;
    /* The least of several: on a busy machine a sleep may be charged with other threads' work. */
    for (int i = 0; i < 10 && least >= 40000000u; i++) {
        start = dg_clock_cpu_ns();
        nanosleep(&pause, NULL);
        uint64_t spent = dg_clock_cpu_ns() - start;
        least = spent < least ? spent : least;
    }
    assert_true(least < 40000000u);
    start = dg_clock_cpu_ns();
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < 3000000; i++)
        sum += i;
    assert_true(dg_clock_cpu_ns() - start > 100000u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_clock_rises_with_real_time),
        cmocka_unit_test(wall_clock_is_now),
        cmocka_unit_test(cpu_clock_counts_work_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
