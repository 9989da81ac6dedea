/* translate/draft/draft.h: numbers that an answer garbled. */
#include "translate/draft/draft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Checks what becomes of an answer with glossary terms[n]. */
static void expect_terms(const char *languages[2], const char *source, const char *answer,
    const char *wanted, const struct dg_glossary_match *terms, size_t n)
{
    const struct dg_wanted_terms wanted_terms = {.list = terms, .n = n};
    size_t ends[2] = {0, strlen(answer)};
    struct dg_draft d = {.ends = ends,
        .n_ends = 2,
        .sentence = source,
        .from = languages[0],
        .to = languages[1],
        .wanted = &wanted_terms};
    dg_buffer_adds(&d.text, answer);
    dg_draft_restore_digits(&d);
    assert_string_equal(d.text.data, wanted);
    assert_int_equal(ends[0], 0);
    assert_int_equal(ends[1], d.text.len);
    dg_buffer_deinit(&d.text);
}

static void expect(
    const char *from, const char *to, const char *source, const char *answer, const char *wanted)
{
    expect_terms((const char *[2]){from, to}, source, answer, wanted, NULL, 0);
}

static void garbled_numbers_are_restored(void **state)
{
    (void)state;
    expect("en", "de", "2,202 dogs", "2.2202 Hunde", "2.202 Hunde");
    expect("en", "de", "184,320 cars, 23,417 engines", "184.30 Autos, 23.417 Motoren",
        "184.320 Autos, 23.417 Motoren");
    expect("en", "fr", "2,220 and 2,207 points", "2\u202f220 et 2.2207 points",
        "2\u202f220 et 2\u202f207 points");
    expect("de", "en", "88.310 und 12,39 Dollar", "12.33 dollars and 8,310",
        "12.39 dollars and 88,310");
    expect("fr", "en", "29 954 soldats, dont 187", "2954 soldiers, 187 of them",
        "29,954 soldiers, 187 of them");
    expect("en", "de", "until 1818", "bis 188", "bis 1818");
    expect("de", "de-DE", "1818", "188", "1818"); /* one notation */
    expect("de", "en", "die 777s", "the 77s", "the 777s");
    expect("en", "fr", "12.5 billion", "2,5 milliards", "12,5 milliards");
    expect("en", "de", "778,886 women", "7788886 Frauen", "778.886 Frauen");
}

static void other_numbers_stay(void **state)
{
    (void)state;
    expect("en", "de", "2,202 dogs", "2.202 Hunde, 2.203 Katzen", "2.202 Hunde, 2.203 Katzen");
    expect("en", "de", "1,250,000 dogs", "1,25 Millionen Hunde", "1,25 Millionen Hunde");
    expect("en", "de", "10 of 100", "10 von hundert", "10 von hundert");
    expect("en", "de", "ten of 100", "10 von hundert", "10 von hundert");
    expect("en", "fr", "6.30 that night", "6 h 30 cette nuit", "6 h 30 cette nuit");
    expect("en", "de", "45 dogs", "46 Hunde", "46 Hunde");
    expect("en", "de", "365 days", "250 Tage", "250 Tage");
    expect("en", "de", "2,202 or 2,203 dogs", "2.204 Hunde", "2.204 Hunde"); /* which one? */
    expect("en", "de", "2,202 dogs", "2.203 oder 2.204 Hunde", "2.203 oder 2.204 Hunde");
    expect("en", "fr", "7,866 tons", "7 8866 tonnes", "7 8866 tonnes"); /* "7 7 866" */
    expect("en", "de", "Version 12.75", "Version 12.175", "Version 12.175");
    expect("en", "xx", "2,202 dogs", "2.2202", "2.2202");
    expect("en", "de", "2,202 dogs", "", "");
    expect("en", "de", "no dogs", "2.202 Hunde", "2.202 Hunde");
}

static void glossary_terms_stay(void **state)
{
    const struct dg_glossary_match term = {.target = "Typ 7778", .target_len = 8};
    (void)state;
    expect_terms((const char *[2]){"en", "de"}, "777 and 2,202", "Typ 7778 und 2.2202",
        "Typ 7778 und 2.202", &term, 1);
}

static void long_texts_stay(void **state)
{
    char source[400] = "2,202", answer[400] = "2.203";
    (void)state;
    for (int i = 0; i < 32; i++) {
        snprintf(source + strlen(source), 16, " %d,", i + 10);
        snprintf(answer + strlen(answer), 16, " %d,", i + 10);
    }
    expect("en", "de", source, answer, answer);
    expect("en", "de", "123456789012345678901234567890123", "12345678901234567890123456789012",
        "12345678901234567890123456789012");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(garbled_numbers_are_restored),
        cmocka_unit_test(other_numbers_stay), cmocka_unit_test(glossary_terms_stay),
        cmocka_unit_test(long_texts_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
