/* translate/draft/draft.h: characters of an answer that mean nothing. */
#include "translate/draft/draft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *source, const char *prefix, const char *text, const char *wanted)
{
    struct dg_draft d = {.sentence = source};
    dg_buffer_adds(&d.text, text);
    bool any = dg_draft_drop_stray(&d, prefix);
    assert_int_equal(any, strcmp(text, wanted) != 0);
    assert_string_equal(d.text.data, wanted);
    assert_int_equal(d.text.len, strlen(wanted));
    dg_buffer_deinit(&d.text);
}

static void drops(void **state)
{
    (void)state;
    expect("a", NULL, "Das Schild \xEF\xBF\xBD ist hier.", "Das Schild ist hier.");
    expect("a", NULL, "\xEF\xBF\xBD\xEF\xBF\xBD ist hier", "ist hier");
    expect("a", NULL, "Schild\xEF\xBF\xBD, hier", "Schild, hier");
    expect("a", NULL, "x\xE2\x81\x87y\xE2\x80\xAEz\x01", "xyz");
    expect("a", NULL, "\xEF\xBF\xBD", "");
    expect("a", NULL, "\xC2\xAB Ja \xC2\xBB \xE2\x80\x94 \xF0\x9F\x99\x82",
        "\xC2\xAB Ja \xC2\xBB \xE2\x80\x94 \xF0\x9F\x99\x82");
}

/* Joiners are part of Persian's and Indic languages' spelling, and of joined emoji. */
static void keeps_joiners_within_words(void **state)
{
    static const char *const kept[] = {"\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645",
        "\u0995\u09CD\u200D\u09B7", "\u0D28\u0D4D\u200D",
        "\u06F2\u06F0\u200C\u0633\u0627\u0644\u0647", "Ja \U0001F469\u200D\U0001F680.",
        "\U0001F9DB\U0001F3FC\u200D\u2642\uFE0F", "\u2764\uFE0F\u200D\U0001F525"};
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        expect("a", NULL, kept[i], kept[i]);
    expect("a", NULL, "\u200C\u0645\u200C \u06CC\u200D", "\u0645 \u06CC");
    expect("a", NULL, "\u0645\u200C\u200C\u06CC.\u200C", "\u0645\u200C\u06CC.");
    expect("a", NULL, "1\u200C.\u200D5 \u200B\u200E!", "1.5 !");
}

static void keeps_what_the_source_or_the_prefix_has(void **state)
{
    (void)state;
    expect("a \xEF\xBF\xBD b", NULL, "x \xEF\xBF\xBD y", "x \xEF\xBF\xBD y");
    expect("a", "\xE2\x81\x87", "x \xE2\x81\x87 y", "x \xE2\x81\x87 y");
}

/* Pieces "ab", U+FFFD, " c", "d" after two unrelated bytes. */
static void ends_move(void **state)
{
    (void)state;
    size_t ends[4] = {4, 7, 9, 10};
    struct dg_draft d = {.sentence = "", .ends = ends, .n_ends = 4};
    dg_buffer_adds(&d.text, "..ab\xEF\xBF\xBD cd");
    assert_true(dg_draft_drop_stray(&d, NULL));
    assert_string_equal(d.text.data, "..ab cd");
    assert_int_equal(ends[0], 4);
    assert_int_equal(ends[1], 4);
    assert_int_equal(ends[2], 6);
    assert_int_equal(ends[3], 7);
    dg_buffer_deinit(&d.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drops),
        cmocka_unit_test(keeps_joiners_within_words),
        cmocka_unit_test(keeps_what_the_source_or_the_prefix_has), cmocka_unit_test(ends_move)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
