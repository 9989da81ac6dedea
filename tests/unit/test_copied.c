/* translate/copied.h: words copied untranslated. */
#include "translate/answer/copied.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool copies(const char *from, const char *to, const char *source, const char *answer)
{
    return dg_copied_word(from, to, source, strlen(source), answer, strlen(answer));
}

static void test_copied(void **state)
{
    (void)state;
    assert_true(
        copies("en", "de", "Where is the nearest pharmacy?", "Wo ist die nächste Pharmacy?"));
    assert_true(copies("en", "fr", "Where is the nearest pharmacy?", "Où est la pharmacy ?"));
    assert_true(copies("de", "en", "Sie laufen schnell.", "They run schnell."));
}

static void test_not_copied(void **state)
{
    (void)state;
    /* translated */
    assert_false(copies("en", "de", "Where is the pharmacy?", "Wo ist die Apotheke?"));
    /* a name, or possibly one */
    assert_false(copies("en", "de", "Mr Shepherd is here.", "Herr Shepherd ist hier."));
    assert_false(
        copies("de", "en", "Die Familie Schneider ist hier.", "The Schneider family is here."));
    /* a word of both languages, or of the answer's */
    assert_false(copies("en", "de", "a hotel with a computer", "ein Hotel mit einem Computer"));
    assert_false(copies("fr", "en", "la nature importante", "the important nature"));
    /* joined to another word */
    assert_false(copies("en", "de", "see bread-list", "siehe bread-list"));
    assert_false(copies("en", "de", "", ""));
    assert_false(copies("en", "de", "bread", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copied), cmocka_unit_test(test_not_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
