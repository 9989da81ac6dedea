/* Well-formedness, counts, letters and NFC. Byte sequences are from the Unicode Standard's Table
 * 3-7 and its NormalizationTest; none was made by the code under test. */
#include "text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(literal) literal, sizeof(literal) - 1

static void test_valid(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t n, code_points;
    } cases[] = {
        {BYTES(""), 0},
        {BYTES("a"), 1},
        {BYTES("\x01\x7F"), 2},
        {BYTES("\xC2\x80\xDF\xBF"), 2},
        {BYTES("\xE0\xA0\x80"), 1},
        {BYTES("\xED\x9F\xBF"), 1}, /* the last before the surrogates */
        {BYTES("\xEE\x80\x80"), 1}, /* the first after them */
        {BYTES("\xEF\xBF\xBE"), 1}, /* a noncharacter is well-formed */
        {BYTES("\xF0\x90\x80\x80"), 1},
        {BYTES("\xF4\x8F\xBF\xBF"), 1}, /* U+10FFFF */
        {BYTES("Gr\xC3\xBC\xC3\x9F Gott \xF0\x9F\x98\x80"), 11},
        {BYTES("abcdefgh\xC3\xA4"
               "abcdefghijklmnop"),
            25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error err = {0};
        assert_int_equal(dg_utf8_check(cases[i].s, cases[i].n, &err), DG_OK);
        assert_int_equal(dg_utf8_count(cases[i].s, cases[i].n), cases[i].code_points);
    }
}

static void test_invalid(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t n;
        const char *message;
    } cases[] = {
        {BYTES("\x80"), "not valid UTF-8 at byte 0 (0x80)"}, /* a lone continuation */
        {BYTES("ab\xBF"
               "c"),
            "not valid UTF-8 at byte 2 (0xBF)"},
        {BYTES("\xC0\x80"), "not valid UTF-8 at byte 0 (0xC0)"}, /* overlong NUL */
        {BYTES("a\xC1\xBF"), "not valid UTF-8 at byte 1 (0xC1)"},
        {BYTES("\xE0\x9F\xBF"), "not valid UTF-8 at byte 0 (0xE0)"},     /* overlong, three bytes */
        {BYTES("\xF0\x8F\xBF\xBF"), "not valid UTF-8 at byte 0 (0xF0)"}, /* overlong, four bytes */
        {BYTES("x\xED\xA0\x80"), "not valid UTF-8 at byte 1 (0xED)"},    /* surrogates */
        {BYTES("\xED\xBF\xBF"), "not valid UTF-8 at byte 0 (0xED)"},
        {BYTES("\xF4\x90\x80\x80"), "not valid UTF-8 at byte 0 (0xF4)"}, /* U+110000 */
        {BYTES("\xF5\x80\x80\x80"), "not valid UTF-8 at byte 0 (0xF5)"},
        {BYTES("\xF8\x88\x80\x80\x80"), "not valid UTF-8 at byte 0 (0xF8)"},
        {BYTES("\xFE"), "not valid UTF-8 at byte 0 (0xFE)"},
        {BYTES("abcdefghijk\xC3"), "not valid UTF-8 at byte 11 (0xC3)"}, /* cut off */
        {BYTES("\xE2\x82"), "not valid UTF-8 at byte 0 (0xE2)"},
        {BYTES("\xF0\x9F\x98"), "not valid UTF-8 at byte 0 (0xF0)"},
        {BYTES("\xC3\xA4\xC3("), "not valid UTF-8 at byte 2 (0xC3)"},
        {BYTES("\0"), "NUL character at byte 0"},
        {BYTES("abcdefgh\0ijklmnop"), "NUL character at byte 8"},
        {BYTES("abc\0efghijklmnop"), "NUL character at byte 3"},
        {BYTES("\xC3\xA4\0"), "NUL character at byte 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error err = {0};
        assert_int_equal(dg_utf8_check(cases[i].s, cases[i].n, &err), DG_EINVAL);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(dg_utf8_check(cases[i].s, cases[i].n, NULL), DG_EINVAL);
    }
}

/* A bad byte is found at any position: the word-at-a-time path has no blind spot. */
static void test_every_offset(void **state)
{
    (void)state;
    static const char bad[] = {'\0', '\x80', '\xC3', '\xFF'};
    char text[40];
    for (size_t at = 0; at < sizeof text; at++) {
        for (size_t k = 0; k < sizeof bad; k++) {
            memset(text, 'a', sizeof text);
            text[at] = bad[k];
            struct dg_error err = {0};
            char expected[16];
            snprintf(expected, sizeof expected, "at byte %zu", at);
            assert_int_equal(dg_utf8_check(text, sizeof text, &err), DG_EINVAL);
            assert_non_null(strstr(err.message, expected));
        }
    }
}

