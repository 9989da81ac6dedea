/* trainer/data/near_copies.h: runs of words shared with a held-out line. */
#include "trainer/data/near_copies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool has(const struct dg_near_copies *c, const char *s)
{
    return dg_near_copies_has(c, s, strlen(s));
}

static void add(struct dg_near_copies *c, const char *s)
{
    dg_near_copies_add(c, s, strlen(s));
}

static void test_words_in_a_row(void **state)
{
    (void)state;
    struct dg_near_copies *c;
    c = dg_near_copies_new(4);
    assert_false(has(c, "one two three four"));
    add(c, "The old man crosses a wide street.");
    add(c, "too short a");
    assert_true(has(c, "The old man crosses"));
    assert_true(has(c, "Yesterday THE OLD man, crosses")); /* case and punctuation do not count */
    assert_true(has(c, "He says: crosses a 7 wide street!")); /* nor do numbers */
    assert_false(has(c, "The old man a crosses wide street"));
    assert_false(has(c, "old man crosses the wide street"));
    assert_false(has(c, "a wide street"));
    assert_false(has(c, "too short a"));
    assert_false(has(c, ""));
    add(c, "Über Élise spricht niemand mehr.");
    assert_true(has(c, "weil über élise spricht NIEMAND"));
    assert_false(has(c, "weil uber élise spricht NIEMAND"));
    dg_near_copies_free(c);
}

static void test_one_word(void **state)
{
    (void)state;
    struct dg_near_copies *c;
    c = dg_near_copies_new(1);
    add(c, "word");
    assert_true(has(c, "a Word!"));
    assert_false(has(c, "words"));
    dg_near_copies_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_in_a_row), cmocka_unit_test(test_one_word)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
