#include "server/access/quota.h"

#include "base/day.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S 1000000000ull

static void a_bucket_starts_full_and_refills(void **state)
{
    struct dg_bucket b = {0};
    int64_t wait = 0;
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_true(dg_quota_take(&b, 6, 100 * S, &wait));
    assert_false(dg_quota_take(&b, 6, 100 * S, &wait));
    assert_int_equal(wait, 10); /* six a minute: one in ten seconds */
    assert_false(dg_quota_take(&b, 6, 107 * S, &wait));
    assert_int_equal(wait, 3);
    assert_true(dg_quota_take(&b, 6, 110 * S, &wait));
    assert_false(dg_quota_take(&b, 6, 110 * S, &wait));
    for (int i = 0; i < 6; i++) /* an hour adds no more than a minute's worth */
        assert_true(dg_quota_take(&b, 6, 3700 * S, &wait));
    assert_false(dg_quota_take(&b, 6, 3700 * S, &wait));
}

static void a_lowered_limit_counts_at_once(void **state)
{
    struct dg_bucket b = {0};
    int64_t wait = 0;
    (void)state;
    assert_true(dg_quota_take(&b, 1000, S, &wait));
    assert_true(dg_quota_take(&b, 1, S, &wait));
    assert_false(dg_quota_take(&b, 1, S, &wait));
    assert_int_equal(wait, 60);
    assert_true(dg_quota_take(&b, 0, S, &wait)); /* no limit */
}

static void fast_rates_wait_a_second_at_least(void **state)
{
    struct dg_bucket b = {0};
    int64_t wait = 0;
    (void)state;
    for (int i = 0; i < 6000; i++)
        assert_true(dg_quota_take(&b, 6000, S, &wait));
    assert_false(dg_quota_take(&b, 6000, S, &wait));
    assert_int_equal(wait, 1);
}

static void days(void **state)
{
    int64_t left;
    (void)state;
    assert_int_equal(dg_day_of(0, &left), 0);
    assert_int_equal(left, 86400);
    assert_int_equal(dg_day_of(86399.9, &left), 0);
    assert_int_equal(left, 1);
    assert_int_equal(dg_day_of(86400, &left), 1);
    assert_int_equal(left, 86400);
    assert_int_equal(dg_day_of(1795275808, &left), 20778);
}

static void what_fits(void **state)
{
    (void)state;
    assert_true(dg_quota_fits(5, INT64_MAX, 0));
    assert_true(dg_quota_fits(5, 5, 10));
    assert_false(dg_quota_fits(5, 6, 10));
    assert_false(dg_quota_fits(0, 11, 10));
    assert_true(dg_quota_fits(11, 0, 11));
    assert_false(dg_quota_fits(20, 1, 10)); /* the limit was lowered below the use */
    assert_true(dg_quota_fits(-3, 10, 10));
    assert_false(dg_quota_fits(INT64_MAX, 1, INT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_starts_full_and_refills),
        cmocka_unit_test(a_lowered_limit_counts_at_once),
        cmocka_unit_test(fast_rates_wait_a_second_at_least),
        cmocka_unit_test(days),
        cmocka_unit_test(what_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
