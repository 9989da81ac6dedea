/* text/numbers/number_style.h: numbers as written in English, German, French and other languages.
 */
#include "text/numbers/number_style.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Compares all numbers of a text, each in <>. */
static void expect_found(const char *text, const char *wanted)
{
    char found[256] = "";
    size_t n = strlen(text), begin;
    for (size_t end = 0; (end = dg_number_next(text, n, end, &begin)) > 0;) {
        assert_true(begin < end && end <= n);
        strcat(found, "<");
        strncat(found, text + begin, end - begin);
        strcat(found, ">");
    }
    assert_string_equal(found, wanted);
}

static void numbers_are_found(void **state)
{
    (void)state;
    expect_found("no number", "");
    expect_found("3,200.50 or 3.200,50.", "<3,200.50><3.200,50>");
    expect_found("12 500, 12\u202F500 and 12'500", "<12 500><12\u202F500><12'500>");
    expect_found("in 2012 500 people, 12 50", "<2012><500><12><50>");
    expect_found("on 3.4.2014, version 1.2.3", "<3.4.2014><1.2.3>");
    expect_found("XX1 B2B 9:30 1/2 3:1 a_5 .5", "<5>");
    expect_found("2.5m, 90er, -3,5", "<2.5><90><3,5>");
}

/* Checks that a number s of one language is `wanted` in another; NULL: the first does not write
 * numbers so. */
static void expect(const char *from, const char *s, const char *to, const char *wanted)
{
    const struct dg_number_style *source = dg_number_style_of(from),
                                 *target = dg_number_style_of(to);
    struct dg_number x;
    char out[DG_NUMBER_BYTES + 1];
    assert_non_null(source);
    assert_non_null(target);
    if (!dg_number_read(source, s, strlen(s), &x)) {
        assert_null(wanted);
        return;
    }
    out[dg_number_write(target, &x, out)] = '\0';
    if (!wanted)
        fail_msg("\"%s\" was read as \"%s\"", s, out);
    assert_string_equal(out, wanted);
}

static void languages_write_them(void **state)
{
    (void)state;
    expect("de", "3.200", "en", "3,200");
    expect("de", "3.200.000,25", "en", "3,200,000.25");
    expect("de", "12,75", "fr", "12,75");
    expect("de", "10 000", "en", "10,000");
    expect("en", "3,200", "de", "3.200");
    expect("en", "3.200", "de", "3,200");
    expect("en", "1,234,567.8", "fr", "1\u202F234\u202F567,8");
    expect("fr", "1\u00A0234,5", "en-GB", "1,234.5");
    expect("EN", "2014", "pl", "2014");
    expect("en", "0.125", "ru", "0,125");
    expect("en", "12,500", "sv", "12\u00A0500");
}

static void others_are_none(void **state)
{
    (void)state;
    expect("de", "1.5", "en", NULL);
    expect("de", "3.4.2014", "en", NULL);
    expect("de", "0.500", "en", NULL);
    expect("de", "1.000,5,5", "en", NULL);
    expect("de", "1,5.000", "en", NULL);
    expect("de", "1.000 000", "en", NULL);
    expect("de", "1234.567", "en", NULL);
    expect("en", "1,20", "de", NULL);
    expect("en", "1.2.3", "de", NULL);
    expect("fr", "3.200", "en", NULL);
    expect("en", "123456789012345678901234567890123", "de", NULL); /* too long */
    assert_null(dg_number_style_of("de-CH"));
    assert_null(dg_number_style_of("d"));
    assert_null(dg_number_style_of(""));
    assert_null(dg_number_style_of("xx"));
    assert_null(dg_number_style_of(NULL));
}

static bool is_quantity(const char *language, const char *text, const char *number)
{
    const char *at = strstr(text, number);
    const size_t begin = (size_t)(at - text);
    return dg_number_is_quantity(
        dg_number_style_of(language), text, strlen(text), begin, begin + strlen(number));
}

static void points_of_other_things(void **state)
{
    (void)state;
    assert_true(is_quantity("en", "It rose by 2.5 percent.", "2.5"));
    assert_true(is_quantity("en", "In 2.5 years", "2.5"));
    assert_true(is_quantity("en", "$2.5", "2.5"));
    assert_true(is_quantity("en", "3,200", "3,200"));
    assert_false(is_quantity("en", "The new Windows 8.1 is here.", "8.1"));
    assert_false(is_quantity("en", "see chapter 2.5", "2.5"));
    assert_false(is_quantity("en", "at 9.30 a.m. it began", "9.30"));
    assert_false(is_quantity("en", "at 9.30 pm", "9.30"));
    assert_true(is_quantity("de", "in Windows 8,1", "8,1"));
}

/* Any bytes: nothing is read beyond the end, and a written number reads back as the same. */
static void anything(void **state)
{
    (void)state;
    static const char signs[] = "01234567890123.,  '_:/x\xC2\xA0\xE2\x80\xAF";
    static const char *const languages[] = {"en", "de", "fr", "ru"};
    uint32_t random = 7;
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)(round % 40), begin;
        char *s = malloc(n ? n : 1);
        assert_non_null(s);
        for (size_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            s[i] = signs[(random >> 16) % (sizeof signs - 1)];
        }
        const struct dg_number_style *from = dg_number_style_of(languages[round % 4]),
                                     *to = dg_number_style_of(languages[round / 4 % 4]);
        for (size_t end = 0; (end = dg_number_next(s, n, end, &begin)) > 0;) {
            struct dg_number x, again;
            char out[DG_NUMBER_BYTES];
            (void)dg_number_is_quantity(from, s, n, begin, end);
            if (!dg_number_read(from, s + begin, end - begin, &x))
                continue;
            const size_t len = dg_number_write(to, &x, out);
            assert_true(len <= sizeof out && dg_number_read(to, out, len, &again));
            assert_int_equal(again.n, x.n);
            assert_int_equal(again.n_fraction, x.n_fraction);
            assert_memory_equal(again.digits, x.digits, x.n);
        }
        free(s);
    }
}

static void sides_of_a_sign(void **state)
{
    (void)state;
    assert_int_equal(dg_number_sign_side("en"), DG_SIGN_BEFORE);
    assert_int_equal(dg_number_sign_side("DE"), DG_SIGN_AFTER);
    assert_int_equal(dg_number_sign_side("fr-FR"), DG_SIGN_AFTER);
    assert_int_equal(dg_number_sign_side("nl"), DG_SIGN_ANYWHERE);
    assert_int_equal(dg_number_sign_side("e"), DG_SIGN_ANYWHERE);
    assert_int_equal(dg_number_sign_side(""), DG_SIGN_ANYWHERE);
    assert_int_equal(dg_number_sign_side(NULL), DG_SIGN_ANYWHERE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_found),
        cmocka_unit_test(languages_write_them), cmocka_unit_test(others_are_none),
        cmocka_unit_test(points_of_other_things), cmocka_unit_test(anything),
        cmocka_unit_test(sides_of_a_sign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
