/* translate/draft/draft.h: hours of an answer that are twelve hours off. */
#include "translate/draft/draft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(
    const char *const languages[2], const char *sentence, const char *answer, const char *wanted)
{
    const struct dg_wanted_terms none = {0};
    size_t ends[2] = {1, strlen(answer)};
    struct dg_draft d = {.ends = ends,
        .n_ends = 2,
        .sentence = sentence,
        .from = languages[0],
        .to = languages[1],
        .wanted = &none};
    dg_buffer_adds(&d.text, answer);
    dg_draft_write_hours(&d);
    assert_string_equal(d.text.data, wanted);
    assert_int_equal(ends[0], 1);
    assert_int_equal(ends[1], d.text.len);
    dg_buffer_deinit(&d.text);
}

static void to_24_hours(void **state)
{
    static const char *const to_german[2] = {"en", "de"}, *const to_french[2] = {"en-GB", "fr"};
    (void)state;
    expect(to_german, "at 9:30 a.m.", "um 21:30 Uhr", "um 9:30 Uhr");
    expect(to_german, "at 9 p.m.", "um 9 Uhr", "um 21 Uhr");
    expect(to_german, "from 9am-5pm", "ab 9am-5 Uhr", "ab 9 Uhr-17 Uhr");
    expect(to_german, "at 9:30 p.m. on Monday", "um 9:30 p.m. am Montag", "um 21:30 Uhr am Montag");
    expect(to_french, "at 9:30 p.m.", "à 9:30 p.m.", "à 21 h 30.");
    expect(to_german, "at 12 a.m.", "um 12 Uhr", "um 0 Uhr");
    expect(to_french, "from 9.30 pm to 11 pm", "de 9 h 30 à 23 h", "de 21 h 30 à 23 h");
    expect(to_german, "Come at 9am.", "Komm um 9am.", "Komm um 9 Uhr.");
    expect(to_french, "AT 9 AM", "À 21 H", "À 9 H");
}

static void to_halves(void **state)
{
    static const char *const of_german[2] = {"de", "en"}, *const of_french[2] = {"fr", "en"};
    (void)state;
    expect(of_german, "ab 11 Uhr", "at 11 p.m.", "at 11 a.m.");
    expect(of_german, "von 9–18 Uhr", "from 9-18 p.m.", "from 9 a.m.-6 p.m.");
    expect(of_german, "um 12 Uhr", "at 12 AM", "at 12 PM");
    expect(of_german, "um 0:15 Uhr", "at 12:15 pm", "at 12:15 am");
    expect(of_french, "à 9 h 30", "at 9:30 P.M.", "at 9:30 A.M.");
}

/* The first of two hours has the sign of the second one. */
static void ranges(void **state)
{
    static const char *const of_german[2] = {"de", "en"}, *const to_german[2] = {"en", "de"},
                             *const to_french[2] = {"en", "fr"};
    (void)state;
    expect(of_german, "von 14 bis 18 Uhr", "from 14 to 6 p.m.", "from 2 p.m. to 6 p.m.");
    expect(of_german, "Mo 9–18 Uhr", "Mon 9-6 p.m.", "Mon 9-6 p.m.");
    expect(of_german, "Mo 14–18 Uhr", "Mon 14-6 p.m.", "Mon 2 p.m.-6 p.m.");
    expect(of_german, "8.30–12 Uhr", "8:30-12 p.m.", "8:30-12 p.m.");
    expect(of_german, "von 14 bis 18 Uhr", "from 2 to 6 p.m.", "from 2 to 6 p.m.");
    expect(of_german, "um 9 und 10 Uhr", "at 9 and 10 a.m.", "at 9 and 10 a.m.");
    expect(to_german, "from 2 to 6 p.m.", "von 2 bis 18 Uhr", "von 14 bis 18 Uhr");
    expect(to_german, "from 9 to 5 p.m.", "von 21 bis 17 Uhr", "von 9 bis 17 Uhr");
    expect(to_french, "from 10 p.m. to 2 a.m.", "de 10 à 2 h", "de 22 à 2 h");
    expect(to_french, "Mon 2:15–6 pm", "lun. 2 h 15–18 h", "lun. 14 h 15–18 h");
    expect(to_french, "from 8:15 p.m. to 3 a.m.", "de 20 h 15 à 3 h", "de 20 h 15 à 3 h");
}

