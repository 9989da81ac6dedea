#include "server/models/languages.h"

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
        {"iw", "he"}};
    char out[DG_LANGUAGE_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(dg_language_canonical(cases[i][0], out));
        assert_string_equal(out, cases[i][1]);
    }
    assert_false(dg_language_canonical("x-01234567890123456789012345678901234", out));
    assert_true(dg_language_canonical("x-012345678901234567890123456789012", out));
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
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(dg_language_distance(cases[i].asked, cases[i].served), cases[i].distance);
}

static void aliases(void **state)
{
    static const char *const wrong[] = {
        "a", "=b", "a=", "a=b,,c=d", "a=b=c", ",", "a=012345678901234567890123456789012345"};
    char out[DG_LANGUAGE_MAX];
    (void)state;
    assert_int_equal(dg_language_aliases_check("", NULL), DG_OK);
    assert_int_equal(dg_language_aliases_check("pb=pt-BR,zt=zh-Hant", NULL), DG_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(dg_language_aliases_check(wrong[i], NULL), DG_EINVAL);
    assert_string_equal(dg_language_alias("pb=pt-BR,zt=zh-Hant", "ZT", out), "zh-Hant");
    assert_string_equal(dg_language_alias("pb=pt-BR,zt=zh-Hant", "pb", out), "pt-BR");
    assert_string_equal(dg_language_alias("pb=pt-BR,zt=zh-Hant", "pbx", out), "pbx");
    assert_string_equal(
        dg_language_alias("ger=de", "deu", out), "de"); /* keys are canonicalised, too */
    assert_string_equal(dg_language_alias("", "en", out), "en");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical), cmocka_unit_test(distances), cmocka_unit_test(aliases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
