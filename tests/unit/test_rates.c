#include "server/access/rates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

static void each_address_has_its_own(void **state)
{
    struct dg_rates *r = NULL;
    int64_t wait = 0;
    (void)state;
    assert_int_equal(dg_rates_open(6, &r, NULL), DG_OK);
    for (int i = 0; i < 6; i++)
        assert_true(dg_rates_take(r, 7, 100 * S, &wait));
    assert_false(dg_rates_take(r, 7, 100 * S, &wait));
    assert_int_equal(wait, 10);
    assert_true(dg_rates_take(r, 8, 100 * S, &wait));
    assert_true(dg_rates_take(r, 7, 111 * S, &wait));
    for (int i = 0; i < 100; i++) /* no known client */
        assert_true(dg_rates_take(r, 0, 100 * S, &wait));
    dg_rates_close(r);
}

/* However many addresses there are, one that keeps asking is not forgotten. */
static void many_addresses_forget_only_quiet_ones(void **state)
{
    struct dg_rates *r = NULL;
    int64_t wait = 0;
    uint64_t now = 100 * S;
    (void)state;
    assert_int_equal(dg_rates_open(2, &r, NULL), DG_OK);
    for (int i = 0; i < 2; i++)
        assert_true(dg_rates_take(r, 7, now, &wait));
    for (uint64_t client = 1000; client < 101000; client++) {
        assert_true(dg_rates_take(r, client, ++now, &wait));
        if (client % 100 == 0)
            assert_false(dg_rates_take(r, 7, ++now, &wait));
    }
    dg_rates_close(r);
}

static void another_rate(void **state)
{
    struct dg_rates *r = NULL;
    int64_t wait = 0;
    (void)state;
    assert_int_equal(dg_rates_open(0, &r, NULL), DG_OK);
    for (int i = 0; i < 100; i++) /* no limit */
        assert_true(dg_rates_take(r, 7, 100 * S, &wait));
    dg_rates_set(r, 2);
    for (int i = 0; i < 2; i++)
        assert_true(dg_rates_take(r, 7, 100 * S, &wait));
    assert_false(dg_rates_take(r, 7, 100 * S, &wait));
    dg_rates_set(r, 0);
    assert_true(dg_rates_take(r, 7, 100 * S, &wait));
    dg_rates_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_address_has_its_own),
        cmocka_unit_test(many_addresses_forget_only_quiet_ones), cmocka_unit_test(another_rate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
