/* Strings of programs in files: what is a text, and how its translation is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/extract_trial.h"

static const struct example cases[] = {
    /* ICU messages with codes, as Angular has them. */
    {"a.xlf",
        "<xliff><trans-unit><source>a {N, plural, =1 {dog} other {<x id=\"1\" equiv-text=\"{{ n }}\"/> dogs}}"
        "</source></trans-unit></xliff>",
        "<xliff><trans-unit><source>a {N, plural, =1 {dog} other {<x id=\"1\" equiv-text=\"{{ n }}\"/> dogs}}"
        "</source></trans-unit></xliff>",
        false},
    {"strings.xml",
        "<resources><string>{n, plural, other {<xliff:g>#</xliff:g> dogs}}</string></resources>",
        "<resources><string>{n, plural, other {<xliff:g>#</xliff:g> dogs}}</string></resources>",
        false},
    {"a.json", "[\"{n, select, other {<b>a</b> dog}}\", \"{n} <b>dog</b>\"]",
        "[\"{n, select, other {<b>a</b> dog}}\", \"{n} <b>DOG</b>\"]", false},
};

static void examples(void **state)
{
    (void)state;
    check_examples(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
