/* Expected values come from sacreBLEU: tests/data/scores/make.py. */
#include "trainer/score/chrf.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

static void test_scores(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct dg_json *root = dg_json_load("tests/data/scores/cases.json", &err);
    assert_non_null(root);
    const struct dg_json *cases = dg_json_get(root, "cases");
    for (size_t i = 0; i < dg_json_length(cases); i++) {
        const struct dg_json *c = dg_json_at(cases, i), *hyp = dg_json_get(c, "hyp"),
                             *ref = dg_json_get(c, "ref");
        struct dg_chrf f = {{0}, {0}, {0}};
        for (size_t k = 0; k < dg_json_length(hyp); k++) {
            size_t n, m;
            const char *h = dg_json_string(dg_json_at(hyp, k), &n),
                       *r = dg_json_string(dg_json_at(ref, k), &m);
            dg_chrf_add(&f, h, n, r, m);
        }
        double expected = dg_json_number(dg_json_get(c, "chrf"));
        if (fabs(dg_chrf_score(&f) - expected) > 1e-9) /* the same sums in double */
            fail_msg("%s: chrF %.12f, sacreBLEU %.12f",
                dg_json_string(dg_json_get(c, "name"), NULL), dg_chrf_score(&f), expected);
    }
    dg_json_free(root);
}

static void test_print(void **state)
{
    (void)state;
    struct dg_chrf f = {{0}, {0}, {0}};
    struct dg_buffer out;
    dg_buffer_init(&out);
    dg_chrf_add(&f, "abc", 3, "abc", 3);
    dg_chrf_print(&f, &out);
    assert_string_equal(out.data,
        "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:dragoman-" DG_VERSION
        " = 100.00");
    dg_buffer_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
