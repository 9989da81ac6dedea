/* Expected figures are EVALB's own: its sample (sample.gld, sample.tst, sample.rsl), and cases run
 * through it with COLLINS.prm. */
#include "text/tree/evalb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

struct row {
    const char *gold, *parsed;
    uint64_t matched, n_gold, n_parsed;
};

#define GOLD "(S (A (P this)) (B (Q is) (A (R a) (T test))))"

static int add(struct dg_evalb *e, const char *gold, const char *parsed)
{
    struct dg_arena arena;
    struct dg_tree a, b;
    struct dg_error err = {0};
    dg_arena_init(&arena, 0);
    assert_int_equal(dg_tree_read(gold, strlen(gold), &arena, &a, &err), 0);
    assert_int_equal(dg_tree_read(parsed, strlen(parsed), &arena, &b, &err), 0);
    int rc = dg_evalb_add(e, &a, &b, &err);
    dg_arena_deinit(&arena);
    return rc;
}

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct dg_evalb e = {0};
        assert_int_equal(add(&e, rows[i].gold, rows[i].parsed), 0);
        if (e.matched != rows[i].matched || e.gold != rows[i].n_gold ||
            e.parsed != rows[i].n_parsed)
            fail_msg("%s: %llu of %llu and %llu", rows[i].parsed, (unsigned long long)e.matched,
                (unsigned long long)e.gold, (unsigned long long)e.parsed);
    }
}

static void test_evalbs_own_sample(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {GOLD, "(S (A (P this)) (B (Q is) (A (R a) (T test))))", 4, 4, 4},
        {GOLD, "(S (A (P this)) (B (Q is) (C (R a) (T test))))", 3, 4, 4},
        {GOLD, "(S (A (P this)) (B (Q is) (A (R a) (U test))))", 4, 4, 4},
        {GOLD, "(S (C (P this)) (B (Q is) (A (R a) (U test))))", 3, 4, 4},
        {GOLD, "(S (A (P this)) (B (Q is) (R a) (A (T test))))", 3, 4, 4},
        {GOLD, "(S (A (P this) (Q is)) (A (R a) (T test)))", 2, 4, 3},
        {GOLD, "(S (P this) (Q is) (R a) (T test))", 1, 4, 1},
        {GOLD, "(P this) (Q is) (R a) (T test)", 0, 4, 0},
        {GOLD, "(S (A (P this)) (B (Q is) (A (A (R a) (T test)))))", 4, 4, 5},
        {GOLD, "(S (A (P this)) (B (Q is) (A (A (A (A (A (R a) (T test))))))))", 4, 4, 8},
        {GOLD, "(TOP (S (A (P this)) (B (Q is) (A (R a) (T test)))))", 4, 4, 4},
        {"(S (A-SBJ-1 (P this)) (B-WHATEVER (Q is) (A (R a) (T test))))", GOLD, 4, 4, 4},
        {"(S (A (P this)) (B (Q is) (A (R a) (T test))) (-NONE- *))",
            "(S (A (P this)) (B (Q is) (A (R a) (T test))) (-NONE- *))", 4, 4, 4},
        {"(S (A (P this)) (B (Q is) (A (R a) (T test))) (: *))",
            "(S (A (P this)) (B (Q is) (A (R a) (T test))) (: *))", 4, 4, 4},
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

static void test_other_words_are_refused(void **state)
{
    (void)state;
    struct dg_evalb e = {0};
    assert_int_equal(add(&e, GOLD, "(S (A (P this)) (B (Q was) (A (R a) (T test))))"), DG_EINVAL);
    assert_int_equal(add(&e, GOLD, "(S (A (P this)) (B (Q is) (A (R a))))"), DG_EINVAL);
    assert_int_equal(e.sentences, 0);
}

/* Punctuation is not part of a span, wherever it is attached; a bracket around nothing else does
 * not count; PRT counts as ADVP; tags of the parsed tree do not matter. */
static void test_collins(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"(S (NP (NN a) (, ,)) (VP (VB b)) (. .))", "(S (NP (XX a)) (XX ,) (VP (XX b) (XX .)))", 3,
            3, 3},
        {"(S (NP (NN a)) (PRN (: --)) (VP (VB b)))", "(S (NP (XX a)) (XX --) (VP (XX b)))", 3, 3,
            3},
        {"(VP (VB b) (PRT (RP up)))", "(VP (XX b) (ADVP (XX up)))", 2, 2, 2},
        {"(S (NP (NP (NN a))) (VP (VB b)))", "(S (NP (XX a)) (VP (XX b)))", 3, 4, 3},
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

/* 9 matched of 12 gold and 11 parsed brackets. */
static void test_scores_are_over_all_brackets(void **state)
{
    (void)state;
    struct dg_evalb e = {0};
    assert_true(dg_evalb_f1(&e) == 0 && dg_evalb_recall(&e) == 0);
    add(&e, GOLD, GOLD);
    add(&e, GOLD, "(S (A (P this)) (B (Q is) (C (R a) (T test))))");
    add(&e, GOLD, "(S (A (P this) (Q is)) (A (R a) (T test)))");
    assert_int_equal(e.sentences, 3);
    assert_int_equal(e.exact, 1);
    assert_true(fabs(dg_evalb_recall(&e) - 75.0) < 1e-9);
    assert_true(fabs(dg_evalb_precision(&e) - 900.0 / 11) < 1e-9);
    assert_true(fabs(dg_evalb_f1(&e) - 1800.0 / 23) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evalbs_own_sample),
        cmocka_unit_test(test_other_words_are_refused),
        cmocka_unit_test(test_collins),
        cmocka_unit_test(test_scores_are_over_all_brackets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
