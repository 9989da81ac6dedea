/* ICU's default locale is "en", whatever the environment says; its errors are mapped to ours. */
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

/* For a document that failed with "splitting a line of 20 bytes: U_MEMORY_ALLOCATION_ERROR". */
static void test_failures(void **state)
{
    struct dg_error err = {0}, other = {0};
    (void)state;
    assert_int_equal(dg_icu_fail(&err, DG_EINVAL, U_MEMORY_ALLOCATION_ERROR, "this"), DG_ENOMEM);
    assert_int_equal(err.code, DG_ENOMEM);
    assert_string_equal(err.message, "this: no memory");
    assert_int_equal(dg_icu_fail(&other, DG_EINVAL, U_INVALID_CHAR_FOUND, "that"), DG_EINVAL);
    assert_string_equal(other.message, "that: U_INVALID_CHAR_FOUND");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locale), cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
