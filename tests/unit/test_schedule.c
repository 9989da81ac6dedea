#include "trainer/update/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 + 1e-9 * fabs(want)))
        fail_msg("%.12g, expected %.12g", got, want);
}

/* The paper's base model: d_model 512, warmup 4000; values worked out by hand from section 5.3's
 * formula. */
static void test_paper(void **state)
{
    (void)state;
    struct dg_schedule s = {1, 512, 4000, 100000, 0};
    expect(dg_schedule_rate(&s, 1), 1.746928107421711e-07);
    expect(dg_schedule_rate(&s, 2000), 0.0003493856214843422);
    expect(dg_schedule_rate(&s, 4000), 0.0006987712429686843); /* the peak */
    expect(dg_schedule_rate(&s, 100000), 0.00013975424859373687);
    expect(dg_schedule_rate(&s, 0), dg_schedule_rate(&s, 1));
}

/* The last 10 of 100 updates fall to 0 in eleven equal steps: update 98 has 3 updates left, itself
 * counted. */
static void test_cooldown(void **state)
{
    (void)state;
    struct dg_schedule s = {0.7, 256, 50, 100, 10}, plain = {0.7, 256, 50, 100, 0};
    expect(dg_schedule_rate(&s, 90), dg_schedule_rate(&plain, 90));
    expect(dg_schedule_rate(&s, 91), dg_schedule_rate(&plain, 91) * 10 / 11);
    expect(dg_schedule_rate(&s, 98), 0.0012052956497497968);
    expect(dg_schedule_rate(&s, 101), 0);
    expect(dg_schedule_rate(&s, 200), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper), cmocka_unit_test(test_cooldown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
