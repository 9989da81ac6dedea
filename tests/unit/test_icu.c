/* ICU's default locale is "en" whatever the environment says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "text/icu.h"

#include <stdlib.h>
#include <unicode/uloc.h>

static void test_locale(void **state)
{
    struct dg_error err = {0};
    (void)state;
    setenv("LC_ALL", "tr_TR.UTF-8", 1);
    assert_int_equal(dg_icu_open(&err), 0);
    assert_int_equal(dg_icu_open(&err), 0);
    assert_string_equal(uloc_getDefault(), "en");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_locale)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
