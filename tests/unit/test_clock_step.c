/* By how much the wall clock was set, with clocks of the test's own. */
#include "base/clock_step.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define DAY_S 86400

/* Replaces all of base/clock.c, so that the linker takes none of it from the library. */
static double wall_s;
static uint64_t boot_ns;

double dg_clock_wall_s(void)
{
    return wall_s;
}

uint64_t dg_clock_boot_ns(void)
{
    return boot_ns;
}

uint64_t dg_clock_ns(void)
{
    return boot_ns;
}

uint64_t dg_clock_cpu_ns(void)
{
    return 0;
}

static void pass(double seconds, double set)
{
    boot_ns += (uint64_t)(seconds * 1e9);
    wall_s += seconds + set;
}

static void test_steps(void **state)
{
    struct dg_clock_step last = {0};
    (void)state;
    wall_s = 1.7e9 + 0.7;
    boot_ns = 5;
    assert_int_equal(dg_clock_step(&last), 0);
    pass(60, 0);
    assert_int_equal(dg_clock_step(&last), 0);
    pass(30 * (double)DAY_S, 0.03); /* slowed down and sped up by NTP */
    assert_int_equal(dg_clock_step(&last), 0);
    pass(60, 40 * (double)DAY_S);
    assert_int_equal(dg_clock_step(&last), 40 * DAY_S);
    pass(60, -3600);
    assert_int_equal(dg_clock_step(&last), -3600);
    pass(0, -60 * 365 * (double)DAY_S); /* before 1970 */
    assert_true(wall_s < 0);
    assert_int_equal(dg_clock_step(&last), -60 * 365 * (int64_t)DAY_S);
    pass(1, 0);
    assert_int_equal(dg_clock_step(&last), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
