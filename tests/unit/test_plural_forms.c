/* What the table of languages says about "one" is what CLDR says, by ICU's own plural rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uloc.h>
#include <unicode/upluralrules.h>
#include <unicode/ustring.h>

#include "documents/strings/plural_forms.h"

static bool is_one(const UPluralRules *rules, int number)
{
    UChar name[16];
    UErrorCode status = U_ZERO_ERROR;
    uplrules_select(rules, number, name, 16, &status);
    assert_true(U_SUCCESS(status));
    return u_strlen(name) == 3 && name[0] == 'o' && name[1] == 'n';
}

static void test_one(void **state)
{
    size_t exact = 0;
    (void)state;
    for (const char *const *code = uloc_getISOLanguages(); *code; code++) {
        UErrorCode status = U_ZERO_ERROR;
        if (!dg_plural_one_is_exact(*code))
            continue;
        UPluralRules *rules = uplrules_open(*code, &status);
        assert_true(U_SUCCESS(status));
        for (int i = 0; i <= 1111; i++)
            if (is_one(rules, i) != (i == 1))
                fail_msg("%s: %d", *code, i);
        uplrules_close(rules);
        exact++;
    }
    assert_true(exact >= 40);
    assert_true(dg_plural_one_is_exact("pt-PT") && dg_plural_one_is_exact("de-AT"));
    assert_true(!dg_plural_one_is_exact("fr") && !dg_plural_one_is_exact("pt") &&
                !dg_plural_one_is_exact("ru") && !dg_plural_one_is_exact("ja"));
}

/* True if the language has this category for a number. */
static bool has(const char *language, const char *category, double number)
{
    UChar name[16];
    char got[16] = "";
    UErrorCode status = U_ZERO_ERROR;
    UPluralRules *rules = uplrules_open(language, &status);
    const int32_t n = uplrules_select(rules, number, name, 16, &status);
    u_UCharsToChars(name, got, n);
    uplrules_close(rules);
    assert_true(U_SUCCESS(status));
    return strcmp(got, category) == 0;
}

static void test_samples(void **state)
{
    size_t n = 0;
    (void)state;
    for (const char *const *code = uloc_getISOLanguages(); *code; code++)
        for (const struct dg_plural_sample *s = dg_plural_samples(*code); s->category; s++, n++)
            for (int i = 0; i < 2; i++)
                if (!has(*code, s->category, atof(s->numbers[i])))
                    fail_msg("%s: %s is not %s", *code, s->numbers[i], s->category);
    assert_true(n >= 30);
    assert_null(dg_plural_samples("de")->category);
    assert_string_equal(dg_plural_samples("pl-PL")->category, "few");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one), cmocka_unit_test(test_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
