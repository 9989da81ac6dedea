/* The languages that the name of a file of pairs gives. */
#include "store/pairs_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void languages(void **state)
{
    static const char *const cases[][3] = {{"terms.en-de.tsv", "en", "de"},
        {"dir/en-de.tsv", "en", "de"}, {"a.b.EN-DE.csv", "EN", "DE"},
        {"terms.en-pt-BR.tsv", "en", "pt-BR"}, {"terms.pt-BR-en.tsv", "pt-BR", "en"},
        {"terms.zh-Hans-en.tsv", "zh-Hans", "en"},
        {"terms.zh-Hant-TW-sr-Latn.tmx", "zh-Hant-TW", "sr-Latn"},
        {"terms.zh_Hans-en.tsv", "zh_Hans", "en"},
        {"terms.eng_Latn-deu_Latn.tsv", "eng_Latn", "deu_Latn"},
        {"terms.en-es-419.tsv", "en", "es-419"}, {"terms.es-419-en.tsv", "es-419", "en"},
        {"terms.en-pt_BR.tsv", "en", "pt_BR"}};
    static const char *const none[] = {"terms.tsv", "terms.en.tsv", "my-terms.tsv", "terms.v-2.tsv",
        "terms.zh-Hans.tsv", "terms.-de.tsv", "terms.en-.tsv", "terms.en--de.tsv",
        "terms.en-de-.tsv", "en-de/terms.tsv",
        "terms.en-x-0123456789-0123456789-0123456789-de.tsv"};
    char source[36], target[36];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!dg_pairs_file_languages(cases[i][0], source, target))
            fail_msg("%s", cases[i][0]);
        assert_string_equal(source, cases[i][1]);
        assert_string_equal(target, cases[i][2]);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (dg_pairs_file_languages(none[i], source, target))
            fail_msg("%s: %s to %s", none[i], source, target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(languages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
