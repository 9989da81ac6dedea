/* The memory plan's limit: the machine's, or its control group's. */
#include "trainer/run/report.h"
#include "trainer/run/training_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define GIB ((double)(1 << 30))

static struct dg_training_plan limited(double machine, double group)
{
    struct dg_training_plan p = {0};
    const struct dg_cgroup g = {-1, group, -1};
    dg_training_plan_memory(&p, machine, &g);
    return p;
}

static void test_limit(void **state)
{
    (void)state;
    const struct {
        double machine, group, want;
        bool grouped;
    } cases[] = {
        {8, -1, 8, false},                  /* no control group, or one without a limit */
        {8, 2, 2, true}, {8, 16, 8, false}, /* more than there is */
        {0, 2, 2, true},                    /* a machine that does not say */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double group = cases[i].group < 0 ? -1 : cases[i].group * GIB;
        struct dg_training_plan p = limited(cases[i].machine * GIB, group);
        assert_true((double)p.available == cases[i].want * GIB);
        assert_int_equal(p.grouped, cases[i].grouped);
    }
    assert_int_equal(limited(0, -1).available, 0);
}

static void test_refusal_says_whose_limit(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct dg_training_plan p = limited(8 * GIB, 2 * GIB);
    p.total = (size_t)(3 * GIB);
    assert_int_equal(dg_training_plan_check(&p, &err), DG_ELIMIT);
    assert_string_equal(err.field, "training.micro_tokens");
    assert_non_null(strstr(err.message, "3.0 GiB and the control group allows 2.0 GiB"));
    dg_error_clear(&err);
    p = limited(2 * GIB, -1);
    p.total = (size_t)(3 * GIB);
    assert_int_equal(dg_training_plan_check(&p, &err), DG_ELIMIT);
    assert_non_null(strstr(err.message, "the machine has 2.0 GiB"));
    p = limited(0, -1); /* unknown: tried */
    p.total = (size_t)(3 * GIB);
    assert_int_equal(dg_training_plan_check(&p, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit), cmocka_unit_test(test_refusal_says_whose_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
