/* Finding a glossary's entries in a text. */
#include "text/glossary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Bytes of s from `at` on that match the term as a whole word; 0: it does not match. Of ASCII. */
static size_t matches(const char *s, size_t at, const char *term, bool any_case)
{
    size_t i = at, k = 0;
    for (; term[k]; i++, k++) {
        if (s[i] != term[k] && !(any_case && s[i] && tolower(s[i]) == term[k]))
            return 0;
        while (s[i] == ' ' && s[i + 1] == ' ')
            i++;
        while (term[k] == ' ' && term[k + 1] == ' ')
            k++;
    }
    return isalnum(s[i - 1]) && isalnum(s[i]) ? 0 : i - at;
}

/* The target of the entry that dg_glossary_find should find at a token, by trying all of them. */
static const char *try_all(const char (*terms)[8], const char (*targets)[8], size_t n,
    const char *text, size_t at, size_t *len)
{
    const char *best = NULL;
    size_t best_size = 0;
    bool best_exact = false;
    *len = 0;
    for (size_t i = 0; i < n; i++) {
        bool small = true;
        for (size_t k = 0; terms[i][k]; k++)
            small = small && !isupper(terms[i][k]);
        const size_t exact = matches(text, at, terms[i], false), size = strlen(terms[i]),
                     got = small ? matches(text, at, terms[i], true) : exact;
        if (!got || got < *len || (got == *len && best_exact && !exact) ||
            (got == *len && best_exact == (exact > 0) && best_size > size))
            continue;
        best = targets[i];
        best_size = size;
        best_exact = exact > 0;
        *len = got;
    }
    return best;
}

/* Random glossaries and texts: the search finds the same entries as a comparison with each of them.
 */
static void as_by_trying_all(void **state)
{
    (void)state;
    static const char signs[] = "abAB  --1";
    srand(7);
    for (int round = 0; round < 4000; round++) {
        char terms[12][8], targets[12][8], text[40], wanted[1024] = "", said[1024] = "";
        struct dg_glossary_entry list[12];
        struct dg_glossary_match found[40];
        struct dg_glossary *g = NULL;
        for (size_t i = 0; i < 12; i++) {
            const size_t n = 1 + (size_t)rand() % 5;
            for (size_t k = 0; k < n; k++)
                do
                    terms[i][k] = signs[(size_t)rand() % (sizeof signs - 1)];
                while (terms[i][k] == ' ' && (k == 0 || k + 1 == n));
            terms[i][n] = '\0';
            snprintf(targets[i], sizeof targets[i], "%zu", i);
            list[i] = (struct dg_glossary_entry){terms[i], targets[i], n, strlen(targets[i])};
        }
        for (size_t k = 0; k + 1 < sizeof text; k++)
            text[k] = signs[(size_t)rand() % (sizeof signs - 1)];
        text[sizeof text - 1] = '\0';
        assert_int_equal(dg_glossary_make(list, 12, &g, NULL), DG_OK);
        const size_t n = dg_glossary_find(g, text, strlen(text), found, 40);
        for (size_t i = 0; i < n; i++)
            snprintf(said + strlen(said), sizeof said - strlen(said), "%zu-%zu:%.*s ",
                found[i].begin, found[i].end, (int)found[i].target_len, found[i].target);
        for (size_t at = 0, len; text[at]; at += len ? len : 1) {
            const char *target = NULL;
            len = 0;
            if (at == 0 || !isalnum(text[at - 1]) || !isalnum(text[at]))
                target = try_all(terms, targets, 12, text, at, &len);
            if (target)
                snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%zu-%zu:%s ", at,
                    at + len, target);
        }
        assert_string_equal(said, wanted);
        dg_glossary_unref(g);
    }
}

/* Entries that begin with the same words: all of them were compared at each word of the text. */
static void many_entries_begin_alike(void **state)
{
    (void)state;
    enum { ENTRIES = 50000, WORDS = 10000 };
    static char terms[ENTRIES][16], text[2 * WORDS + 1];
    struct dg_glossary_entry *list = calloc(ENTRIES, sizeof *list);
    struct dg_glossary_match found[2];
    struct dg_glossary *g = NULL;
    assert_non_null(list);
    for (size_t i = 0; i < ENTRIES; i++) {
        const int n = snprintf(terms[i], sizeof terms[i], "a a x%zu", i);
        list[i] = (struct dg_glossary_entry){terms[i], terms[i], (size_t)n, (size_t)n};
    }
    for (size_t i = 0; i < WORDS; i++)
        memcpy(text + 2 * i, "a ", 2);
    assert_int_equal(dg_glossary_make(list, ENTRIES, &g, NULL), DG_OK);
    const clock_t before = clock();
    assert_int_equal(dg_glossary_find(g, text, 2 * WORDS, found, 2), 0);
    assert_true(clock() - before < 3 * CLOCKS_PER_SEC);
    expect(g, "a a a x31", "2-9:a a x31 ");
    dg_glossary_unref(g);
    free(list);
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
        cmocka_unit_test(as_by_trying_all),
        cmocka_unit_test(many_entries_begin_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
