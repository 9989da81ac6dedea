/* translate/draft/draft.h: an English sentence's numbers in its answer. */
#include "translate/draft/draft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char source[] = "A band of 2.4 GHz, 2.4 metres, 1,500 metres, 35 m, 3.5 kg.";

/* Checks what becomes of an answer with glossary terms[n]. */
static void expect(const char *language, const char *answer, const char *wanted,
    const struct dg_glossary_match *terms, size_t n)
{
    const struct dg_wanted_terms wanted_terms = {.list = terms, .n = n};
    size_t ends[2] = {1, strlen(answer)};
    struct dg_draft d = {.ends = ends,
        .n_ends = 2,
        .sentence = source,
        .from = "en",
        .to = language,
        .wanted = &wanted_terms};
    dg_buffer_adds(&d.text, answer);
    dg_draft_write_numbers(&d);
    assert_string_equal(d.text.data, wanted);
    assert_int_equal(ends[0], 1);
    assert_int_equal(ends[1], d.text.len);
    dg_buffer_deinit(&d.text);
}

static void quantities_get_the_targets_notation(void **state)
{
    (void)state;
    expect("de", "Ein 2.4 GHz Band", "Ein 2,4 GHz Band", NULL, 0);
    expect("de", "Ein Band: 2,4 Meter, 1,500 Meter.", "Ein Band: 2,4 Meter, 1.500 Meter.", NULL, 0);
    expect("de", "Ein Band von 4.5 Meter", "Ein Band von 4.5 Meter", NULL, 0);
    expect("de", "35 m, 3.5 kg", "35 m, 3,5 kg", NULL, 0);
}

static void glossary_terms_stay(void **state)
{
    (void)state;
    const struct dg_glossary_match terms[] = {{.target = "2.4-GHz-Band", .target_len = 12},
        {.target = "1,500 m", .target_len = 7}, {.target = "2.4-GHz-Band", .target_len = 12}};
    expect("de", "2.4-GHz-Band, 2.4 Meter", "2.4-GHz-Band, 2,4 Meter", terms, 1);
    expect("de", "Ein 1,500 Meter 2.4-GHz-Band, 2.4 Meter",
        "Ein 1.500 Meter 2.4-GHz-Band, 2,4 Meter", terms, 1);
    expect("de", "Auf 2.4 Meter 1,500 m, 1,500 km", "Auf 2,4 Meter 1,500 m, 1.500 km", terms, 2);
    expect("fr", "Sur 1,500 m une 2.4-GHz-Band, 2.4 m", "Sur 1\u202f500 m une 2.4-GHz-Band, 2,4 m",
        terms, 1);
}

static void units_keep_their_case(void **state)
{
    (void)state;
    const struct dg_wanted_terms none = {0};
    struct dg_draft d = {
        .sentence = "Take 20 mg and 2.5 lbs, 3mW, 5 MW, 7 cats at 3 PM, XX1 G.", .wanted = &none};
    dg_buffer_adds(&d.text, "20 Mg, 2,5 Lbs, 3 MW, 5MW, 7 Cats um 3 pm, Mg 4 MG, XX1 g 5 g");
    dg_draft_write_units(&d);
    assert_string_equal(
        d.text.data, "20 mg, 2,5 lbs, 3 MW, 5MW, 7 Cats um 3 pm, Mg 4 mg, XX1 g 5 g");
    dg_buffer_deinit(&d.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quantities_get_the_targets_notation),
        cmocka_unit_test(glossary_terms_stay), cmocka_unit_test(units_keep_their_case)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
