/* One rule for codes of languages: requests, models, glossaries and translation memories. */
#include "text/language_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void canonical(void **state)
{
    static const char *const cases[][2] = {{"en", "en"}, {"EN", "en"}, {"de_DE", "de-de"},
        {"eng", "en"}, {"DEU", "de"}, {"ger", "de"}, {"aar", "aa"}, {"zul", "zu"},
        {"zho_Hant", "zh-hant"}, {"chi", "zh"}, {"xxx", "xxx"}, {"fil", "fil"}, {"", ""},
        {"e", "e"}, {"engl", "engl"}, {"zh_CN", "zh-hans-cn"}, {"zh-TW", "zh-hant-tw"},
        {"iw", "he"}, {"iw_IL", "he-il"}, {"zho-TW", "zh-hant-tw"}, {"zh-HK-x-a", "zh-hant-hk-x-a"},
        {"zh-hans-cn", "zh-hans-cn"}, {"iwo", "iwo"}};
    char out[DG_LANGUAGE_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(dg_language_canonical(cases[i][0], out));
        assert_string_equal(out, cases[i][1]);
    }
    assert_false(dg_language_canonical("x-01234567890123456789012345678901234", out));
    assert_true(dg_language_canonical("x-012345678901234567890123456789012", out));
    assert_false(dg_language_canonical("zh-tw-x-0123456789012345678901234", out));
}

static void tags(void **state)
{
    static const char *const cases[][2] = {{"DE", "de"}, {"pt_br", "pt-BR"}, {"ZH-HANT", "zh-Hant"},
        {"zh-cn", "zh-CN"}, {"deu", "de"}, {"deu-at", "de-AT"}, {"FIL", "fil"},
        {"sr_latn_rs", "sr-Latn-RS"}, {"es-419", "es-419"}, {"en-x-aa", "en-x-aa"}, {"", ""},
        {"de-", "de-"}};
    char out[DG_LANGUAGE_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(dg_language_usual(cases[i][0], out));
        assert_string_equal(out, cases[i][1]);
    }
    assert_false(dg_language_usual("x-01234567890123456789012345678901234", out));
}

static void distances(void **state)
{
    static const struct {
        const char *asked, *served;
        int distance;
    } cases[] = {
        {"en", "en", 0},
        {"EN", "en", 0},
        {"en-GB", "en_gb", 0},
        {"eng", "en", 0},
        {"en", "eng", 0},
        {"en-GB", "en", 1},
        {"zh-Hant-TW", "zh-hant", 1},
        {"zh-Hant-TW", "zh", 2},
        {"pt", "pt-BR", DG_LANGUAGE_WIDER + 1},
        {"pt-PT", "pt-BR", -1},
        {"en", "de", -1},
        {"en", "eng-us", DG_LANGUAGE_WIDER + 1},
        {"e", "en", -1},
        {"en", "e", -1},
        {"", "en", -1},
        {"zh-CN", "zh-Hans", 1},
        {"zh-TW", "zh-Hans", -1},
        {"zh-TW", "zh", 2},
        {"zh-Hans", "zh-CN", DG_LANGUAGE_WIDER + 1},
        {"zh-CN", "zh_CN", 0},
        {"iw-IL", "he", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(dg_language_distance(cases[i].asked, cases[i].served), cases[i].distance);
}

/* What tools write into TMX files, beside the codes that models have. */
static void same(void **state)
{
    static const char *const cases[][2] = {{"en", "en-US"}, {"de-AT", "DE"},
        {"zh-Hant-TW", "zh-Hant"}, {"zh-CN", "zh-Hans"}, {"zh-TW", "zh-Hant"},
        {"sr-Latn-RS", "sr-Latn"}, {"zh_Hant_TW", "zh-Hant-TW"}, {"iw", "he"}, {"iw-IL", "he"},
        {"eng", "en-GB"}, {"zho_Hant", "zh-TW"}};
    static const char *const others[][2] = {{"de-AT", "de-CH"}, {"zh-CN", "zh-Hant"},
        {"zh-CN", "zh-TW"}, {"sr-Latn", "sr-Cyrl"}, {"pt-PT", "pt-BR"}, {"en", "eno"}, {"", ""},
        {"", "en"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(dg_language_same(cases[i][0], cases[i][1]));
        assert_true(dg_language_same(cases[i][1], cases[i][0]));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(dg_language_same(others[i][0], others[i][1]));
        assert_false(dg_language_same(others[i][1], others[i][0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(canonical), cmocka_unit_test(tags),
        cmocka_unit_test(distances), cmocka_unit_test(same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