static void test_mend(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"Gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80", "Gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"},
        {"\"\xE3\x81\x82\xE3\x81\"", "\"\xE3\x81\x82??\""}, /* the second one was cut */
        {"\xC3", "?"},
        {"\xC3\xA4\xC3(", "\xC3\xA4?("},
        {"\xBF\xED\xA0\x80x\xFF", "????x?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", cases[i][0]);
        dg_utf8_mend(text);
        assert_string_equal(text, cases[i][1]);
    }
}

static void test_letters(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        bool expected;
    } cases[] = {
        {"", false},
        {"123 456", false},
        {"!?… — “”", false},
        {"😀👍🏽", false},
        {"€ 12,50 %", false},
        {"\t\r\n", false},
        {"²½", false},
        {"a", true},
        {"12 a", true},
        {"ß", true},
        {"Ж", true},
        {"漢", true},
        {"한", true},
        {"ا", true},
        {"ª", true},
        {"ก", true},
        {"… é", true},
        {"𝔘", true},
        {"ー", true} /* U+30FC is a modifier letter */,
        {"\xCC\x81", false} /* a combining mark alone */,
        {"Ⅳ", false} /* a letter number */,
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(dg_utf8_has_letter(cases[i].s, strlen(cases[i].s)), cases[i].expected);
}

static void test_nfc(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", ""},
        {"plain ASCII text, long enough for the quick path",
            "plain ASCII text, long enough for the quick path"},
        {"Gr\xC3\xBC\xC3\x9F", "Gr\xC3\xBC\xC3\x9F"},
        {"Gru\xCC\x88\xC3\x9F", "Gr\xC3\xBC\xC3\x9F"}, /* u + diaeresis */
        {"e\xCC\x81t\xC3\xA9", "\xC3\xA9t\xC3\xA9"},
        {"\xE2\x84\xAB", "\xC3\x85"}, /* angstrom sign: a singleton */
        {"a\xCC\x95\xCC\x80\xD6\xAE\xCC\x80"
         "b",
            "\xC3\xA0\xD6\xAE\xCC\x80\xCC\x95"
            "b"},                                                 /* NormalizationTest */
        {"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "\xED\x95\x9C"}, /* Hangul jamo */
        {"\xEF\xAC\x81 \xC2\xB2",
            "\xEF\xAC\x81 \xC2\xB2"}, /* NFC leaves compatibility forms alone */
        {"\xF0\x9D\x85\x9E",
            "\xF0\x9D\x85\x97\xF0\x9D\x85\xA5"}, /* grows: a composition exclusion */
        {"\xF0\x9F\x98\x80 e\xCC\x81", "\xF0\x9F\x98\x80 \xC3\xA9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out = NULL;
        size_t len = 0;
        struct dg_error err = {0};
        assert_int_equal(dg_utf8_nfc(cases[i].in, strlen(cases[i].in), &out, &len, &err), DG_OK);
        assert_string_equal(out, cases[i].out);
        assert_int_equal(len, strlen(cases[i].out));
        free(out);
    }
}

static void test_add(void **state)
{
    static const uint32_t characters[] = {
        'a', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
    static const char written[] = "a\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80"
                                  "\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF";
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++)
        dg_utf8_add(characters[i], &b);
    assert_string_equal(b.data, written);
    dg_buffer_deinit(&b);
}

static void test_nfc_long(void **state)
{
    (void)state;
    enum { N = 300000 };
    char *in = malloc(3 * N), *out = NULL;
    size_t len = 0;
    for (size_t i = 0; i < N; i++)
        memcpy(in + 3 * i, "e\xCC\x81", 3);
    assert_int_equal(dg_utf8_nfc(in, 3 * N, &out, &len, NULL), DG_OK);
    assert_int_equal(len, 2 * N);
    for (size_t i = 0; i < N; i++)
        assert_memory_equal(out + 2 * i, "\xC3\xA9", 2);
    assert_int_equal(out[len], 0);
    free(out);
    free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_every_offset),
        cmocka_unit_test(test_mend),
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_nfc),
        cmocka_unit_test(test_nfc_long),
        cmocka_unit_test(test_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
