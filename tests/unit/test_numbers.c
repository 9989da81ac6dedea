/* text/numbers.h: whether a translation has the numbers of its source. */
#include "text/numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Checks both directions. */
static void expect(bool agree, const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (dg_numbers_agree(a, n, b, m) != agree || dg_numbers_agree(b, m, a, n) != agree)
        fail_msg("\"%s\" and \"%s\": expected %s", a, b, agree ? "the same numbers" : "others");
}

static void ways_to_write_one(void **state)
{
    (void)state;
    expect(true, "", "");
    expect(true, "No number.", "Keine Zahl.");
    expect(true, "1,000 people", "1.000 Menschen");
    expect(true, "1,234,567 people in 2012", "1 234 567 personnes en 2012");
    expect(true,
        "12\xC2\xA0"
        "000 Franken",
        "12'000 francs");
    expect(true,
        "12\xE2\x80\xAF"
        "000 Franken",
        "12000 francs");
    expect(true, "fell 3.5 percent", "fielen um 3,5 Prozent");
    expect(true, "on 12 March 2024", "am 12.3.2024");
    expect(true, "at 9:45 pm", "um 21.45 Uhr");
    expect(true, "at 12 noon", "um 0 Uhr");
    expect(true, "the 1990s", "die 90er");
    expect(true, "the 18th century", "le XVIIIe siècle");
    expect(true, "Ludwig der 14.", "LOUIS XIV");
    expect(true, "King George the 1st", "le roi George Ier");
    expect(true, "3 dogs, 12 cats", "drei Hunde, zwölf Katzen");
    expect(true, "8,000 years", "8 tausend Jahre");
    expect(true, "from 12:00 on", "ab 12 Uhr");
    expect(true, "in 007 style", "im Stil von 7");
    expect(true, "١٩٤٥", "1945");
    expect(true, "only 15% of them", "15 p. 100 d'entre eux");
    expect(true, "in 2012 500 people", "500 personnes en 2012");
}

/* Digits of character references are no numbers; a reference to a blank parts thousands. */
static void character_references(void **state)
{
    (void)state;
    expect(true, "L&#8217;homme n&#x2019;est pas l&#224;.", "The man is not there.");
    expect(true, "1&#8239;234,56&nbsp;&#8364; &#224; Paris", "&#8364;1,234.56 in Paris");
    expect(true, "10&#8211;20 dogs", "10-20 Hunde");
    expect(false, "1&#160;234 chiens", "1,235 dogs");
    expect(false, "A&P 8217;", "A&P");
}

static void other_numbers(void **state)
{
    (void)state;
    expect(false, "50 mg of aspirin", "ein Aspirin");
    expect(false, "for 14 days", "13 Tage");
    expect(false, "7 dogs", "3 Hunde");
    expect(false, "fell 3.5 percent", "fielen um 35 Prozent");
    expect(false, "2,220 points", "2.200 Punkte");
    expect(false, "on 12 March 2024", "am 1224");
    expect(false, "people", "300 Menschen");
    expect(false, "1,000 people", "1,500 Menschen");
    expect(false, "in 1930", "in 1931");
    expect(false, "19 of them", "L'un de nous");
    expect(false, "50 of them", "L’homme, C’est"); /* one letter is not so large a Roman numeral */
    expect(false, "the 20th century", "le XIXe siècle");
    expect(false, "see it", "voir p. 100");
    expect(false, "costs $3,200,000", "kostet 3.200 $.000");
    expect(false, "12345678901234567890123456789012345678901", "2");
}

/* A sentence of nothing but numbers takes bounded time, and is never read beyond its end. */
static void anything(void **state)
{
    (void)state;
    static const char signs[] = "0123456789.,  'xXVI\xC3\xA9";
    unsigned random = 7;
    for (int round = 0; round < 2000; round++) {
        size_t n = (size_t)(round % 50);
        char *s = malloc(n ? n : 1); /* a block of exact size: a read beyond it is found */
        assert_non_null(s);
        for (size_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            s[i] = signs[(random >> 16) % (sizeof signs - 1)];
        }
        assert_true(dg_numbers_agree(s, n, s, n));
        free(s);
    }
    static char groups[1 << 20], others[1 << 20];
    for (size_t i = 0; i < sizeof groups; i++) {
        groups[i] = i % 4 == 3 ? '.' : '1';
        others[i] = i % 4 == 3 ? '.' : '2';
    }
    assert_false(dg_numbers_agree(groups, 4 * 256, others, 4 * 256));
    assert_true(dg_numbers_agree(groups, 4 * 257, others, 4 * 257)); /* too many to compare */
    assert_true(dg_numbers_agree(groups, sizeof groups, others, sizeof others));
    memset(groups, ' ', sizeof groups);
    assert_true(dg_numbers_agree(groups, sizeof groups, groups, sizeof groups));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ways_to_write_one),
        cmocka_unit_test(other_numbers), cmocka_unit_test(character_references),
        cmocka_unit_test(anything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
