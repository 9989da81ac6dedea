/* trainer/data/string_table.h: strings numbered in the order of first appearance. */
#include "trainer/data/string_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint32_t add(struct dg_string_table *t, const char *s, size_t n)
{
    uint32_t id = 0;
    assert_int_equal(dg_string_table_add(t, s, n, &id, NULL), 0);
    return id;
}

static void numbers(void **state)
{
    (void)state;
    struct dg_string_table *t = dg_string_table_new();
    size_t n;
    assert_int_equal(dg_string_table_count(t), 0);
    assert_int_equal(add(t, "one", 3), 0);
    assert_int_equal(add(t, "two", 3), 1);
    assert_int_equal(add(t, "one", 3), 0);
    assert_int_equal(add(t, "one", 2), 2); /* "on" */
    assert_int_equal(add(t, "", 0), 3);
    assert_int_equal(add(t, "a\0b", 3), 4);
    assert_int_equal(add(t, "a\0c", 3), 5);
    assert_memory_equal(dg_string_table_text(t, 4, &n), "a\0b", 3);
    assert_int_equal(n, 3);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 10000; i++) { /* the table grows meanwhile */
            char s[16];
            assert_int_equal(add(t, s, (size_t)snprintf(s, sizeof s, "x%u", i)), 6 + i);
        }
    assert_int_equal(dg_string_table_count(t), 10006);
    assert_memory_equal(dg_string_table_text(t, 10005, &n), "x9999", 5);
    assert_int_equal(n, 5);
    dg_string_table_free(t);
    dg_string_table_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
