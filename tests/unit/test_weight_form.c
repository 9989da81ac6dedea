/* Forms of a weight: which one a backend takes, and the error for a weight that has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/weight_form.h"

static const float floats[6] = {1, 2, 3, 4, 5, 6}, scales[2] = {0.5f, 2};
static const int8_t bytes[6] = {2, 4, -6, 1, 0, -3};

static void test_fp32_rows_come_first(void **state)
{
    const struct dg_stored forms[] = {{DG_F32, DG_LAYOUT_PANEL16, floats, NULL},
        {DG_S8, DG_LAYOUT_ROWS, bytes, scales}, {DG_F32, DG_LAYOUT_ROWS, floats, NULL}};
    struct dg_weight_spec spec = {"w", DG_USE_MATRIX, 2, 3, false, forms, 3, .in_place = NULL};
    const struct dg_stored *rows;
    (void)state;
    assert_int_equal(dg_weight_rows(&spec, &rows, NULL), DG_OK);
    assert_ptr_equal(rows, &forms[2]);
    assert_ptr_equal(dg_weight_form(&spec, DG_LAYOUT_PANEL16, DG_F32), &forms[0]);
    assert_null(dg_weight_form(&spec, DG_LAYOUT_PANEL16, DG_BF16));
    spec.n_stored = 2;
    assert_int_equal(dg_weight_rows(&spec, &rows, NULL), DG_OK);
    assert_ptr_equal(rows, &forms[1]);
}

static void test_int8_rows_are_scaled(void **state)
{
    const struct dg_stored rows = {DG_S8, DG_LAYOUT_ROWS, bytes, scales};
    const float want[6] = {1, 2, -3, 2, 0, -6};
    float got[6];
    (void)state;
    dg_stored_floats(&rows, 3, 0, 2, got);
    assert_memory_equal(got, want, sizeof want);
    dg_stored_floats(&rows, 3, 1, 1, got);
    assert_memory_equal(got, want + 3, 3 * sizeof *want);
}

static void test_what_is_wrong(void **state)
{
    const struct dg_stored good = {DG_F32, DG_LAYOUT_ROWS, floats, NULL},
                           bare = {DG_S8, DG_LAYOUT_ROWS, bytes, NULL},
                           panels = {DG_F32, DG_LAYOUT_PANEL16, floats, NULL};
    const struct {
        struct dg_weight_spec spec;
        const char *says;
    } cases[] = {
        {{"w", DG_USE_MATRIX, 0, 3, false, &good, 1, .in_place = NULL}, "impossible shape"},
        {{"w", 0, 2, 3, false, &good, 1, .in_place = NULL}, "has no use"},
        {{"w", DG_USE_VECTOR, 2, 3, false, &good, 1, .in_place = NULL}, "expected a vector [1,3]"},
        {{"w", DG_USE_MATRIX, 2, 3, false, &panels, 1, .in_place = NULL},
            "no row-major form among its 1"},
        {{"w", DG_USE_MATRIX, 2, 3, false, &bare, 1, .in_place = NULL}, "int8 without scales"},
        {{"w", DG_USE_MATRIX, 2, 3, true, &(struct dg_stored){DG_S8, 0, bytes, scales}, 1,
             .in_place = NULL},
            "not fp32"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dg_stored *rows;
        struct dg_error err = {0};
        assert_int_not_equal(dg_weight_rows(&cases[i].spec, &rows, &err), DG_OK);
        if (!strstr(err.message, cases[i].says))
            fail_msg("\"%s\" lacks \"%s\"", err.message, cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fp32_rows_come_first),
        cmocka_unit_test(test_int8_rows_are_scaled), cmocka_unit_test(test_what_is_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
