/* translate/part_hours.h: hours of an answer that are twelve hours off. */
#include "translate/part_hours.h"
#include "translate/job_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(
    const char *const languages[2], const char *sentence, const char *answer, const char *wanted)
{
    const struct dg_job job = {.language = languages[0], .target_language = languages[1]};
    const struct dg_part p = {.text = sentence};
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "Um 21:30 Uhr, 9 p.m. ");
    const size_t from = b.len;
    size_t ends[2] = {from + 1, from + strlen(answer)};
    dg_buffer_adds(&b, answer);
    dg_part_write_hours(&job, &p, &b, from, ends, 2);
    assert_string_equal(b.data + from, wanted);
    assert_int_equal(ends[0], from + 1);
    assert_int_equal(ends[1], b.len);
    dg_buffer_deinit(&b);
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
    expect(of_german, "von 9–18 Uhr", "from 9-18 p.m.", "from 9-6 p.m.");
    expect(of_german, "um 12 Uhr", "at 12 AM", "at 12 PM");
    expect(of_german, "um 0:15 Uhr", "at 12:15 pm", "at 12:15 am");
    expect(of_french, "à 9 h 30", "at 9:30 P.M.", "at 9:30 A.M.");
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_24_hours), cmocka_unit_test(to_halves), cmocka_unit_test(others_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
