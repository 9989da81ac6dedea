/* Cores for each worker, by the number of busy workers. */
#include "server/schedule/core_share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void shares(void **state)
{
    static const int expected[][5] = {
        /* cores, then threads with 0 .. 3 workers busy */
        {1, 1, 1, 1, 1},
        {2, 2, 2, 1, 1},
        {4, 4, 4, 2, 1},
        {7, 7, 7, 3, 2},
        {16, 16, 16, 8, 5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct dg_core_share s;
        dg_core_share_init(&s, expected[i][0]);
        for (unsigned busy = 0; busy < 4; busy++) {
            assert_int_equal(dg_core_share_busy(&s), busy);
            assert_int_equal(dg_core_share_threads(&s), expected[i][busy + 1]);
            dg_core_share_begin(&s);
        }
        for (int k = 0; k < 4; k++)
            dg_core_share_end(&s);
        assert_int_equal(dg_core_share_threads(&s), expected[i][0]);
    }
}

static void fixed(void **state)
{
    struct dg_core_share s;
    (void)state;
    dg_core_share_init(&s, 0);
    assert_int_equal(dg_core_share_threads(&s), 0);
    dg_core_share_begin(&s);
    assert_int_equal(dg_core_share_threads(&s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares), cmocka_unit_test(fixed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
