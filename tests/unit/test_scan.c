/* Classes of code points: text/scan.c's own classes for ASCII agree with ICU. */
#include "text/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unicode/uchar.h>

static void test_ascii_as_icu(void **state)
{
    (void)state;
    for (int32_t c = -1; c < 0x180; c++) {
        const int32_t k = c < 0 ? U_SB_OTHER : u_getIntPropertyValue(c, UCHAR_SENTENCE_BREAK);
        assert_int_equal(dg_scan_is_letter(c), c > 0 && u_isalpha(c));
        assert_int_equal(dg_scan_is_digit(c), c > 0 && u_isdigit(c));
        assert_int_equal(dg_scan_is_upper(c), c > 0 && (u_isUUppercase(c) || u_istitle(c)));
        assert_int_equal(dg_scan_is_lower(c), c > 0 && u_isULowercase(c));
        assert_int_equal(dg_scan_is_uncased(c), c > 0 && u_charType(c) == U_OTHER_LETTER);
        assert_int_equal(dg_scan_is_attached(c), k == U_SB_EXTEND || k == U_SB_FORMAT);
        assert_int_equal(dg_scan_is_terminator(c), k == U_SB_ATERM || k == U_SB_STERM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ascii_as_icu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
