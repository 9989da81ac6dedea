/* Columns of a line. The cases were written by hand: '/' separates the expected columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "text/sentences/columns.h"

#include <stdio.h>
#include <string.h>

static void check(const char *line, const char *expected)
{
    struct dg_columns c;
    char found[256] = "";
    size_t begin, end;
    dg_columns_open(&c, line, 0, strlen(line));
    while (dg_columns_next(&c, &begin, &end)) {
        const size_t n = strlen(found);
        snprintf(
            found + n, sizeof found - n, "%s%.*s", n ? "/" : "", (int)(end - begin), line + begin);
    }
    assert_string_equal(found, expected);
}

static void test_signs(void **state)
{
    (void)state;
    check("Home | About us | Contact", "Home/About us/Contact");
    check("dogs|cats|houses", "dogs/cats/houses");
    check("| Dog       | Price |", "Dog/Price");
    check("Anna Smith | Head of Sales", "Anna Smith/Head of Sales");
    check("Home · About us · Contact", "Home/About us/Contact");
    check("two dogs • a cat", "two dogs/a cat");
    check("col·lecció", "col·lecció");
    check("a\tb\t\tc", "a/b/c");
    check("|", "");
    check("", "");
}

static void test_angles(void **state)
{
    (void)state;
    check("Home » Products » Dogs", "Home/Products/Dogs");
    check("Home › Dogs", "Home/Dogs");
    check("Documentation »", "Documentation");
    check("» Read more", "Read more");
    check("Il dit « oui » et part.", "Il dit « oui » et part.");
    check("Er sagt »ja« und geht.", "Er sagt »ja« und geht.");
    check("Han säger »ja» och går.", "Han säger »ja» och går.");
}

static void test_blanks(void **state)
{
    (void)state;
    check("Red dog            $12.50     15", "Red dog/$12.50/15");
    check("-a, --all             do not ignore entries", "do not ignore entries");
    check("--numbers[=FROM]  same as -d", "same as -d");
    check("-o FILE     the file      of all", "the file/of all");
    check("-a, --all", "-a, --all");
    check("-a, --all  ", "-a, --all");
    check("-Come here,  now", "-Come here,  now");
    check("Name   Price", "Name/Price");
    check("The  dog   is  big", "The  dog   is  big"); /* justified */
    check("The dog.  The cat.", "The dog.  The cat.");
    check("    a    ", "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signs), cmocka_unit_test(test_angles), cmocka_unit_test(test_blanks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
