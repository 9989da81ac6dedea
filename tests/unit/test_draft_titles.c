/* translate/draft/draft.h: titles before the names of an answer. */
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
    dg_draft_write_titles(&d);
    assert_string_equal(d.text.data, wanted);
    assert_true(ends[0] > 0 && ends[0] <= ends[1]);
    assert_int_equal(ends[1], d.text.len);
    dg_buffer_deinit(&d.text);
}

static void of_the_right_sex(void **state)
{
    static const char *const of_german[2] = {"de", "en"}, *const to_german[2] = {"en-GB", "de"},
                             *const of_french[2] = {"fr", "en"}, *const to_french[2] = {"en", "fr"};
    (void)state;
    expect(of_german, "Sehr geehrte Frau Weber,", "Dear Mr Weber,", "Dear Ms. Weber,");
    expect(of_german, "Frau Dr. Lehmann ruft an.", "Mr. Lehmann calls.", "Ms. Lehmann calls.");
    expect(of_german, "Ich traf Herrn Vogel.", "I met Mrs. Prof. Vogel.", "I met Mr. Prof. Vogel.");
    expect(of_german, "Herr Becker und Frau Wolf", "Mr Becker and wife Wolf",
        "Mr Becker and Ms. Wolf");
    expect(
        of_german, "Herr und Frau Weiß-Klein", "Mr. and Mr. Weiß-Klein", "Mr. and Ms. Weiß-Klein");
    expect(
        to_german, "Dear Mrs. Taylor,", "Sehr geehrter Herr Taylor,", "Sehr geehrte Frau Taylor,");
    expect(to_german, "Dear Mr. Taylor,", "Liebe Frau Taylor,", "Lieber Herr Taylor,");
    expect(to_german, "I met Ms. Carter.", "Ich traf Mme Carter.", "Ich traf Frau Carter.");
    expect(to_french, "Dear Ms. Éluard,", "Cher Monsieur Éluard,", "Chère Mme Éluard,");
    expect(of_french, "M. Dubois est absent.", "M. Dubois is absent.", "Mr. Dubois is absent.");
    expect(of_french, "M. Dubois est absent.", "Mrs Dubois is absent.", "Mr. Dubois is absent.");
}

static void others_stay(void **state)
{
    static const char *const of_german[2] = {"de", "en"}, *const to_german[2] = {"en", "de"},
                             *const to_dutch[2] = {"en", "nl"};
    (void)state;
    expect(of_german, "Frau Weber", "Mrs Weber", "Mrs Weber");
    expect(of_german, "meine Frau Anna", "my wife Anna", "my wife Anna");
    expect(of_german, "die Frau Anna", "the woman Anna", "the woman Anna");
    expect(
        of_german, "Frau Weber und Herr Weber", "Mr Weber and Mr Weber", "Mr Weber and Mr Weber");
    expect(of_german, "Frau Weber", "Mr. Smith", "Mr. Smith");
    expect(of_german, "Frau Weber", "Mr. Webers", "Mr. Webers");
    expect(to_german, "Mr. Brown", "Mr. Brown", "Mr. Brown");
    expect(to_german, "I asked Mr. Brown.", "Ich fragte Herrn Brown.", "Ich fragte Herrn Brown.");
    expect(to_german, "Anna M. Brown", "Herr Brown", "Herr Brown");
    expect(to_dutch, "Mrs. Taylor", "Herr Taylor", "Herr Taylor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_right_sex), cmocka_unit_test(others_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
