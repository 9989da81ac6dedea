/* Expected values come from sacreBLEU: tests/data/scores/make.py. */
#include "trainer/score/bleu.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#define CASES "tests/data/scores/cases.json"

static struct dg_json *root;

static int load(void **state)
{
    (void)state;
    struct dg_error err = {0};
    root = dg_json_load(CASES, &err);
    if (!root)
        print_error("%s\n", err.message);
    return root ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    dg_json_free(root);
    return 0;
}

static double number(const struct dg_json *o, const char *key)
{
    assert_non_null(dg_json_get(o, key));
    return dg_json_number(dg_json_get(o, key));
}

static void score_case(const struct dg_json *c, struct dg_bleu *b)
{
    const struct dg_json *hyp = dg_json_get(c, "hyp"), *ref = dg_json_get(c, "ref");
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < dg_json_length(hyp); i++) {
        size_t n, m;
        const char *h = dg_json_string(dg_json_at(hyp, i), &n),
                   *r = dg_json_string(dg_json_at(ref, i), &m);
        dg_bleu_add(b, h, n, r, m);
    }
}

static void test_scores(void **state)
{
    (void)state;
    const struct dg_json *cases = dg_json_get(root, "cases");
    assert_true(dg_json_length(cases) > 20);
    for (size_t i = 0; i < dg_json_length(cases); i++) {
        const struct dg_json *c = dg_json_at(cases, i);
        struct dg_bleu b;
        score_case(c, &b);
        /* The same sums in double: equal except for the last bits. The file keeps 17 digits. */
        if (fabs(dg_bleu_score(&b) - number(c, "bleu")) > 1e-9)
            fail_msg("%s: BLEU %.12f, sacreBLEU %.12f",
                dg_json_string(dg_json_get(c, "name"), NULL), dg_bleu_score(&b), number(c, "bleu"));
        assert_int_equal(b.hyp_len, (int64_t)number(c, "hyp_len"));
        assert_int_equal(b.ref_len, (int64_t)number(c, "ref_len"));
    }
}

static void test_tokens(void **state)
{
    (void)state;
    const struct dg_json *cases = dg_json_get(root, "cases");
    for (size_t i = 0; i < dg_json_length(cases); i++) {
        const struct dg_json *hyp = dg_json_get(dg_json_at(cases, i), "hyp");
        const struct dg_json *tokens = dg_json_get(dg_json_at(cases, i), "tokens");
        for (size_t k = 0; k < dg_json_length(hyp); k++) {
            struct dg_buffer out;
            size_t n, m;
            const char *h = dg_json_string(dg_json_at(hyp, k), &n),
                       *t = dg_json_string(dg_json_at(tokens, k), &m);
            dg_buffer_init(&out);
            dg_bleu_tokenize(h, n, &out);
            assert_string_equal(out.data ? out.data : "", t);
            assert_int_equal(out.len, m);
            dg_buffer_deinit(&out);
        }
    }
}

static void test_print(void **state)
{
    (void)state;
    struct dg_bleu b;
    struct dg_buffer out;
    dg_buffer_init(&out);
    score_case(dg_json_at(dg_json_get(root, "cases"), 1), &b);
    dg_bleu_print(&b, &out);
    const char *head =
        "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:dragoman-" DG_VERSION " = ";
    assert_memory_equal(out.data, head, strlen(head));
    assert_non_null(strstr(out.data, "(BP = "));
    dg_buffer_deinit(&out);
}

static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    struct dg_bleu b = {0};
    char junk[256];
    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = (char)i;
    dg_bleu_add(&b, junk, sizeof junk, junk, sizeof junk);
    assert_true(dg_bleu_score(&b) > 99.99); /* equal to itself */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_bytes_that_are_no_text),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
