/* Names that are replaced by others of a list: which ones, by which, and what a list must look
 * like. */
#include "trainer/align/variants.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/dg-names-XXXXXX";

static struct dg_recipe *recipe(const char *target, const char *forms)
{
    struct dg_recipe *r = NULL;
    struct dg_error err = {0};
    char text[512];
    snprintf(text, sizeof text,
        "{\"preset\":\"small\",\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"%s\","
        "\"train\":[{\"source\":\"a\",\"target\":\"b\"}]}],"
        "\"names\":[{\"file\":\"%s\",\"forms\":%s}]}}",
        target, path, forms);
    if (dg_recipe_parse(text, strlen(text), "", "", &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static void write_list(const char *text)
{
    struct dg_error err = {0};
    assert_int_equal(dg_file_write(path, text, strlen(text), &err), 0);
}

static struct dg_names *open_list(const struct dg_recipe *r)
{
    struct dg_names *n = NULL;
    struct dg_error err = {0};
    if (dg_names_open(r, path, &n, &err))
        fail_msg("%s", err.message);
    return n;
}

/* The pair's form as "source|target", or "". */
static const char *replaced(
    const struct dg_names *n, const char *source, const char *target, uint64_t round)
{
    static char out[512];
    struct dg_buffer text[2];
    const struct dg_pair p = {.source = source,
        .source_len = (uint32_t)strlen(source),
        .target = target,
        .target_len = (uint32_t)strlen(target),
        .item = 7};
    for (int i = 0; i < 2; i++)
        dg_buffer_init(&text[i]);
    out[0] = '\0';
    struct dg_name_places places;
    dg_names_find(n, &p, &places);
    if (dg_names_replace(n, &p, &places, round, text))
        snprintf(out, sizeof out, "%.*s|%.*s", (int)text[0].len, text[0].data, (int)text[1].len,
            text[1].data);
    for (int i = 0; i < 2; i++)
        dg_buffer_deinit(&text[i]);
    return out;
}

static void test_another_name(void **state)
{
    (void)state;
    write_list("kind\ten\tde\tfr\n"
               "place\tMunich\tMünchen\tMunich\n"
               "place\tNew York\n"
               "woman\tFlorence\n"
               "place\tFlorence\tFlorenz\tFlorence\n"
               "place\tAthens\tAthen\tAthènes\n"
               "place\tCairo\tKairo\t\n"
               "woman\tSophie\n");
    struct dg_recipe *r = recipe("de", "1");
    struct dg_names *n = open_list(r);
    int seen = 0;
    for (uint64_t round = 0; round < 40; round++) {
        const char *got = replaced(n, "I live in Munich.", "Ich wohne in München.", round);
        const char *const all[] = {"I live in New York.|Ich wohne in New York.",
            "I live in Florence.|Ich wohne in Florenz.", "I live in Cairo.|Ich wohne in Kairo."};
        int which = -1;
        for (int i = 0; i < 3; i++)
            which = strcmp(got, all[i]) ? which : i;
        assert_true(which >= 0);
        seen |= 1 << which;
    }
    assert_int_equal(seen, 7);
    /* The target tells which Florence it is; one other woman's name begins with a consonant. */
    assert_string_equal(replaced(n, "Florence's cat", "Die Katze von Florence", 0),
        "Sophie's cat|Die Katze von Sophie");
    /* Athens begins with a vowel, as no other place does. */
    assert_string_equal(replaced(n, "In Athens.", "In Athen.", 0), "");
    /* Not the whole word; only on one side; twice; in capitals. */
    assert_string_equal(replaced(n, "The Munich-based firm", "Die Firma aus München", 0), "");
    assert_string_equal(replaced(n, "Munichs", "München", 0), "");
    assert_string_equal(replaced(n, "New York2", "New York2", 0), "");
    assert_string_equal(replaced(n, "Neo-Florence", "Neo-Florenz", 0), "");
    assert_string_equal(replaced(n, "Munich", "die Stadt", 0), "");
    assert_string_equal(replaced(n, "Munich is Munich", "München ist es", 0), "");
    assert_string_equal(replaced(n, "MUNICH", "MÜNCHEN", 0), "");
    dg_names_close(n);
    dg_recipe_free(r);
}

static void test_two_names(void **state)
{
    (void)state;
    write_list("kind\ten\tde\nman\tTom\nman\tJohn\nman\tPaul\nman\tKarl\n");
    struct dg_recipe *r = recipe("de", "1");
    struct dg_names *n = open_list(r);
    for (uint64_t round = 0; round < 20; round++) {
        char left[2][32], right[2][32];
        const char *got = replaced(n, "Tom saw John.", "John wurde von Tom gesehen.", round);
        assert_int_equal(sscanf(got, "%31s saw %31[^.].|%31s wurde von %31s", left[0], left[1],
                             right[0], right[1]),
            4);
        assert_string_equal(left[0], right[1]);
        assert_string_equal(left[1], right[0]);
        assert_string_not_equal(left[0], left[1]);
        assert_true(strcmp(left[0], "Tom") && strcmp(left[1], "John") && strcmp(left[1], "Tom"));
    }
    dg_names_close(n);
    dg_recipe_free(r);
}

/* 2.5 forms: two of each pair, and a third of half of them. */
static void test_how_many(void **state)
{
    (void)state;
    enum { PAIRS = 1000 };
    struct dg_pair form, p = {.source = "Tom?", .source_len = 4, .target = "Tom!", .target_len = 4};
    struct dg_variants v;
    size_t made = 0;
    write_list("kind\ten\tde\nman\tTom\nman\tJohn\nman\tPaul\nman\tKarl\n");
    struct dg_recipe *r = recipe("de", "2.5");
    struct dg_names *n = open_list(r);
    dg_variants_init(&v, r, &n);
    assert_true(dg_variants_wanted(r));
    for (p.item = 0; p.item < PAIRS; p.item++) {
        int got;
        for (int kind = 0; (got = dg_variants_make(&v, &p, kind, &form, NULL)); kind++)
            made += got == 1;
    }
    assert_in_range(made, 2400, 2600);
    dg_variants_deinit(&v);
    dg_names_close(n);
    dg_recipe_free(r);
}

static void test_faulty_lists(void **state)
{
    static const struct {
        const char *text, *target, *said;
    } cases[] = {{"", "de", "is empty"},
        {"place\tMunich\n", "de", "the first line must be \"kind\""},
        {"kind\ten\tfr\n", "de", "has no column for de"},
        {"kind\ten\tde\nplace\tMunich\nplace\n", "de", "line 3 must have a kind and a name"},
        {"kind\ten\tde\n\tMunich\n", "de", "line 2 must"},
        {"kind\ten\tde\tfr\nplace\tMunich\tMünchen\n", "de", "for each of the 3 languages"},
        {"kind\ten\tde\nplace\t\xff\n", "de", "UTF-8"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error err = {0};
        struct dg_names *n = NULL;
        struct dg_recipe *r = recipe(cases[i].target, "1");
        write_list(cases[i].text);
        assert_true(dg_names_open(r, path, &n, &err) < 0);
        assert_null(n);
        if (!strstr(err.message, cases[i].said))
            fail_msg("%zu: %s", i, err.message);
        dg_recipe_free(r);
    }
}

/* The trainer's own lists, for all pairs of languages that they have. */
static void test_shipped_lists(void **state)
{
    static const char *const lists[] = {
        "places", "countries", "people", "nouns", "plurals", "adjectives", "verbs"};
    static const char *const pairs[][2] = {{"I live in Munich.", "Ich wohne in München."},
        {"I come from Poland.", "Ich komme aus Polen."}, {"Dear Sabine", "Liebe Sabine"},
        {"the dog", "der Hund"}, {"two dogs", "zwei Hunde"}, {"It is cheap.", "Das ist billig."},
        {"I want to read.", "Ich will lesen."}};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char shipped[128];
        struct dg_names *n = NULL;
        struct dg_error err = {0};
        struct dg_recipe *german = recipe("de", "1"), *french = recipe("fr", "1");
        snprintf(shipped, sizeof shipped, "trainer/recipes/names/%s.tsv", lists[i]);
        if (dg_names_open(french, shipped, &n, &err))
            fail_msg("%s", err.message);
        dg_names_close(n);
        if (dg_names_open(german, shipped, &n, &err))
            fail_msg("%s", err.message);
        assert_string_not_equal(replaced(n, pairs[i][0], pairs[i][1], 0), "");
        dg_names_close(n);
        dg_recipe_free(german);
        dg_recipe_free(french);
    }
}

static int make_file(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_name),
        cmocka_unit_test(test_two_names),
        cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_faulty_lists),
        cmocka_unit_test(test_shipped_lists),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
