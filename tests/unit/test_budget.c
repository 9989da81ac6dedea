#include "base/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void all_or_nothing(void **state)
{
    struct dg_budget b = {.most = 100};
    (void)state;
    assert_true(dg_budget_take(&b, 60));
    assert_false(dg_budget_take(&b, 41));
    assert_int_equal(atomic_load(&b.taken), 60);
    assert_true(dg_budget_take(&b, 40));
    assert_false(dg_budget_take(&b, 1));
    dg_budget_give(&b, 60);
    assert_true(dg_budget_take(&b, 60));
    assert_false(dg_budget_take(&b, SIZE_MAX)); /* no wrap around */
    assert_int_equal(atomic_load(&b.taken), 100);
}

static void what_is_taken_already_counts(void **state)
{
    struct dg_budget b = {.most = 100};
    (void)state;
    dg_budget_add(&b, 150);
    assert_false(dg_budget_take(&b, 1));
    dg_budget_give(&b, 100);
    assert_true(dg_budget_take(&b, 50));
    assert_false(dg_budget_take(&b, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_or_nothing), cmocka_unit_test(what_is_taken_already_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
