/* translate/layout/places.c: pairs of marks that begin within a word, as in
 * <b>two</b>/<i>three</i>, with no white space between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "translate/layout/decorate.h"

#define MOST_MARKS 8

/* Checks how the marks of a page of one unit go around an answer. */
static void check(const char *text, const char *answer, const struct dg_word_pair *pairs, size_t n,
    const char *wanted)
{
    struct dg_document doc;
    struct dg_arena arena;
    struct dg_buffer out;
    struct dg_mark_bytes bytes[MOST_MARKS];
    dg_arena_init(&arena, 0);
    dg_buffer_init(&out);
    assert_int_equal(dg_document_open(text, strlen(text), DG_FORMAT_HTML, &doc, NULL), 0);
    assert_true(doc.n_units == 1 && doc.n_marks <= MOST_MARKS);
    for (size_t i = 0; i < doc.n_marks; i++)
        bytes[i] = (struct dg_mark_bytes){
            text + doc.marks[i].begin, doc.marks[i].end - doc.marks[i].begin};
    const struct dg_decoration d = {.bytes = bytes,
        .text = doc.text.data,
        .len = doc.units[0].end,
        .marks = doc.marks,
        .n = doc.n_marks,
        .answer = answer,
        .answer_len = strlen(answer),
        .pairs = pairs,
        .n_pairs = n};
    assert_true(dg_decorate(&d, &arena, &out, NULL));
    assert_string_equal(out.data, wanted);
    dg_buffer_deinit(&out);
    dg_arena_deinit(&arena);
    dg_document_close(&doc);
}

/* Words: Two, dogsplay, in, snow. The second belongs to both pairs. */
static const struct dg_word_pair snow[] = {{0, 0}, {1, 1}, {1, 2}, {2, 3}, {3, 4}};
static const char zwei[] = "Zwei Hunde spielen im Schnee.";

static void later_pair_takes_what_is_left(void **state)
{
    (void)state;
    check("<b>Two dogs</b><i>play in snow.</i>", zwei, snow, 5,
        "<b>Zwei Hunde spielen</b> <i>im Schnee.</i>");
    /* Words: Dogs/cats, sleep. */
    const struct dg_word_pair cats[] = {{0, 1}, {0, 2}, {1, 0}};
    check("<b>Dogs</b>/<i>cats sleep</i>", "Es schlafen Hunde/Katzen", cats, 3,
        "<i>Es</i> <b>schlafen Hunde/Katzen</b>");
}

static void what_is_within_it_goes_with_it(void **state)
{
    (void)state;
    check("<b>Two dogs</b><i><u>play in</u> snow.</i>", zwei, snow, 5,
        "<b>Zwei Hunde spielen</b> <i><u>im</u> Schnee.</i>");
    check("<b>Two dogs</b><i><wbr>play in snow.</i>", zwei, snow, 5,
        "<b>Zwei Hunde spielen</b> <i><wbr>im Schnee.</i>");
}

/* A protected span glued to a pair is part of the same word: the pair has the rest of it. */
static void pair_beside_a_protected_span(void **state)
{
    (void)state;
    const struct dg_word_pair here[] = {{0, 0}, {1, 1}, {2, 2}};
    check("<b>Note:</b><i><code>x</code> is here.</i>", "Hinweis:x ist hier.", here, 3,
        "<b>Hinweis:</b><i><code>x</code> ist hier.</i>");
    check("<b>Note:</b><code>x</code> is here.", "Hinweis:x ist hier.", here, 3,
        "<b>Hinweis:</b><code>x</code> ist hier.");
    check("<code>x</code><b>-ray</b> is here.", "x-Bild ist hier.", here, 3,
        "<code>x</code><b>-Bild</b> ist hier.");
}

/* Where nothing is left, its own text stays. */
static void pair_without_words_keeps_its_text(void **state)
{
    (void)state;
    const struct dg_word_pair one[] = {{0, 0}, {1, 0}};
    check("<b>Dogs a</b>/<i>b</i>", "Hunde", one, 2, "<b>Hunde</b> <i>b</i>");
}

/* A piece of a word whose translation another pair has is not written beside it. */
static void pieces_of_one_word(void **state)
{
    (void)state;
    const struct dg_word_pair dogs[] = {{0, 0}, {1, 1}, {2, 2}};
    check("Two d<b>o</b><i>gs</i> play.", "Zwei Hunde spielen.", dogs, 3,
        "Zwei <b>Hunde</b> spielen.<i></i>");
    const struct dg_word_pair health[] = {{0, 0}, {1, 0}};
    check("<b>H</b><i>ealth</i> <u>O</u>rder", "Gesundheitsordnung", health, 2,
        "<b>Gesundheitsordnung</b><i></i><u></u>");
    const struct dg_word_pair one[] = {{0, 0}};
    check("<b>D</b><i><u>o</u>gs</i>", "Hunde", one, 1, "<b>Hunde</b><i><u></u></i>");
    check("<b>\u00c4</b><i>\u00e4r</i>", "Hunde", one, 1, "<b>Hunde</b><i></i>");
    check("<b>Note</b><i>s<code>x</code></i>", "Hinweise", one, 1,
        "<b>Hinweise</b> <i>s<code>x</code></i>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(later_pair_takes_what_is_left),
        cmocka_unit_test(what_is_within_it_goes_with_it),
        cmocka_unit_test(pair_beside_a_protected_span),
        cmocka_unit_test(pair_without_words_keeps_its_text), cmocka_unit_test(pieces_of_one_word)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
