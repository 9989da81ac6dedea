#include "server/models/languages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(aliases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
