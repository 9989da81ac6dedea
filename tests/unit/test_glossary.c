/* Finding a glossary's entries in a text. */
#include "text/glossary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct dg_glossary *make(const char *const (*entries)[2], size_t n)
{
    struct dg_glossary_entry list[16];
    struct dg_glossary *g = NULL;
    struct dg_error err = {0};
    for (size_t i = 0; i < n; i++)
        list[i] = (struct dg_glossary_entry){
            entries[i][0], entries[i][1], strlen(entries[i][0]), strlen(entries[i][1])};
    if (dg_glossary_make(list, n, &g, &err))
        fail_msg("%s", err.message);
    return g;
}

/* Compares the matches, shown as "begin-end:target " one after another. */
static void expect(const struct dg_glossary *g, const char *text, const char *wanted)
{
    struct dg_glossary_match found[8];
    char said[512] = "";
    const size_t n = dg_glossary_find(g, text, strlen(text), found, 8);
    for (size_t i = 0; i < n; i++)
        snprintf(said + strlen(said), sizeof said - strlen(said), "%zu-%zu:%s ", found[i].begin,
            found[i].end, found[i].target);
    assert_string_equal(said, wanted);
}

static void whole_words_the_longest_first(void **state)
{
    (void)state;
    static const char *const entries[][2] = {{"dog", "Hund"}, {"hot dog", "Hot Dog"},
        {"dog", "Dackel"}, {"C++", "C plus plus"}, {"5 mm", "5 Millimeter"}};
    struct dg_glossary *g = make(entries, 5);
    assert_int_equal(dg_glossary_size(g), 5);
    expect(g, "dog", "0-3:Dackel "); /* the last one counts */
    expect(g, "A dog, a hot dog.", "2-5:Dackel 9-16:Hot Dog ");
    expect(g, "dogs hotdog dog2 bull-dog", "22-25:Dackel ");
    expect(g, "C++ (C++), not C+", "0-3:C plus plus 5-8:C plus plus ");
    expect(g, "15 mm, 5 mm", "7-11:5 Millimeter ");
    expect(g, "", "");
    dg_glossary_unref(g);
}

static void small_letters_fit_capitals(void **state)
{
    (void)state;
    static const char *const entries[][2] = {
        {"march", "Marsch"}, {"March", "März"}, {"US", "USA"}, {"\xc3\xa4rger", "anger"}};
    struct dg_glossary *g = make(entries, 4);
    expect(g, "march March MARCH", "0-5:Marsch 6-11:M\xc3\xa4rz 12-17:Marsch ");
    expect(g, "us US Us", "3-5:USA ");
    expect(g, "\xc3\x84rger \xc3\x84RGER", "0-6:anger 7-13:anger ");
    dg_glossary_unref(g);
}

/* Editors write other apostrophes, hyphens and white space than lists of terms have. */
static void signs_that_programs_exchange(void **state)
{
    (void)state;
    static const char *const entries[][2] = {{"user's account", "Konto"}, {"e-mail", "Post"},
        {"l\u2019eau", "Wasser"}, {"log  in", "anmelden"}, {"'em", "sie"}};
    struct dg_glossary *g = make(entries, 5);
    expect(g, "The user\u2019s account", "4-20:Konto ");
    expect(g, "user\u2019s\n  account", "0-18:Konto ");
    expect(g, "user's\u00a0account, users account", "0-15:Konto ");
    expect(g, "E\u2011mail e\u2010mail e-mail e mail", "0-8:Post 9-17:Post 18-24:Post ");
    expect(g, "l'eau", "0-5:Wasser ");
    expect(g, "Log in, log\t\nin, login", "0-6:anmelden 8-15:anmelden ");
    expect(g, "\u2019em", "0-5:sie ");
    dg_glossary_unref(g);
}

static void scripts_without_blanks(void **state)
{
    (void)state;
    /* 東京 in 東京都 */
    static const char *const entries[][2] = {{"\xe6\x9d\xb1\xe4\xba\xac", "Tokyo"}};
    struct dg_glossary *g = make(entries, 1);
    expect(g, "\xe6\x9d\xb1\xe4\xba\xac\xe9\x83\xbd", "0-6:Tokyo ");
    dg_glossary_unref(g);
}

static void texts_are_checked(void **state)
{
    (void)state;
    struct dg_glossary *g = NULL;
    struct dg_error err = {0};
    struct dg_glossary_entry e[2] = {{"a", "b", 1, 1}, {" ", "b", 1, 1}};
    assert_int_equal(dg_glossary_make(e, 2, &g, &err), DG_EINVAL);
    assert_string_equal(err.message, "entry 2: its source has 0 bytes, expected 1 to 1024");
    dg_error_clear(&err);
    e[1] = (struct dg_glossary_entry){"a", "\xff", 1, 1};
    assert_int_equal(dg_glossary_make(e, 2, &g, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "entry 2: its target"));
    dg_error_clear(&err);
    e[1] = (struct dg_glossary_entry){"a", "b", 2000, 1};
    assert_int_equal(dg_glossary_make(e, 2, &g, &err), DG_EINVAL);
    assert_null(g);
}

static void terms_appear_as_words(void **state)
{
    (void)state;
    const char *s = "Der Hund, hund und Hunde.";
    const size_t n = strlen(s);
    size_t begin = n;
    assert_int_equal(dg_glossary_appears(s, n, 0, "Hund", 4, false, &begin), 8);
    assert_int_equal(begin, 4);
    assert_int_equal(dg_glossary_appears(s, n, 8, "Hund", 4, false, &begin), 0);
    assert_int_equal(dg_glossary_appears(s, n, 8, "Hund", 4, true, &begin), 14);
    assert_int_equal(dg_glossary_appears(s, n, 0, "Hunde.", 6, false, &begin), n);
}

static bool opens(const char *s, bool after_blank)
{
    return dg_glossary_opens(s, strlen(s), after_blank);
}

/* Where German, English, French, Spanish, Chinese and Japanese begin a word without a blank. */
static void words_begin_after_opening_marks(void **state)
{
    static const char *const open[] = {"(", "[", "{", "\u201e", "\u201a", "well-", "\u2011", "und/",
        "l'", "l\u2019", "\u00bf", "\u00a1", "\u4e2d", "\u3002", "\uff0c", "\u300c", "\u00a0"};
    static const char *const shut[] = {".", ",", "!", "?", ":", ";", ")", "]", "%", "dog", "7",
        "</s>", "<0xE2>", "\u2026", "\u2013", "...", "\xff"};
    static const char *const quotes[] = {"\"", "\u201c", "\u201d", "\u00ab", "\u00bb"};
    char text[16];
    (void)state;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        assert_true(opens(open[i], false) && opens(open[i], true));
    for (size_t i = 0; i < sizeof shut / sizeof *shut; i++)
        assert_false(opens(shut[i], false) || opens(shut[i], true));
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        assert_true(opens(quotes[i], true));
        assert_false(opens(quotes[i], false));
        snprintf(text, sizeof text, "(%s", quotes[i]);
        assert_true(opens(text, false));
        snprintf(text, sizeof text, ".%s", quotes[i]);
        assert_false(opens(text, true));
    }
    assert_true(opens("", true));
    assert_false(opens("", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_words_the_longest_first),
        cmocka_unit_test(small_letters_fit_capitals),
        cmocka_unit_test(signs_that_programs_exchange),
        cmocka_unit_test(scripts_without_blanks),
        cmocka_unit_test(texts_are_checked),
        cmocka_unit_test(terms_appear_as_words),
        cmocka_unit_test(words_begin_after_opening_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
