/* translate/protected/stand_in.h: words that replace protected spans, in the answer. */
#include "translate/protected/stand_in.h"
#include "translate/draft/draft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct dg_stand_in names[] = {{"XX1", -1, -1}, {"XX2", -1, -1}};
static struct dg_stand_in pieces[] = {{"⟨1⟩", 7, 8}, {"⟨2⟩", 9, 10}};

static void expect(const char *text, const char *wanted)
{
    const char shown[] = "See XX1 and XX2, or X9.";
    const struct dg_shown seen = {
        .text = shown, .len = strlen(shown), .stand_ins = names, .n_stand_ins = 2};
    const struct dg_wanted_terms none = {0};
    struct dg_draft d = {.wanted = &none};
    dg_buffer_adds(&d.text, text);
    dg_draft_clean_stand_ins(&d, &seen);
    assert_string_equal(d.text.data, wanted);
    assert_int_equal(d.text.len, strlen(wanted));
    dg_buffer_deinit(&d.text);
}

static void one_of_each(void **state)
{
    (void)state;
    expect("Siehe XX1 und XX2.", "Siehe XX1 und XX2.");
    expect("Siehe XX1 XX1, XX2 und XX2", "Siehe XX1, XX2 und");
    expect("XX2s Haus und XX1n", "XX2 Haus und XX1");
    expect("XX1-Datei, XX1s", "XX1-Datei, XX1s"); /* one is present: layout/ handles it */
    expect("", "");
}

static void what_is_left_of_names_goes(void **state)
{
    (void)state;
    expect("Siehe X1X1 hier, XX2", "Siehe hier, XX2");
    expect("XX11", "");
    expect("Datei XX1.X2, X2X", "Datei XX1.,"); /* "X2" is part of XX2 alone */
    expect("X9 und X99 Xaver XXL 1999", "X9 und Xaver XXL 1999");
}

static void words_of_terms_stay(void **state)
{
    (void)state;
    const struct dg_glossary_match terms[] = {{.target = "BMW X3", .target_len = 6}};
    const struct dg_wanted_terms wanted = {.list = terms, .n = 1};
    const struct dg_shown seen = {.text = "XX1", .len = 3, .stand_ins = names, .n_stand_ins = 1};
    struct dg_draft d = {.wanted = &wanted};
    dg_buffer_adds(&d.text, "Der X3 X1X1 XX1 XX1 BMW X3, X3");
    dg_draft_clean_stand_ins(&d, &seen);
    assert_string_equal(d.text.data, "Der XX1 BMW X3,");
    dg_buffer_deinit(&d.text);
}

/* "Siehe", "XX1", "XX1", "." */
static void ends_move(void **state)
{
    (void)state;
    const struct dg_shown seen = {.text = "", .stand_ins = names, .n_stand_ins = 1};
    const struct dg_wanted_terms none = {0};
    size_t ends[4] = {5, 9, 13, 14};
    struct dg_draft d = {.ends = ends, .n_ends = 4, .wanted = &none};
    dg_buffer_adds(&d.text, "Siehe XX1 XX1.");
    dg_draft_clean_stand_ins(&d, &seen);
    assert_string_equal(d.text.data, "Siehe XX1.");
    assert_int_equal(ends[1], 9);
    assert_int_equal(ends[2], 9);
    assert_int_equal(ends[3], 10);
    dg_buffer_deinit(&d.text);
}

static void pieces_say_names_once(void **state)
{
    (void)state;
    int32_t reserved[2][3] = {{7, 9, 11}, {8, 10, 12}};
    const struct dg_stand_ins t = {.n_reserved = 3, .reserved = {reserved[0], reserved[1]}};
    struct dg_shown seen = {.stand_ins = pieces, .n_stand_ins = 2};
    uint64_t said = 0;
    assert_string_equal(dg_stand_in_name_of(&t, &seen, 10, &said), "⟨2⟩");
    assert_string_equal(dg_stand_in_name_of(&t, &seen, 10, &said), "");
    assert_string_equal(dg_stand_in_name_of(&t, &seen, 8, &said), "⟨1⟩");
    assert_string_equal(dg_stand_in_name_of(&t, &seen, 12, &said), ""); /* not of this sentence */
    assert_null(dg_stand_in_name_of(&t, &seen, 7, &said));
}

static void pieces_are_found(void **state)
{
    (void)state;
    const struct dg_shown seen = {.stand_ins = pieces, .n_stand_ins = 2};
    const char *text = "a ⟨1⟩ b ⟨2⟩";
    struct dg_token list[DG_MAX_STAND_INS];
    assert_int_equal(dg_stand_in_find(&seen, text, strlen(text), list), 2);
    assert_int_equal(list[0].id, 7);
    assert_int_equal(list[0].begin, 2);
    assert_int_equal(list[0].end, 9);
    assert_int_equal(list[1].id, 9);
    assert_int_equal(list[1].begin, 12);
    assert_int_equal(dg_stand_in_find(&seen, "none", 4, list), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_of_each),
        cmocka_unit_test(what_is_left_of_names_goes), cmocka_unit_test(words_of_terms_stay),
        cmocka_unit_test(ends_move), cmocka_unit_test(pieces_say_names_once),
        cmocka_unit_test(pieces_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
