/* Language codes: expected values are those of ISO 639 and BCP 47. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "convert/language.h"

#include <string.h>

static void codes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"deu", "de"}, {"eng", "en"}, {"de", "de"},
        {"DEU", "de"}, {"zul", "zu"}, {"aar", "aa"}, {"zho", "zh"}, {"cmn", "zh"},
        {"cmn_Hans", "zh-Hans"}, {"cmn_HANT", "zh-Hant"}, {"pt_br", "pt-BR"}, {"pt-PT", "pt-PT"},
        {"srp_Cyrl", "sr-Cyrl"}, {"nds", "nds"}, {"roa", "roa"}, {"es_419", "es-419"},
        {"zh_hant_TW", "zh-Hant-TW"}, {"nob", "nb"}, {"nno", "nn"}, {"x_1", "x-1"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[DG_LANGUAGE_BYTES];
        assert_true(dg_language_tag(cases[i][0], out));
        assert_string_equal(out, cases[i][1]);
    }
}

static void what_is_no_code(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "_", "de_", "_de", "de__AT", "de AT", "d\xc3\xa9",
        "a,b", "<<", "abcdefghijklmnopqrstuvwxyz0123456789"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[DG_LANGUAGE_BYTES];
        assert_false(dg_language_tag(cases[i], out));
    }
    char out[DG_LANGUAGE_BYTES];
    assert_true(dg_language_tag("abcdefghijklmnopqrstuvwxyz012345678", out)); /* 35 bytes */
    assert_int_equal(strlen(out), 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes), cmocka_unit_test(what_is_no_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
