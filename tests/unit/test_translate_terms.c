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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_in_capitals)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
