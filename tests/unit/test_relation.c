/* trainer/align/relation.h: whether lines translate each other, or each other's neighbours. */
#include "trainer/align/relation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct dg_pair pair(const char *source, const char *target)
{
    return (struct dg_pair){.source = source,
        .target = target,
        .source_len = (uint32_t)strlen(source),
        .target_len = (uint32_t)strlen(target)};
}

static void test_counts(void **state)
{
    (void)state;
    struct dg_relation_counts c;
    struct dg_relation *r = dg_relation_new(NULL);
    const struct dg_pair pairs[] = {pair("Berlin and Hamburg, 1984", "Berlin und Hamburg, 1984"),
        pair("the 42 of Hamburg is on the 7", "die 42 von London auf der 7"), pair("Rome", "42")};
    for (size_t i = 0; i < 3; i++)
        dg_relation_add(r, &pairs[i]);
    dg_relation_counts(r, &c);
    assert_int_equal(c.lines, 3);
    assert_int_equal(c.beside, 3 + 1); /* both cities and the year; 42. Too short: "the", 7 */
    assert_int_equal(c.before, 1);     /* Hamburg */
    assert_int_equal(c.after, 1);      /* 42 */
    dg_relation_free(r);
}

static enum dg_relation_kind kind(uint64_t before, uint64_t beside, uint64_t after)
{
    const struct dg_relation_counts c = {1000, before, beside, after};
    return dg_relation_kind(&c);
}

static void test_kinds(void **state)
{
    (void)state;
    assert_int_equal(kind(10, 100, 10), DG_RELATION_UNKNOWN); /* too little */
    assert_int_equal(kind(100, 900, 100), DG_RELATION_BESIDE);
    assert_int_equal(kind(700, 900, 800), DG_RELATION_BESIDE); /* neighbours are much alike */
    assert_int_equal(kind(900, 100, 100), DG_RELATION_BEFORE);
    assert_int_equal(kind(100, 100, 900), DG_RELATION_AFTER);
    assert_int_equal(kind(300, 310, 305), DG_RELATION_NONE);
    assert_int_equal(kind(900, 500, 800), DG_RELATION_NONE); /* in both directions: no shift */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
