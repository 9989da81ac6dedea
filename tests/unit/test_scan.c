/* Classes of code points: text/scan.c's own classes for ASCII agree with ICU. Bytes within a range
 * are found, and none beyond it. */
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

static void test_bytes_within_a_range(void **state)
{
    static const char s[] = "a-->b-->";
    (void)state;
    assert_true(dg_scan_begins(s, 1, 4, "-->"));
    assert_false(dg_scan_begins(s, 1, 3, "-->"));
    assert_false(dg_scan_begins(s, 0, 8, "-->"));
    assert_false(dg_scan_begins(s, 8, 8, "-"));
    assert_int_equal(dg_scan_find(s, 0, 8, "-->"), 1);
    assert_int_equal(dg_scan_find(s, 2, 8, "-->"), 5);
    assert_int_equal(dg_scan_find(s, 2, 7, "-->"), 7);
    assert_int_equal(dg_scan_find(s, 2, 8, "b"), 4);
    assert_int_equal(dg_scan_find(s, 8, 8, "b"), 8);
    assert_int_equal(dg_scan_after(s, 0, 8, "-->"), 4);
    assert_int_equal(dg_scan_after(s, 2, 8, "-->"), 8);
    assert_int_equal(dg_scan_after(s, 2, 7, "-->"), 7);
    assert_int_equal(dg_scan_find_letters("Aba", 1, 3, "A"), 2);
    assert_int_equal(dg_scan_find_letters("</Br><bR>", 0, 9, "<br"), 5);
    assert_int_equal(dg_scan_find_letters("</Br><bR>", 0, 7, "<br"), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii_as_icu), cmocka_unit_test(test_bytes_within_a_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
