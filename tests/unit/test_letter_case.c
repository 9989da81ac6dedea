/* text/letter_case.h. */
#include "text/letter_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef int map_function(
    const char *language, const char *s, size_t n, struct dg_buffer *out, struct dg_error *err);

static void expect(map_function *map, const char *language, const char *text, const char *wanted)
{
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    if (map(language, text, strlen(text), &b, &err))
        fail_msg("%s", err.message);
    assert_int_equal(b.len, strlen(wanted));
    assert_memory_equal(b.data ? b.data : "", wanted, b.len);
    dg_buffer_deinit(&b);
}

static void test_upper(void **state)
{
    (void)state;
    expect(dg_letter_case_upper, "de", "weiß, Öl, 3 cm", "WEISS, ÖL, 3 CM");
    expect(dg_letter_case_upper, "fr", "œuvre à l’été", "ŒUVRE À L’ÉTÉ");
    expect(dg_letter_case_upper, "tr", "istanbul", "İSTANBUL");
    expect(dg_letter_case_upper, "en", "ŉΐ",
        "\xca\xbcN\xce\x99\xcc\x88\xcc\x81"); /* these grow most */
    expect(dg_letter_case_upper, "en", "", "");
    expect(dg_letter_case_upper, "en", "日本 🙂", "日本 🙂");
}

static void test_lower(void **state)
{
    (void)state;
    expect(dg_letter_case_lower, "de", "WEISS, ÖL, 3 CM", "weiss, öl, 3 cm");
    expect(dg_letter_case_lower, "tr", "IĞDIR İLİ", "ığdır ili");
    expect(dg_letter_case_lower, "en", "日本 🙂", "日本 🙂");
}

static void test_in_capitals(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "WHERE IS THE STATION?", "OÙ EST LA GARE ?", "\"ÖL\", 3 KG!", "I AM SO"};
    static const char *const no[] = {"", "NATO", "NATO!", "I A B", "The EU", "USA, EU und NATO",
        "STRAßE ZU", "日本 東京", "3.5 % 12", "eBAY IST", "A-1 B-2 C-3"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        assert_true(dg_letter_case_is_capitals(yes[i], strlen(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        assert_false(dg_letter_case_is_capitals(no[i], strlen(no[i])));
}

static void test_first_letter(void **state)
{
    (void)state;
    assert_int_equal(dg_letter_case_first_letter("\"Öl", 4), 3);
    assert_int_equal(dg_letter_case_first_letter("A", 1), 1);
    assert_int_equal(dg_letter_case_first_letter("3,5", 3), 0);
    assert_int_equal(dg_letter_case_first_letter("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_upper), cmocka_unit_test(test_lower),
        cmocka_unit_test(test_in_capitals), cmocka_unit_test(test_first_letter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
