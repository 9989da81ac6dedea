/* text/protected/salutation.h: formulas that open and close letters. */
#include "text/protected/salutation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Translates all of s; "": it is not a formula. */
static void expect(const char *from, const char *s, const char *to, const char *wanted)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "x");
    assert_int_equal(dg_salutation_write(from, to, s, strlen(s), &b), wanted[0] != '\0');
    assert_string_equal(b.data + 1, wanted);
    dg_buffer_deinit(&b);
}

static void another_language(void **state)
{
    (void)state;
    expect("de", "Sehr geehrte Damen und Herren", "en", "Dear Sir or Madam");
    expect(
        "de-AT", "Sehr geehrte Frau Müller-Lüdenscheidt", "en-GB", "Dear Ms. Müller-Lüdenscheidt");
    expect("en", "Dear Mrs John Taylor", "de", "Sehr geehrte Frau John Taylor");
    expect("en", "Dear Mr. Brown", "fr", "Cher Monsieur Brown");
    expect("fr", "Madame, Monsieur", "en", "Dear Sir or Madam");
    expect("fr", "Chère Madame Leroy", "de", "Sehr geehrte Frau Leroy");
    expect("de", "Mit freundlichen Grüßen", "fr", "Cordialement");
    expect("en", "Best wishes,", "de", "Viele Grüße,");
    expect("fr", "Chère Mme Leroy,", "en", "Dear Ms. Leroy,");
    expect("en", "Dear Mr. Brown", "nl", "");
    expect("de", "Dear Mr. Brown", "en", "");
    expect("en", "Dear Mr. Brown, I", "de", "");
    expect("en", "", "de", "");
}

/* Checks how many bytes of s from byte `at` on are a formula. */
static void expect_end(const char *s, size_t at, size_t bytes)
{
    assert_int_equal(dg_salutation_end(s, at, strlen(s)), at + bytes);
}

static void ends(void **state)
{
    (void)state;
    expect_end("Sehr geehrte Frau Weber,", 0, 24);
    expect_end("Sehr geehrte Frau Weber,\nich", 0, 24);
    expect_end("Sehr geehrte Frau Weber, ich", 0, 23);
    expect_end("Madame, Monsieur Girard est là.", 0, 0);
    expect_end("Dear Ms. Anna Weber!\n", 0, 19);
    expect_end("Dear Sir or Madam", 0, 17);
    expect_end("Thank you. Kind regards, Anna", 11, 12);
    expect_end("Kind regards Anna", 0, 12);
    expect_end("Give him my Kind regards", 12, 0);
    expect_end("Best wishes for you", 0, 0);
    expect_end("Dear Mr. Brown told me", 0, 0);
    expect_end("Sehr geehrte Frau Dr. Weber,", 0, 0);
    expect_end("Sehr geehrte Frau Ministerin,", 0, 0);
    expect_end("Dear Mr. ", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_language), cmocka_unit_test(ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
