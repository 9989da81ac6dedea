/* translate/layout/place_words.c: protected spans beside words that are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "translate/layout/decorate.h"

/* Checks where `foo`, the only mark of the text, goes in an answer of which bytes kept[0] ..
 * kept[1] are kept, and the first `given` bytes. */
static void check(const char *text, const char *answer, const struct dg_word_pair *pairs, size_t n,
    const struct dg_span *kept, size_t given, const char *wanted)
{
    struct dg_document doc;
    struct dg_arena arena;
    struct dg_buffer out;
    const struct dg_mark_bytes foo = {"`foo`", 5};
    dg_arena_init(&arena, 0);
    dg_buffer_init(&out);
    assert_int_equal(dg_document_open(text, strlen(text), DG_FORMAT_MARKDOWN, &doc, NULL), 0);
    assert_int_equal(doc.n_marks, 1);
    const struct dg_decoration d = {.bytes = &foo,
        .text = doc.text.data,
        .len = doc.units[0].end,
        .marks = doc.marks,
        .n = 1,
        .answer = answer,
        .answer_len = strlen(answer),
        .pairs = pairs,
        .n_pairs = n,
        .kept = kept,
        .n_kept = kept ? 2 : 0,
        .given = given};
    assert_true(dg_decorate(&d, &arena, &out, NULL));
    assert_string_equal(out.data, wanted);
    dg_buffer_deinit(&out);
    dg_arena_deinit(&arena);
    dg_document_close(&doc);
}

/* The same with "BMW X3" kept. */
static void expect(const char *text, const char *answer, const struct dg_word_pair *pairs, size_t n,
    const char *wanted)
{
    const size_t at = (size_t)(strstr(answer, "BMW X3") - answer);
    check(text, answer, pairs, n, (const struct dg_span[]){{0, 0}, {at, at + 6}}, 0, wanted);
}

static void kept_words_are_not_replaced(void **state)
{
    (void)state;
    const struct dg_word_pair all[] = {{0, 0}, {0, 1}, {1, 2}}, last[] = {{0, 1}, {0, 2}, {1, 0}};
    expect("`foo` runs.", "BMW X3 rennt.", all, 3, "`foo` BMW X3 rennt.");
    expect("`foo` runs.", "Es rennt BMW X3 er.", last, 2, "Es `foo` BMW X3 er.");
}

static void kept_words_are_not_parted(void **state)
{
    (void)state;
    const struct dg_word_pair pairs[] = {{0, 0}, {0, 1}, {1, 2}, {2, 3}};
    expect("Use `foo` now.", "Nutze BMW X3 jetzt.", pairs, 4, "Nutze BMW X3 `foo` jetzt.");
    expect("Use `foo` now.", "Nutze BMW X3 jetzt.", pairs, 1, "Nutze `foo` BMW X3 jetzt.");
}

/* The prefix "Nutze Fu" remains what the answer begins with. */
static void nothing_comes_before_a_prefix(void **state)
{
    (void)state;
    const struct dg_word_pair pairs[] = {{0, 1}, {1, 0}};
    check("`foo` runs now.", "Nutze Fuß jetzt.", pairs, 2, NULL, 8, "Nutze Fuß `foo` jetzt.");
    check("`foo` runs now.", "Nutze Fuß jetzt.", pairs, 0, NULL, 8, "Nutze Fuß `foo` jetzt.");
    check("`foo` runs now.", "Nutze Fuß", pairs, 2, NULL, 8, "Nutze Fuß `foo`");
    check("`foo` runs now.", "Nutze foo jetzt.", pairs, 2, NULL, 9, "Nutze `foo` jetzt.");
    check("`foo` runs now.", "Nutze Fuß jetzt.", pairs, 2, NULL, 0, "Nutze `foo` jetzt.");
    check("Say(`foo`), now.", "Sag, jetzt.", pairs, 0, NULL, 4, "Sag, `foo` jetzt.");
    /* It is the beginning of the span. */
    check("`foo` runs now.", "Nutze fouo jetzt.", pairs, 2, NULL, 8, "Nutze `foo` jetzt.");
    check("`foo` runs now.", "Nutze fouo jetzt.", pairs, 2, NULL, 9, "Nutze fouo `foo` jetzt.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept_words_are_not_replaced),
        cmocka_unit_test(kept_words_are_not_parted),
        cmocka_unit_test(nothing_comes_before_a_prefix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
