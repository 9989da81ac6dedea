/* Glossaries made of pairs in several languages. */
#include "store/pair_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void has(const struct dg_pair_list *l, const char *source_lang, const char *target_lang,
    const char *source, const char *target)
{
    struct dg_glossary *g = NULL;
    struct dg_glossary_match m;
    assert_int_equal(dg_pair_list_glossary(l, source_lang, target_lang, true, &g, NULL), DG_OK);
    assert_int_equal(dg_glossary_find(g, source, strlen(source), &m, 1), 1);
    assert_string_equal(m.target, target);
    dg_glossary_unref(g);
}

/* Entries in exactly the languages asked for count before those in languages with or without a
 * region, in whatever order they come. */
static void test_glossary_of_regions(void **state)
{
    (void)state;
    static const char *const rows[][4] = {{"de", "fr", "Sahne", "creme"},
        {"de-AT", "fr", "Sahne", "schlag"}, {"de", "FR-CA", "Sahne", "quebec"},
        {"de-AT", "fr", "Obers", "chantilly"}};
    enum { N = sizeof rows / sizeof *rows };
    for (int reverse = 0; reverse < 2; reverse++) {
        struct dg_pair_list l;
        dg_pair_list_init(&l);
        for (size_t i = 0; i < N; i++) {
            const char *const *r = rows[reverse ? N - 1 - i : i];
            const struct dg_memory_pair p = {r[0], r[1], r[2], r[3], strlen(r[2]), strlen(r[3])};
            assert_int_equal(dg_pair_list_add(&l, &p, NULL), DG_OK);
        }
        has(&l, "de", "fr", "Sahne", "creme");
        has(&l, "DE", "fr", "Obers", "chantilly");
        has(&l, "de-AT", "fr", "Sahne", "schlag");
        has(&l, "de", "fr-ca", "Sahne", "quebec");
        dg_pair_list_deinit(&l);
    }
}

/* A language has several codes, and exactly the same one in several spellings. */
static void test_glossary_of_scripts(void **state)
{
    (void)state;
    static const char *const rows[][4] = {{"en", "zh_Hans_cn", "dog", "exact"},
        {"en", "zh-Hant", "dog", "other"}, {"eng", "zh-Hans", "dog", "near"},
        {"en", "zh-TW", "cat", "other"}, {"en", "zh", "cat", "near"}};
    struct dg_pair_list l;
    dg_pair_list_init(&l);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const *r = rows[i];
        const struct dg_memory_pair p = {r[0], r[1], r[2], r[3], strlen(r[2]), strlen(r[3])};
        assert_int_equal(dg_pair_list_add(&l, &p, NULL), DG_OK);
    }
    has(&l, "en", "zh-CN", "dog", "exact");
    has(&l, "en", "zh-CN", "cat", "near");
    has(&l, "en", "zh-Hans", "dog", "near");
    dg_pair_list_deinit(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_glossary_of_regions), cmocka_unit_test(test_glossary_of_scripts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
