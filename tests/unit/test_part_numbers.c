/* translate/part_numbers.h: an English sentence's numbers in its answer. */
#include "translate/part_numbers.h"
#include "text/protected/alphabet.h"
#include "translate/job_internal.h"
#include "translate/translator_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char source[] = "A band of 2.4 GHz, 2.4 metres, 1,500 metres, 35 m, 3.5 kg.";

/* Checks what becomes of an answer that follows an earlier one, with glossary terms[n]. */
static void expect(const char *language, const char *answer, const char *wanted,
    const struct dg_glossary_match *terms, size_t n)
{
    const struct dg_job job = {.language = "en", .target_language = language};
    const struct dg_part p = {.text = source, .wanted = terms, .n_wanted = n};
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "Bis zu 2.4 Meter. ");
    const size_t from = b.len;
    size_t ends[2] = {from + 1, from + strlen(answer)};
    dg_buffer_adds(&b, answer);
    dg_part_write_numbers(&job, &p, &b, from, ends, 2);
    assert_string_equal(b.data ? b.data + from : "", wanted);
    assert_int_equal(ends[0], from + 1);
    assert_int_equal(ends[1], b.len);
    dg_buffer_deinit(&b);
}

static void quantities_get_the_targets_notation(void **state)
{
    (void)state;
    expect("de", "Ein 2.4 GHz Band", "Ein 2,4 GHz Band", NULL, 0);
    expect("de", "Ein Band: 2,4 Meter, 1,500 Meter.", "Ein Band: 2,4 Meter, 1.500 Meter.", NULL, 0);
    expect("de", "Ein Band von 4.5 Meter", "Ein Band von 4.5 Meter", NULL, 0);
    expect("de", "35 m, 3.5 kg", "35 m, 3,5 kg", NULL, 0);
}

static void glossary_terms_stay(void **state)
{
    (void)state;
    const struct dg_glossary_match terms[] = {{.target = "2.4-GHz-Band", .target_len = 12},
        {.target = "1,500 m", .target_len = 7}, {.target = "2.4-GHz-Band", .target_len = 12}};
    expect("de", "2.4-GHz-Band, 2.4 Meter", "2.4-GHz-Band, 2,4 Meter", terms, 1);
    expect("de", "Ein 1,500 Meter 2.4-GHz-Band, 2.4 Meter",
        "Ein 1.500 Meter 2.4-GHz-Band, 2,4 Meter", terms, 1);
    expect("de", "Auf 2.4 Meter 1,500 m, 1,500 km", "Auf 2,4 Meter 1,500 m, 1.500 km", terms, 2);
    expect("fr", "Sur 1,500 m une 2.4-GHz-Band, 2.4 m", "Sur 1\u202f500 m une 2.4-GHz-Band, 2,4 m",
        terms, 1);
}

static void units_keep_their_case(void **state)
{
    (void)state;
    const struct dg_part p = {.text = "Take 20 mg and 2.5 lbs, 3mW, 5 MW, 7 cats at 3 PM, XX1 G."};
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "1 MG. 20 Mg, 2,5 Lbs, 3 MW, 5MW, 7 Cats um 3 pm, Mg 4 MG, XX1 g 5 g");
    dg_part_write_units(&p, &b, strlen("1 MG."));
    assert_string_equal(
        b.data, "1 MG. 20 mg, 2,5 lbs, 3 MW, 5MW, 7 Cats um 3 pm, Mg 4 mg, XX1 g 5 g");
    dg_buffer_deinit(&b);
}

/* What a protected span of an English text becomes in another language, and one of a German text in
 * English; "": it stays. The model knows "€", not "₹". */
static void expect_price(const char *language, const char *span, const char *wanted)
{
    struct dg_translator t = {.alphabet = dg_alphabet_open()};
    const struct dg_job job = {.t = &t,
        .language = strcmp(language, "en") != 0 ? "en" : "de",
        .target_language = language};
    struct dg_buffer b;
    assert_non_null(t.alphabet);
    for (int use = DG_ALPHABET_READ; use <= DG_ALPHABET_WRITTEN; use++)
        assert_true(dg_alphabet_add(t.alphabet, (enum dg_alphabet_use)use, "€£", strlen("€£")));
    dg_buffer_init(&b);
    assert_int_equal(dg_part_write_price(&job, span, strlen(span), &b), *wanted != '\0');
    dg_buffer_add(&b, "", 1);
    assert_string_equal(b.data, wanted);
    dg_buffer_deinit(&b);
    dg_alphabet_close(t.alphabet);
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
    const struct dg_job job = {.language = "en", .target_language = "de"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_buffer b;
        dg_buffer_init(&b);
        dg_buffer_adds(&b, "x");
        assert_int_equal(dg_part_write_spelt(&job, cases[i][0], strlen(cases[i][0]), &b),
            cases[i][1][0] != '\0');
        assert_string_equal(b.data + 1, cases[i][1]);
        dg_buffer_deinit(&b);
    }
    const struct dg_job back = {.language = "de", .target_language = "en"};
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_true(dg_part_write_spelt(&back, "Viertel vor acht", 16, &b));
    assert_true(dg_part_write_spelt(&back, "Vierzig", 7, &b));
    assert_string_equal(b.data, "a quarter to eightForty");
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quantities_get_the_targets_notation),
        cmocka_unit_test(glossary_terms_stay), cmocka_unit_test(units_keep_their_case),
        cmocka_unit_test(prices_get_the_targets_notation),
        cmocka_unit_test(spelt_numbers_get_the_targets_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
