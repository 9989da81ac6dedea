/* Where a model drops elements: each site has its rate, and a key of its own that no other pass
 * changes. */
#include "model/layers/layers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const uint32_t rows[] = {1, 2};
static const struct dg_dropouts drops = {0.1f, 0.2f, 0.3f, 77, rows};

static void test_rates(void **state)
{
    (void)state;
    static const float rates[] = {[DG_SITE_EMBED] = 0.1f,
        [DG_SITE_SELF] = 0.1f,
        [DG_SITE_SELF_PROBS] = 0.2f,
        [DG_SITE_CROSS] = 0.1f,
        [DG_SITE_CROSS_PROBS] = 0.2f,
        [DG_SITE_FFN] = 0.1f,
        [DG_SITE_ACT] = 0.3f};
    for (int site = DG_SITE_EMBED; site <= DG_SITE_ACT; site++) {
        struct dg_dropout drop;
        assert_ptr_equal(dg_dropout_at(&drops, 1, 2, (enum dg_site)site, &drop), &drop);
        assert_true(drop.p == rates[site]);
        assert_ptr_equal(drop.row_key, rows);
    }
}

/* Checkpoints rely on the keys: a run that is resumed drops the same elements. */
static void test_keys(void **state)
{
    (void)state;
    uint32_t seen[2 * 3 * 7], n = 0;
    for (int side = 0; side < 2; side++)
        for (uint32_t layer = 0; layer < 3; layer++)
            for (int site = DG_SITE_EMBED; site <= DG_SITE_ACT; site++) {
                struct dg_dropout drop;
                assert_non_null(dg_dropout_at(&drops, side, layer, (enum dg_site)site, &drop));
                const uint32_t of_layer = dg_dropout_hash(77, 2 * layer + (uint32_t)side);
                assert_int_equal(drop.site, dg_dropout_hash(of_layer, (uint32_t)site));
                for (uint32_t i = 0; i < n; i++)
                    assert_int_not_equal(drop.site, seen[i]);
                seen[n++] = drop.site;
            }
}

static void test_nothing_is_dropped(void **state)
{
    (void)state;
    const struct dg_dropouts none = {.step_key = 77, .row_key = rows}, act = {.act = 0.5f};
    struct dg_dropout drop;
    assert_null(dg_dropout_at(NULL, 0, 0, DG_SITE_EMBED, &drop));
    assert_null(dg_dropout_at(&none, 0, 0, DG_SITE_ACT, &drop));
    assert_null(dg_dropout_at(&act, 0, 0, DG_SITE_FFN, &drop));
    assert_non_null(dg_dropout_at(&act, 0, 0, DG_SITE_ACT, &drop));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates), cmocka_unit_test(test_keys),
        cmocka_unit_test(test_nothing_is_dropped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