/* Hours without a sign, and without their minutes. */
static void incomplete(void **state)
{
    static const char *const of_german[2] = {"de", "en"}, *const of_french[2] = {"fr", "en"},
                             *const to_german[2] = {"en", "de"}, *const to_french[2] = {"en", "fr"};
    (void)state;
    expect(of_german, "um 2 Uhr.", "at 2:", "at 2 a.m.");
    expect(of_german, "um 2 Uhr morgen", "at 2: tomorrow", "at 2 a.m. tomorrow");
    expect(of_german, "um 14:45 Uhr", "at 2: today", "at 2:45 p.m. today");
    expect(of_german, "um 14.30 Uhr.", "at 2:30.", "at 2:30 p.m.");
    expect(of_french, "à 14 h 30", "at 2:30", "at 2:30 p.m.");
    expect(of_french, "à 18 h demain", "at 6 tomorrow", "at 6 p.m. tomorrow");
    expect(of_french, "à 18 h.", "at 6.", "at 6 p.m.");
    expect(of_french, "à 6 h demain", "at 6 tomorrow", "at 6 tomorrow");
    expect(of_french, "à 18 h demain", "6 tomorrow at 6% or 6:1", "6 tomorrow at 6% or 6:1");
    expect(of_french, "les 6 amis, à 18 h", "the 6 friends at 6", "the 6 friends at 6");
    expect(of_german, "um 14.30 Uhr.", "at 14:30.", "at 14:30.");
    expect(of_german, "um 9.30 Uhr.", "at 9:30.", "at 9:30.");
    expect(of_german, "Schritt 2: ab 14 Uhr", "Step 2: from", "Step 2: from");
    expect(of_german, "ab 14 Uhr", "score 2: at 2 p.m.", "score 2: at 2 p.m.");
    expect(of_german, "2:30 Minuten ab 14.30 Uhr", "2:30 minutes", "2:30 minutes");
    expect(to_german, "at 3:15 p.m.", "um 15 Uhr", "um 15:15 Uhr");
    expect(to_french, "at 3:15 p.m. sharp", "à 15 h précises", "à 15 h 15 précises");
    expect(of_german, "um 15:15 Uhr.", "at 3 p.m.", "at 3:15 p.m.");
    expect(to_german, "at 3:15 p.m.", "um 15 Uhr 15", "um 15 Uhr 15");
    expect(to_german, "at 3:30 p.m.", "eine halbe Stunde nach 15 Uhr",
        "eine halbe Stunde nach 15 Uhr");
    expect(to_german, "at 3:15 p.m. and 3 p.m.", "um 15 Uhr", "um 15 Uhr");
    expect(to_german, "at 2:30 p.m.", "um 2:30", "um 14:30 Uhr");
}

static void others_stay(void **state)
{
    static const char *const to_german[2] = {"en", "de"}, *const of_german[2] = {"de", "en"},
                             *const to_dutch[2] = {"en", "nl"};
    (void)state;
    expect(to_german, "at 9 a.m.", "um 9 Uhr", "um 9 Uhr");
    expect(to_german, "at 8 pm", "um 8 Uhr abends", "um 8 Uhr abends");
    expect(to_german, "at 9 a.m. and 9 p.m.", "um 9 Uhr und 21 Uhr", "um 9 Uhr und 21 Uhr");
    expect(to_german, "at 9:30 a.m.", "um 21:15 Uhr", "um 21:15 Uhr");
    expect(to_german, "9 dogs at 10 a.m.", "21 Hunde um 10 Uhr", "21 Hunde um 10 Uhr");
    expect(to_german, "at 9 a.m. on Monday", "um 9 am Montag", "um 9 am Montag");
    expect(of_german, "um 8 Uhr abends", "at 8 p.m.", "at 8 p.m.");
    expect(of_german, "um 9 am Montag", "at 9 p.m. on Monday", "at 9 p.m. on Monday");
    expect(to_dutch, "at 9 a.m.", "om 21 h", "om 21 h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(to_24_hours), cmocka_unit_test(to_halves),
        cmocka_unit_test(ranges), cmocka_unit_test(incomplete), cmocka_unit_test(others_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
