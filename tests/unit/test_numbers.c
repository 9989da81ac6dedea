/* text/numbers/numbers.h: whether a translation has the numbers of its source. */
#include "text/numbers/numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Checks both directions. */
static void expect_in(const char *const languages[2], bool agree, const char *a, const char *b)
{
    const struct dg_numbered x = {a, strlen(a), languages[0]}, y = {b, strlen(b), languages[1]};
    if (dg_numbers_agree(&x, &y) != agree || dg_numbers_agree(&y, &x) != agree)
        fail_msg("\"%s\" and \"%s\": expected %s", a, b, agree ? "the same numbers" : "others");
}

static void expect(bool agree, const char *a, const char *b)
{
    expect_in((const char *const[2]){NULL, NULL}, agree, a, b);
}

static bool agree_in_bytes(const char *a, const char *b, size_t n)
{
    return dg_numbers_agree(&(struct dg_numbered){a, n, "en"}, &(struct dg_numbered){b, n, "de"});
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
    expect(true, "at 3:15 p.m.", "um 15:15 Uhr");
    expect(true, "3:15 p.m., 15 dogs", "15 Hunde, 15 h 15");
    expect(true, "12.50 h", "12,50 h");
    expect(true, "17,24 in 12 24", "17.24 in 12 24");
    expect(true, "at 12 noon", "um 0 Uhr");
    expect(true, "the 1990s", "die 90er");
    expect(true, "les années 90", "the 1990s");
    expect(true, "on 12/03/24, in '98 and 2008/09", "am 12.3.2024, 1998 und 2008/2009");
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

/* An hour's number does not stand for lost minutes. */
static void lost_minutes(void **state)
{
    (void)state;
    expect(false, "at 3:15 p.m.", "um 15 Uhr");
    expect(false, "at 8:20 p.m.", "à 20 h");
    expect(true, "at 3:15 p.m.", "um 15 Uhr 15");
}

/* Noughts are a part of the number before them. */
static void noughts(void **state)
{
    (void)state;
    expect(false, "1,000,000 people", "1.000 Menschen");
    expect(false, "won $1,000,000", "gewann 1.000 $.000");
    expect(false, "10'000 Hunde", "10-000 dogs");
    expect(false, "20 000 personnes", "20:000 people");
    expect(true, "1,000,000 people", "1 million de personnes");
    expect(true,
        "1\xC2\xA0"
        "000\xC2\xA0"
        "000 F",
        "1,000,000 F");
    expect(true, "20 000 personnes", "20 thousand people");
    expect(true, "page 3 000", "page 3000");
}

/* A small number that neither digits nor words of the other text say. */
static void words(void **state)
{
    static const char *const to_german[2] = {"en", "de"}, *const to_english[2] = {"de-AT", "en_GB"},
                             *const to_french[2] = {"en", "FR"}, *const to_danish[2] = {"en", "da"},
                             *const three_letters[2] = {"eng_Latn", "deu"};
    (void)state;
    expect_in(three_letters, false, "It costs $1 here", "Es kostet hier");
    expect_in(to_german, false, "It costs $1 here", "Es kostet hier");
    expect_in(to_german, true, "It costs $1 here", "Es kostet hier einen Dollar");
    expect_in(to_german, false, "1,000 to 2,000 people", "1.000 Menschen");
    expect_in(to_german, true, "for 3,000 people, 1,000 dogs", "für Dreitausend, tausend Hunde");
    expect_in(to_german, true, "5 dogs and 1/2 cat", "FÜNF Hunde und eine halbe Katze");
    expect_in(to_english, false, "am 3. Oktober um 14.30 Uhr", "at 2:30");
    expect_in(to_english, true, "3 Hunde und acht Katzen", "three dogs and 8 cats");
    expect_in(to_english, true, "am 1.10., 12 Uhr: 3/4 davon", "first of October, noon: ¾ of it");
    expect_in(to_english, false, "am 3.5.2024", "on 3 june 2024");
    expect_in(to_english, false, "1 Hund", "Hannah");
    expect_in(to_french, true, "8/12, 11 pm, 1st", "le huit Déc. à onze heures, d’un");
    expect_in(to_french, false, "8/12", "le huit");
    expect_in(to_danish, true, "7 dogs", "syv hunde");
}

/* Hours on a clock of twelve and of 24 hours: a translation that is twelve hours off is wrong. */
static void hours(void **state)
{
    (void)state;
    expect(true, "at 9:30 a.m.", "um 9:30 Uhr");
    expect(true, "at 9:05 pm", "à 21 h 05");
    expect(true, "12 p.m.", "12 Uhr");
    expect(true, "12 a.m.", "0 Uhr");
    expect(true, "12 a.m.", "24 Uhr");
    expect(true, "from 2 pm to 4 p. m.", "14 bis 16 Uhr");
    expect(true, "at 8 pm", "um 8 Uhr abends");
    expect(true, "at 8 PM", "à 8 heures du soir");
    expect(true, "3 dogs at 2.15pm", "3 Hunde um 14.15 Uhr");
    expect(true, "9 am and 21 dogs", "9 Uhr und 21 Hunde");
    expect(true, "14:05 Uhr", "at 2:05");
    expect(false, "at 9:30 a.m.", "um 21:30 Uhr");
    expect(false, "at 9 am", "à 21 h");
    expect(false, "at 9 am", "at 9 pm");
    expect(false, "um 9.30 Uhr", "at 9.30pm");
    expect(false, "um 14:05 Uhr", "at 2:05 a.m.");
    expect(false, "à 9 h 30", "at 9:30 p.m.");
    expect(false, "à 11 heures", "at 11 p.m");
    expect(false, "12 a.m.", "12 Uhr");
    expect(false, "12 p.m.", "24 Uhr");
    expect(false, "um 9:30 Uhr", "à 21 h 30");
    expect(false, "9 h", "21");
    expect(false, "von 9–18 Uhr", "from 9-18 p.m.");
}

/* A number that occurs twice has to be there twice. */
static void as_often(void **state)
{
    static const char *const to_german[2] = {"en", "de"};
    (void)state;
    expect(false, "at $30, $30 and $40", "zu 30 $ und 40 $");
    expect(false, "in 2008", "2008 im Jahr 2008");
    expect(true, "in 1990 and 1990", "1990 und in den 90ern");
    expect(true, "1,000 and 1,000", "1.000 und 1000");
    expect(true, "Louis 14 and Henry 14", "Louis XIV et Henri XIV");
    expect_in(to_german, false, "5 dogs, 5 cats", "5 Hunde und Katzen");
    expect_in(to_german, true, "5 dogs, 5 cats", "5 Hunde, fünf Katzen");
    expect_in(to_german, false, "1 1/2 l", "1/2 l");
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
    expect(false, "17,24 Tonnen", "17 24 tonnes");
    expect(false, "at 12 50", "um 12,50 Euro");
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
    expect(false, "It is -12.5 °C.", "Es sind 2012,5 °C.");
    expect(false, "12 people", "2012 Menschen");
    expect(false, "3,336 people", "3.36 Menschen");
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
        assert_true(agree_in_bytes(s, s, n));
        free(s);
    }
    static char groups[1 << 20], others[1 << 20];
    for (size_t i = 0; i < sizeof groups; i++) {
        groups[i] = i % 4 == 3 ? '.' : '1';
        others[i] = i % 4 == 3 ? '.' : '2';
    }
    assert_false(agree_in_bytes(groups, others, 4 * 256));
    assert_true(agree_in_bytes(groups, others, 4 * 257)); /* too many to compare */
    assert_true(agree_in_bytes(groups, others, sizeof groups));
    memset(groups, ' ', sizeof groups);
    assert_true(agree_in_bytes(groups, groups, sizeof groups));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ways_to_write_one),
        cmocka_unit_test(other_numbers), cmocka_unit_test(hours), cmocka_unit_test(as_often),
        cmocka_unit_test(lost_minutes), cmocka_unit_test(noughts), cmocka_unit_test(words),
        cmocka_unit_test(character_references), cmocka_unit_test(anything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
