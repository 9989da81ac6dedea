/* text/numbers/spelt_numbers.h: whether a translation has the numbers that its source spells out.
 */
#include "text/numbers/spelt_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Checks both directions. */
static void expect(bool agree, const char *from, const char *s, const char *to, const char *t)
{
    const struct dg_numbered a = {s, strlen(s), from}, b = {t, strlen(t), to};
    if (dg_spelt_numbers_agree(&a, &b) != agree || dg_spelt_numbers_agree(&b, &a) != agree)
        fail_msg("\"%s\", \"%s\": expected %s", s, t, agree ? "the same" : "others");
}

static void other_numbers(void **state)
{
    (void)state;
    expect(false, "en", "Forty-seven dogs", "de", "Vierundsiebzig Hunde");
    expect(false, "en", "twenty-two people", "fr", "vingt-trois personnes");
    expect(false, "fr", "quatre-vingt-dix-neuf chiens", "en", "eighty-nine dogs");
    expect(false, "fr", "soixante et onze chiens", "de", "einundsechzig Hunde");
    expect(false, "de", "zwei Hunde und drei Katzen", "en", "two dogs and four cats");
    expect(false, "en", "forty-seven dogs, 10047 cats", "de", "vierundsiebzig Hunde, 10047 Katzen");
    expect(false, "en", "seventeen cats", "de-CH", "SIEBZIG Katzen");
}

static void the_same(void **state)
{
    (void)state;
    expect(true, "en", "Forty-seven dogs", "de", "Siebenundvierzig Hunde");
    expect(true, "en", "forty seven dogs", "de", "47 Hunde");
    expect(true, "fr", "quatre-vingt-dix-neuf et vingt et une", "en", "ninety-nine and twenty-one");
    expect(true, "fr", "soixante-dix, quatre-vingts, soixante-seize", "de",
        "siebzig, achtzig, sechsundsiebzig");
    expect(true, "en", "both, the two of them", "fr", "tous les deux");
    expect(true, "de", "um halb drei", "en", "at half past two");
    expect(true, "fr", "à quinze heures", "en", "at three");
    expect(true, "fr", "quinze jours", "en", "two weeks");
    expect(true, "en", "the twenty-first century", "fr", "le vingt et unième siècle");
    expect(true, "en", "two hundred and twelve", "de", "zwölf");
    expect(true, "en", "seven", "nl", "acht");
    expect(true, "en", "seven dogs", "fr", "les chiens");
}

/* Every number, in each language. */
static void all(void **state)
{
    static const char *const tens[] = {"twenty", "thirty", "forty", "fifty", "sixty", "seventy",
        "eighty", "ninety"},
                             *const units[] = {"one", "two", "three", "four", "five", "six",
                                 "seven", "eight", "nine"};
    (void)state;
    for (int v = 21; v < 100; v++) {
        char words[64], digits[64];
        if (v % 10 == 0)
            continue;
        snprintf(words, sizeof words, "%s-%s dogs", tens[v / 10 - 2], units[v % 10 - 1]);
        snprintf(digits, sizeof digits, "%d Hunde, elf Katzen", v);
        expect(true, "en", words, "de", digits);
        snprintf(digits, sizeof digits, "%d Hunde, elf Katzen", v == 99 ? 98 : v + 1);
        expect(false, "en", words, "de", digits);
    }
}

/* Each language reads what it writes, and nothing of what the others write. */
static void written(void **state)
{
    static const char *const languages[] = {"en", "de", "fr"};
    static const struct {
        unsigned value;
        const char *words[3];
    } some[] = {{13, {"thirteen", "dreizehn", "treize"}},
        {17, {"seventeen", "siebzehn", "dix-sept"}},
        {21, {"twenty-one", "einundzwanzig", "vingt et un"}},
        {47, {"forty-seven", "siebenundvierzig", "quarante-sept"}},
        {71, {"seventy-one", "einundsiebzig", "soixante et onze"}},
        {80, {"eighty", "achtzig", "quatre-vingts"}},
        {81, {"eighty-one", "einundachtzig", "quatre-vingt-un"}},
        {99, {"ninety-nine", "neunundneunzig", "quatre-vingt-dix-neuf"}}};
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    for (size_t i = 0; i < 3; i++)
        for (unsigned v = 13; v < 100; v++) {
            dg_buffer_reset(&b);
            assert_true(dg_spelt_number_write(languages[i], v, &b));
            for (size_t k = 0; k < 3; k++)
                assert_int_equal(
                    dg_spelt_number_value(languages[k], b.data, b.len), i == k ? v : 0);
            assert_int_equal(dg_spelt_number_end(b.data, 0, b.len), b.len);
            for (size_t k = 0; k < sizeof some / sizeof *some; k++)
                if (some[k].value == v)
                    assert_string_equal(b.data, some[k].words[i]);
        }
    dg_buffer_reset(&b);
    assert_false(dg_spelt_number_write("nl", 13, &b));
    assert_false(dg_spelt_number_write(NULL, 13, &b));
    assert_int_equal(b.len, 0);
    assert_true(dg_spelt_number_write("de-AT", 13, &b));
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(written), cmocka_unit_test(other_numbers),
        cmocka_unit_test(the_same), cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
