#include "trainer/data/typing.h"

#include "text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS "tests/data/pairs/everyday."

enum { LINES = 60, KEYS = 200 };

static char lines[LINES][256];

static void read_lines(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int i = 0; i < LINES; i++) {
        assert_non_null(fgets(lines[i], sizeof lines[i], f));
        lines[i][strcspn(lines[i], "\n")] = '\0';
    }
    fclose(f);
}

/* Returns the mistyped s; freed by the next call. */
static const char *typed(
    const struct dg_recipe_noise *how, const char *language, const char *s, uint64_t key)
{
    static char out[512];
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_typing(how, language, s, strlen(s), key, &b, NULL), 0);
    assert_true(b.len < sizeof out);
    memcpy(out, b.data ? b.data : "", b.len);
    out[b.len] = '\0';
    dg_buffer_deinit(&b);
    assert_int_equal(dg_utf8_check(out, strlen(out), NULL), 0);
    return out;
}

static void test_nothing_is_mistyped_without_noise(void **state)
{
    (void)state;
    const struct dg_recipe_noise none = {0};
    read_lines(PAIRS "de");
    for (int i = 0; i < LINES; i++)
        assert_string_equal(typed(&none, "de", lines[i], (uint64_t)i), lines[i]);
}

static void test_the_key_alone_decides(void **state)
{
    (void)state;
    const struct dg_recipe_noise how = {.letter_case = 0.3, .typos = 0.2, .merges = 0.1};
    char first[512];
    size_t others = 0;
    read_lines(PAIRS "de");
    for (uint64_t i = 0; i < LINES; i++) {
        strcpy(first, typed(&how, "de", lines[i], i));
        assert_string_equal(typed(&how, "de", lines[i], i), first);
        others += strcmp(typed(&how, "de", lines[i], i + 1000), first) != 0;
    }
    assert_true(others > LINES / 2);
}

/* Only blanks are left out, at the given rate. */
static void test_merged_words(void **state)
{
    (void)state;
    const struct dg_recipe_noise how = {.merges = 0.1};
    size_t blanks = 0, left = 0;
    read_lines(PAIRS "en");
    for (uint64_t i = 0; i < LINES; i++)
        for (uint64_t key = 0; key < KEYS; key++) {
            const char *got = typed(&how, "en", lines[i], key * LINES + i);
            for (const char *s = lines[i]; *s; s++) {
                blanks += *s == ' ';
                left += *s == ' ' && *got == ' ';
                if (*s == *got)
                    got++;
                else
                    assert_int_equal(*s, ' ');
            }
            assert_int_equal(*got, '\0');
        }
    const double share = 1 - (double)left / (double)blanks; /* of 80,000 blanks: 0.1 +- 0.001 */
    assert_true(share > 0.095 && share < 0.105);
}

/* Every way to mistype one word once: "Bahn" has 3 swaps, 4 letters to leave out, 4 to double, and
 * the keys beside each of its letters. */
static void test_slips_of_a_word(void **state)
{
    (void)state;
    static const char *const wanted[] = {"aBhn", "Bhan", "Banh", "ahn", "Bhn", "Ban", "Bah",
        "BBahn", "Baahn", "Bahhn", "Bahnn", "Vahn", "Nahn", "Bshn", "Bagn", "Bajn", "Bahb", "Bahm"};
    enum { WANTED = sizeof wanted / sizeof wanted[0] };
    const struct dg_recipe_noise how = {.typos = 1};
    bool seen[WANTED] = {false};
    for (uint64_t key = 0; key < 2000; key++) {
        const char *got = typed(&how, "de", "Bahn", key);
        size_t k = 0;
        while (k < WANTED && strcmp(wanted[k], got) != 0)
            k++;
        if (k == WANTED)
            fail_msg("Bahn became %s", got);
        seen[k] = true;
    }
    for (size_t k = 0; k < WANTED; k++)
        if (!seen[k])
            fail_msg("Bahn never became %s", wanted[k]);
}

static size_t times(const char *language, const char *word, const char *wanted)
{
    const struct dg_recipe_noise how = {.typos = 1};
    size_t n = 0;
    for (uint64_t key = 0; key < 2000; key++)
        n += !strcmp(typed(&how, language, word, key), wanted);
    return n;
}

/* z is beside t on a German keyboard, y on an English one; a beside z on a French one. */
static void test_keyboards(void **state)
{
    (void)state;
    assert_true(times("de", "test", "zest") > 20 && times("de", "test", "yest") == 0);
    assert_true(times("en", "test", "yest") > 20 && times("en", "test", "zest") == 0);
    assert_true(times("de-AT", "test", "zest") > 20);
    assert_true(times("fr", "zone", "aone") > 20 && times("en", "zone", "aone") == 0);
    /* An umlaut has no neighbouring key: it is left out, swapped or doubled as a whole
     * character. */
    assert_true(times("de", "Tür", "Tür") == 2000); /* three letters: unchanged */
    assert_true(times("de", "über", "ber") > 50 && times("de", "über", "üüber") > 50);
}

/* Words of four letters or more have a slip at the given rate; short words and numbers have
 * none. */
static void test_share_of_slips(void **state)
{
    (void)state;
    const struct dg_recipe_noise how = {.typos = 0.05};
    size_t changed = 0;
    for (uint64_t key = 0; key < 20000; key++) {
        const char *got = typed(&how, "en", "a cat 12345 it sleeps", key);
        assert_int_equal(strncmp(got, "a cat 12345 it ", 15), 0);
        changed += strcmp(got, "a cat 12345 it sleeps") != 0;
    }
    /* 1,000 of 20,000 expected, less those that double and swap equal letters (1 of 24) */
    assert_true(changed > 850 && changed < 1100);
}

static void test_letter_case(void **state)
{
    (void)state;
    const struct dg_recipe_noise how = {.letter_case = 1};
    const char *s = "Öffnen Sie das Fenster in Köln!";
    size_t small = 0, first = 0, title = 0;
    for (uint64_t key = 0; key < 2000; key++) {
        const char *got = typed(&how, "de", s, key);
        small += !strcmp(got, "öffnen sie das fenster in köln!");
        first += !strcmp(got, "öffnen Sie das Fenster in Köln!");
        title += !strcmp(got, "Öffnen Sie Das Fenster In Köln!");
    }
    assert_int_equal(small + first + title, 2000);
    assert_true(small > 900 && small < 1100 && first > 430 && first < 570);
    const struct dg_recipe_noise seldom = {.letter_case = 0.1};
    small = 0;
    for (uint64_t key = 0; key < 20000; key++)
        small += strcmp(typed(&seldom, "de", s, key), s) != 0;
    assert_true(small > 1850 && small < 2150);
}

static void test_reserved_pieces_stay(void **state)
{
    (void)state;
    const struct dg_recipe_noise how = {.letter_case = 1, .typos = 1, .merges = 1};
    for (uint64_t key = 0; key < 500; key++) {
        const char *got = typed(&how, "en", "Open \x0e and \x11 now please", key);
        const char *a = strstr(got, " \x0e "), *b = strstr(got, " \x11 ");
        assert_true(a && b && a < b);
        assert_null(strchr(b + 3, ' ')); /* all other blanks are gone */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_mistyped_without_noise),
        cmocka_unit_test(test_the_key_alone_decides),
        cmocka_unit_test(test_merged_words),
        cmocka_unit_test(test_slips_of_a_word),
        cmocka_unit_test(test_keyboards),
        cmocka_unit_test(test_share_of_slips),
        cmocka_unit_test(test_letter_case),
        cmocka_unit_test(test_reserved_pieces_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
