/* translate/: where a sentence has the terms of a glossary. The model's output is noise, but has
 * the targets of all terms that are found. */
#include "tests/unit/translate_bundle.h"

/* The answer to text with one entry, whose target is boat. Returns the number of times that it has
 * `what`. */
static size_t count(const char *source, const char *text, const char *what)
{
    const struct dg_glossary_entry entry = {
        .source = source, .source_len = strlen(source), .target = "boat", .target_len = 4};
    struct dg_translate_options o = {.search = {.beam = 1, .alpha = -1}};
    struct dg_answers a;
    struct dg_error err = {0};
    size_t n = 0;
    assert_int_equal(dg_glossary_make(&entry, 1, &o.glossary, &err), 0);
    struct dg_job *j = translated(text, &o, &a);
    for (const char *at = a.best[0].text; (at = strstr(at, what)) != NULL; at++)
        n++;
    dg_job_free(j);
    dg_glossary_unref(o.glossary);
    return n;
}

/* A sentence in capitals is read as ordinary words, but an entry may be in capitals, too. */
static void entries_in_capitals(void **state)
{
    (void)state;
    static const char text[] = "THE OLD HOUSE IS ON THE HILL.";
    static const char *const found[] = {
        "house", "HOUSE", "OLD HOUSE IS", "HILL.", "The old house" /* as it is read */};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        assert_true(count(found[i], text, "BOAT") > 0);
    assert_int_equal(count("House", text, "BOAT"), 0);
    assert_int_equal(count("HOUSES", text, "BOAT"), 0);
}

/* Words and signs that the model lacks letters for are protected, except where an entry has them.
 */
static void foreign_words(void **state)
{
    (void)state;
    static const struct {
        const char *source, *text, *kept;
    } cases[] = {
        {"Dvořák", "The Dvořák Hall is small.", NULL},
        {"Dvořák Hall", "The Dvořák Hall is small.", NULL},
        {"the Dvořák", "In the Dvořák Hall, 日本.", "日本"},
        {"γ-rays", "The γ-rays are here.", NULL},
        {"Acme™ Suite", "Open the Acme™ Suite now.", NULL},
        {"мир", "She has Война и мир today.", "Война и"},
        {"Война", "She has Война и мир today.", "и мир"},
        {"и", "She has Война и мир today.", "Война"},
        {"и", "She has Война и мир today.", "мир"},
        {"Acme", "Open the Acme™ Suite now.", "™"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(count(cases[i].source, cases[i].text, "boat") > 0);
        if (cases[i].kept)
            assert_int_equal(count(cases[i].source, cases[i].text, cases[i].kept), 1);
    }
}

/* Addresses and placeholders have no terms, not even in part. */
static void protected_spans(void **state)
{
    (void)state;
    assert_int_equal(count("name", "Write to {name} at the house.", "boat"), 0);
    assert_int_equal(count("house {name} мир", "The house {name} мир is here.", "boat"), 0);
    assert_int_equal(count("house {name} мир", "The house {name} мир is here.", "мир"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_in_capitals),
        cmocka_unit_test(foreign_words), cmocka_unit_test(protected_spans)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
