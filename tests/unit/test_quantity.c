/* text/protected/quantity.h: amounts and words in the notation of another language. */
#include "text/protected/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What a protected span of an English text becomes in another language, and one of a German text in
 * English; "": it stays. The model knows "€", not "₹". */
static void expect_price(const char *language, const char *span, const char *wanted)
{
    struct dg_alphabet *known = dg_alphabet_open();
    const char *from = strcmp(language, "en") != 0 ? "en" : "de";
    struct dg_buffer b;
    assert_non_null(known);
    for (int use = DG_ALPHABET_READ; use <= DG_ALPHABET_WRITTEN; use++)
        assert_true(dg_alphabet_add(known, (enum dg_alphabet_use)use, "€£", strlen("€£")));
    dg_buffer_init(&b);
    assert_int_equal(
        dg_quantity_write_amount(known, from, language, span, strlen(span), &b), *wanted != '\0');
    dg_buffer_add(&b, "", 1);
    assert_string_equal(b.data, wanted);
    dg_buffer_deinit(&b);
    dg_alphabet_close(known);
}

static void prices_get_the_targets_notation(void **state)
{
    (void)state;
    expect_price("de", "£3.50", "3,50\u00a0£");
    expect_price("fr", "US$ 1,250", "1\u202f250\u00a0US$");
    expect_price("de", "$450", "450\u00a0$");
    expect_price("de", "-$1,450.00", "-1.450,00\u00a0$");
    expect_price("en", "\u221245,00 €", "\u2212€45.00");
    expect_price("de", "$9.99/kg", "9,99\u00a0$/kg");
    expect_price("en", "0,5 ml/kg", "0.5 ml/kg");
    expect_price("fr", "-€12.5M", "-€12,5M");
    expect_price("de", "1,250.00 €", "1.250,00 €");
    expect_price("de", "€5.-", "5\u00a0€");
    expect_price("en", "5,- €", "€5");
    expect_price("en", "1.250,00 US$", "US$1,250.00");
    expect_price("nl", "€1,250.00", "€1.250,00");
    expect_price("de", "EUR 1,250.00", "EUR 1.250,00");
    expect_price("de", "₹1,234.50", "₹1.234,50");
    expect_price("de", "$12.5M", "$12,5M");
    expect_price("fr", "£15.50–£2,222.75", "£15,50–£2\u202f222,75");
    expect_price("de", "$20-$30.5", "$20-$30,5");
    expect_price("de", "$20-$30", "");
    expect_price("de", "$1.5-$3.5.5", "");
    expect_price("de", "$1", ""); /* an argument of a program's text */
    expect_price("de", "Windows 8.1", "");
    expect_price("fr", "12,345,678.5", "12\u202f345\u202f678,5");
    expect_price("en", "1.234.567.890", "1,234,567,890");
    expect_price("en", "192.168.100.200", "");
}

static void spelt_numbers_get_the_targets_words(void **state)
{
    static const char *const cases[][2] = {{"forty-seven", "siebenundvierzig"},
        {"Thirty", "Dreißig"}, {"FIFTY-FIVE", "FÜNFUNDFÜNFZIG"}, {"quarante", ""}, {"dogs", ""},
        {"half past two", "halb drei"}, {"HALF PAST TWO", "HALB DREI"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_buffer b;
        dg_buffer_init(&b);
        dg_buffer_adds(&b, "x");
        const size_t n = strlen(cases[i][0]);
        const bool has = cases[i][1][0] != '\0';
        assert_int_equal(dg_quantity_write_words("en", "de", cases[i][0], n, &b), has);
        assert_int_equal(dg_quantity_has_words("en", "de", cases[i][0], n), has);
        assert_string_equal(b.data + 1, cases[i][1]);
        dg_buffer_deinit(&b);
    }
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_true(dg_quantity_write_words("de", "en", "Viertel vor acht", 16, &b));
    assert_true(dg_quantity_write_words("de", "en", "Vierzig", 7, &b));
    assert_string_equal(b.data, "a quarter to eightForty");
    dg_buffer_deinit(&b);
    assert_false(dg_quantity_has_words("en", "nl", "forty-seven", 11));
    assert_false(dg_quantity_has_words("nl", "en", "forty-seven", 11));
    assert_true(dg_quantity_has_words("en-GB", "de-AT", "Dear Sir or Madam", 17));
    assert_false(dg_quantity_has_words("en", "nl", "half past two", 13));
    assert_false(dg_quantity_has_words("de", "fr", "Dear Sir or Madam", 17));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prices_get_the_targets_notation),
        cmocka_unit_test(spelt_numbers_get_the_targets_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
