/* UTF-16 and back; expected bytes are from Unicode's own examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "documents/utf16.h"

#define BYTES(s) s, sizeof(s) - 1

static void test_marks(void **state)
{
    (void)state;
    assert_int_equal(dg_utf16_mark(BYTES("\xFF\xFE"
                                         "a\0")),
        DG_UTF16_LITTLE);
    assert_int_equal(dg_utf16_mark(BYTES("\xFE\xFF\0a")), DG_UTF16_BIG);
    assert_int_equal(dg_utf16_mark(BYTES("\xFF\xFE")), DG_UTF16_LITTLE);
    assert_int_equal(dg_utf16_mark(BYTES("\xFF\xFE\0\0a\0\0\0")), DG_UTF16_NONE); /* UTF-32 */
    assert_int_equal(dg_utf16_mark(BYTES("\xEF\xBB\xBF"
                                         "a")),
        DG_UTF16_NONE);
    assert_int_equal(dg_utf16_mark(BYTES("\xFF")), DG_UTF16_NONE);
}

static void test_there_and_back(void **state)
{
    static const struct {
        const char *utf8;
        const char *big;
        size_t n;
    } cases[] = {
        {"", BYTES("\xFE\xFF")},
        {"a\xC3\xA4\r\n", BYTES("\xFE\xFF\0a\0\xE4\0\r\0\n")},
        {"\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80", BYTES("\xFE\xFF\0\x7F\0\x80\x07\xFF\x08\0")},
        {"\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", BYTES("\xFE\xFF\xD7\xFF\xE0\0\xFF\xFF")},
        /* The standard's table 3-5: U+004D U+0430 U+4E8C U+10302. */
        {"M\xD0\xB0\xE4\xBA\x8C\xF0\x90\x8C\x82",
            BYTES("\xFE\xFF\0\x4D\x04\x30\x4E\x8C\xD8\0\xDF\x02")},
        {"\xF4\x8F\xBF\xBF", BYTES("\xFE\xFF\xDB\xFF\xDF\xFF")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char little[32], *text;
        size_t len;
        for (size_t k = 0; k < cases[i].n; k++)
            little[k] = cases[i].big[k ^ 1];
        for (int order = DG_UTF16_LITTLE; order <= DG_UTF16_BIG; order++) {
            const char *wide = order == DG_UTF16_BIG ? cases[i].big : little;
            struct dg_buffer out;
            dg_buffer_init(&out);
            assert_int_equal(dg_utf16_mark(wide, cases[i].n), order);
            assert_int_equal(
                dg_utf16_read((enum dg_utf16_order)order, wide, cases[i].n, &text, &len, NULL), 0);
            assert_string_equal(text, cases[i].utf8);
            assert_int_equal(len, strlen(cases[i].utf8));
            dg_utf16_write((enum dg_utf16_order)order, text, len, &out);
            assert_int_equal(out.len, cases[i].n);
            assert_memory_equal(out.data, wide, out.len);
            dg_buffer_deinit(&out);
            free(text);
        }
    }
}

static void test_halves(void **state)
{
    static const struct {
        const char *s;
        size_t n;
    } cases[] = {{BYTES("\xFE\xFF\0")}, {BYTES("\xFE\xFF\xD8\0")}, {BYTES("\xFE\xFF\xD8\0\0a")},
        {BYTES("\xFE\xFF\xDC\0\xD8\0")}, {BYTES("\xFE\xFF\0a\xDF\xFF")}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error err = {0};
        char *text;
        size_t len;
        assert_int_equal(
            dg_utf16_read(DG_UTF16_BIG, cases[i].s, cases[i].n, &text, &len, &err), DG_EINVAL);
        assert_string_equal(err.field, "file");
        assert_null(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks),
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
