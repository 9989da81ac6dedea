/* translate/answer/answer.h: which words of a sentence tell its language, and which of an answer
 * are copied. */
#include "translate/answer/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct dg_translator translator;

static int open_alphabet(void **state)
{
    (void)state;
    translator.alphabet = dg_alphabet_open();
    return !translator.alphabet;
}

static int close_alphabet(void **state)
{
    (void)state;
    dg_alphabet_close(translator.alphabet);
    return 0;
}

/* The sentence `text`, which the model sees as it is. */
struct sentence {
    struct dg_job job;
    struct dg_part part;
    struct dg_mark mark;
};

/* Set up a sentence in which `span` is protected; NULL: nothing is. */
static void make(struct sentence *s, const char *language, const char *text, const char *span)
{
    static char copy[200];
    const size_t n = strlen(text), at = span ? (size_t)(strstr(text, span) - text) : 0;
    memcpy(copy, text, n + 1);
    *s = (struct sentence){.job = {.t = &translator, .from = language, .text = copy, .len = n},
        .part = {.end = n, .shown = {.text = copy, .len = n, .n_marks = span != NULL}},
        .mark = {.kind = DG_MARK_PROTECTED, .at = at, .begin = at}};
    s->job.to = strcmp(language, "en") == 0 ? "de" : "en";
    s->mark.len = span ? strlen(span) : 0;
    s->mark.end = at + s->mark.len;
    s->part.shown.marks = &s->mark;
}

static bool looks_foreign(const char *language, const char *text, const char *span)
{
    struct sentence s;
    make(&s, language, text, span);
    return dg_part_looks_foreign(&s.job, &s.part);
}

static void only_words_have_a_language(void **state)
{
    (void)state;
    static const char *const german =
                                 "Lesen Sie the quick brown fox jumps over the lazy dog jetzt.",
                             *const russian = "Два пса играют в снегу.";
    assert_true(looks_foreign("de", german, NULL));
    assert_false(looks_foreign("de", german, "the quick brown fox jumps over the lazy dog"));
    assert_false(looks_foreign("en", "Two dogs play in the snow.", "Two dogs play in the snow."));
    assert_true(looks_foreign("de", "Two dogs play in the snow.", "snow"));
    /* Words whose letters the model lacks are protected, but they are words. */
    assert_true(looks_foreign("en", russian, NULL));
    assert_true(looks_foreign("en", russian, "Два пса играют в снегу"));
}

static bool has_copied(const char *text, const char *span, const char *answer, const char *term)
{
    struct sentence s;
    const struct dg_glossary_match wanted = {.target = term, .target_len = term ? strlen(term) : 0};
    make(&s, "en", text, span);
    s.part.wanted = (struct dg_wanted_terms){.list = &wanted, .n = term != NULL};
    struct dg_draft d = {.from = "en", .to = s.job.to, .wanted = &s.part.wanted};
    dg_buffer_adds(&d.text, answer);
    dg_draft_find_terms(&d);
    const bool copied = dg_part_has_copied(&s.job, &s.part, &d);
    dg_buffer_deinit(&d.text);
    return copied;
}

static void only_words_are_copied(void **state)
{
    (void)state;
    assert_true(has_copied("The amount is high.", NULL, "Der amount ist hoch.", NULL));
    assert_false(has_copied("The amount is high.", NULL, "Der amount ist hoch.", "amount"));
    assert_true(has_copied("The amount is high.", NULL, "Der amount, der amount.", "amount"));
    assert_false(
        has_copied("The total is {amount}.", "{amount}", "Der Betrag ist {amount}.", NULL));
    assert_true(has_copied("The amount is {amount}.", "{amount}", "Der amount ist XX1.", NULL));
    assert_false(has_copied("The amount is high.", NULL, "", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_words_have_a_language), cmocka_unit_test(only_words_are_copied)};
    return cmocka_run_group_tests(tests, open_alphabet, close_alphabet);
}
