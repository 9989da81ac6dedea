/* trainer/align/dictionary.h, and the words of text/words.h that it is built from. */
#include "text/words.h"
#include "trainer/align/dictionary.h"
#include "trainer/data/clean.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Compares the words found: each in <>, or in () if it does not stand alone. */
static void expect_words(const char *text, const char *wanted)
{
    char found[512] = "";
    size_t n = strlen(text), begin;
    bool alone;
    for (size_t end = 0; (end = dg_word_next(text, n, end, &begin, &alone)) > 0;) {
        assert_true(begin < end && end <= n);
        strcat(found, alone ? "<" : "(");
        strncat(found, text + begin, end - begin);
        strcat(found, alone ? ">" : ")");
    }
    assert_string_equal(found, wanted);
}

static void words(void **state)
{
    (void)state;
    expect_words("", "");
    expect_words("12, 13!", "");
    expect_words("Where's the \"T-shirt\", Zoë?", "(Where)(s)<the>(T)(shirt)<Zoë>");
    expect_words("l’eau (froide), 3rd B12", "(l)(eau)<froide>(rd)(B)");
    expect_words("a@b.org", "(a)(b)<org>");
    expect_words("日本 e\xCC\x81te\xCC\x81.", "<日本><e\xCC\x81te\xCC\x81>");
    expect_words("x", "<x>");
}

static void add(struct dg_pairs *p, uint32_t pair, const char *source, const char *target)
{
    const struct dg_pair x = {.pair = pair,
        .source = source,
        .target = target,
        .source_len = (uint32_t)strlen(source),
        .target_len = (uint32_t)strlen(target),
        .weight = 1};
    assert_int_equal(dg_pairs_add(p, &x, NULL), 0);
}

/* Adds all triples of these words as pairs; the first word has a capital letter. */
static void add_corpus(struct dg_pairs *p)
{
    static const char *const en[] = {"house", "green", "river", "Berlin", "bicycle", "don't"};
    static const char *const de[] = {"Haus", "grün", "Fluss", "Berlin", "Fahrrad", "nicht's"};
    enum { N = sizeof en / sizeof *en };
    for (size_t i = 0; i < N * N * N; i++) {
        size_t a = i % N, b = i / N % N, c = i / N / N;
        char source[128], target[128];
        snprintf(source, sizeof source, "%s %s, %s.", en[a], en[b], en[c]);
        snprintf(target, sizeof target, "%s %s, %s.", de[a], de[b], de[c]);
        source[0] = (char)(source[0] & ~0x20);
        target[0] = (char)(target[0] & ~0x20);
        add(p, 0, source, target);                              /* number 2 * i */
        add(p, 1, "other other other", "andere andere andere"); /* of another pair of languages */
    }
    add(p, 0, "seldom", "selten");
}

static void expect_entries(const struct dg_dictionary *d, const char *wanted)
{
    char found[1024] = "";
    for (size_t i = 0; i < dg_dictionary_count(d); i++) {
        const struct dg_dictionary_entry e = dg_dictionary_at(d, i);
        size_t at = strlen(found);
        snprintf(found + at, sizeof found - at, "%.*s%s%.*s ", (int)e.source_len, e.source,
            e.there && e.back ? "="
            : e.there         ? ">"
                              : "<",
            (int)e.target_len, e.target);
    }
    assert_string_equal(found, wanted);
}

static void entries(void **state)
{
    (void)state;
    struct dg_pairs *p;
    struct dg_dictionary *d;
    struct dg_error err = {0};
    char folder[] = "/tmp/test_dictionary_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(dg_pairs_open(folder, &p, NULL), 0);
    add_corpus(p);
    struct dg_dictionary_options o = {.dir = folder, .source_lang = "en", .target_lang = "de"};
    for (int round = 0; round < 2; round++) { /* the same again; the folder is left unchanged */
        if (dg_dictionary_learn(p, &o, &d, &err))
            fail_msg("%s", err.message);
        expect_entries(d, "house>Haus House=Haus green=grün Green=Grün river>Fluss River=Fluss "
                          "bicycle>Fahrrad Bicycle=Fahrrad ");
        dg_dictionary_close(d);
    }
    o.pair = 2; /* no such sentences */
    assert_int_equal(dg_dictionary_learn(p, &o, &d, &err), 0);
    assert_int_equal(dg_dictionary_count(d), 0);
    dg_dictionary_close(d);
    o.dir = "/nowhere";
    o.pair = 0;
    assert_int_not_equal(dg_dictionary_learn(p, &o, &d, &err), 0);
    assert_non_null(strstr(err.message, "/nowhere"));
    snprintf(path, sizeof path, "%s/words.shard", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    dg_pairs_close(p);
    dg_dictionary_close(NULL);
    assert_int_equal(rmdir(folder), 0);
}

static void pairs_that_are_left_out(void **state)
{
    (void)state;
    enum { N = 6 };
    struct dg_pairs *p;
    struct dg_dictionary *d;
    char folder[] = "/tmp/test_dictionary_XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(dg_pairs_open(folder, &p, NULL), 0);
    add_corpus(p);
    const uint64_t all = dg_pairs_count(p);
    uint64_t out = 0;
    for (uint64_t i = 0; i < N * N * N; i++)
        if (i % N == 0 || i / N % N == 0 || i / N / N == 0) { /* it has a house */
            dg_pairs_leave_out(p, 2 * i, DG_DROP_DUPLICATE);
            dg_pairs_leave_out(p, 2 * i, DG_DROP_UNRELATED);
            out++;
        }
    assert_int_equal(dg_pairs_count(p), all);
    assert_int_equal(dg_pairs_kept_count(p), all - out);
    struct dg_pair got;
    assert_int_equal(dg_pairs_rewind(p, NULL), 0);
    assert_int_equal(dg_pairs_next(p, &got, NULL), 1);
    assert_true(got.item == 0 && got.left_out == DG_DROP_UNRELATED);
    assert_int_equal(dg_pairs_next(p, &got, NULL), 1);
    assert_true(got.item == 1 && got.left_out == DG_KEEP);
    const struct dg_dictionary_options o = {
        .dir = folder, .source_lang = "en", .target_lang = "de"};
    assert_int_equal(dg_dictionary_learn(p, &o, &d, NULL), 0);
    expect_entries(d, "green=grün Green=Grün river>Fluss River=Fluss bicycle>Fahrrad "
                      "Bicycle=Fahrrad ");
    dg_dictionary_close(d);
    dg_pairs_close(p);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words), cmocka_unit_test(entries),
        cmocka_unit_test(pairs_that_are_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
