/* Which of a translation memory's entries a sentence finds, by their languages. */
#include "database_file.h"
#include "store/memory_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Make a memory of one entry, "Hello.". */
static void make(struct dg_memory *m, const char *target_lang, const char *target)
{
    const struct dg_memory_info wanted = {.kind = DG_MEMORY_SENTENCES, .name = "a"};
    const struct dg_memory_pair pair = {"en", target_lang, "Hello.", target, 6, strlen(target)};
    struct dg_memory_info made;
    assert_int_equal(dg_memory_make(m, &wanted, &pair, 1, &made, NULL), DG_OK);
}

static void expect(struct dg_memory *m, const char *target_lang, const char *target)
{
    const struct dg_memory_pair wanted = {"en", target_lang, "Hello.", NULL, 6, 0};
    struct dg_buffer b;
    dg_buffer_init(&b);
    const int rc = dg_memory_find(m, "", &wanted, &b, NULL);
    assert_int_equal(rc, target ? DG_OK : DG_ENOTFOUND);
    if (target)
        assert_string_equal(b.data, target);
    dg_buffer_deinit(&b);
}

/* Codes that name one language, such as the longer ones of TMX files, find its entries; an entry
 * with exactly the code comes before a newer one. */
static void languages(void **state)
{
    static const struct {
        const char *stored, *asked;
        bool found;
    } cases[] = {{"zh-CN", "zh-Hans", true}, {"zh-Hant-TW", "zh-Hant", true},
        {"zh-TW", "zh-Hans", false}, {"sr-Latn-RS", "sr-Latn", true}, {"sr-Latn", "sr-Cyrl", false},
        {"iw-IL", "he", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_memory *m = NULL;
        assert_int_equal(dg_memory_open(path, true, &m, NULL), DG_OK);
        make(m, cases[i].stored, "near");
        expect(m, cases[i].asked, cases[i].found ? "near" : NULL);
        make(m, cases[i].asked, "exact");
        make(m, cases[i].stored, "near");
        expect(m, cases[i].asked, "exact");
        dg_memory_close(m);
        remove(path);
    }
}

/* Make n memories of one entry each, "Number I.", in this language. */
static void make_many(struct dg_memory *m, const char *language, int n)
{
    assert_int_equal(dg_db_run(&m->db, "PRAGMA synchronous = OFF", NULL), DG_OK);
    for (int i = 0; i < n; i++) {
        char text[32];
        const int len = snprintf(text, sizeof text, "Number %d.", i);
        const struct dg_memory_info wanted = {.kind = DG_MEMORY_SENTENCES, .name = "a"};
        const struct dg_memory_pair pair = {"en", language, text, text, (size_t)len, (size_t)len};
        struct dg_memory_info made;
        assert_int_equal(dg_memory_make(m, &wanted, &pair, 1, &made, NULL), DG_OK);
    }
}

/* Steps of SQLite's machine that the last search took. */
static int steps(struct dg_memory *m)
{
    return sqlite3_stmt_status(m->find, SQLITE_STMTSTATUS_VM_STEP, 1);
}

/* Other memories do not make a search longer, in whatever languages they are. */
static void many_memories(void **state)
{
    (void)state;
    struct dg_memory *m = NULL;
    assert_int_equal(dg_memory_open(path, true, &m, NULL), DG_OK);
    make(m, "de", "Hallo.");
    make_many(m, "de", 1);
    make_many(m, "fr", 1);
    expect(m, "de", "Hallo.");
    const int few = steps(m);
    make_many(m, "de", 60);
    make_many(m, "fr", 60);
    expect(m, "de", "Hallo.");
    assert_true(steps(m) < few + few / 2);
    expect(m, "fr", NULL);
    make(m, "de-AT", "Servus.");
    expect(m, "de-AT", "Servus.");
    expect(m, "de", "Hallo.");
    dg_memory_close(m);
}

/* Make a memory of one entry in this language for the owner. */
static int make_of(struct dg_memory *m, const char *owner, const char *language)
{
    struct dg_memory_info wanted = {.kind = DG_MEMORY_SENTENCES, .name = "a"}, made;
    const struct dg_memory_pair pair = {language, "de", "Hello.", "Hallo.", 6, 6};
    snprintf(wanted.owner, sizeof wanted.owner, "%s", owner);
    return dg_memory_make(m, &wanted, &pair, 1, &made, NULL);
}

/* The languages of one key's memories make no search of others longer. */
static void languages_of_others(void **state)
{
    (void)state;
    struct dg_memory *m = NULL;
    assert_int_equal(dg_memory_open(path, true, &m, NULL), DG_OK);
    assert_int_equal(dg_db_run(&m->db, "PRAGMA synchronous = OFF", NULL), DG_OK);
    make(m, "de", "Hallo.");
    expect(m, "de", "Hallo.");
    const int few = steps(m);
    for (int i = 0; i < 60; i++) {
        char language[16];
        snprintf(language, sizeof language, "en-x%d", i);
        assert_int_equal(make_of(m, "other", language), DG_OK);
    }
    expect(m, "de", "Hallo.");
    assert_true(steps(m) < few + few / 2);
    dg_memory_close(m);
}

/* A key's memories have a limited number of pairs of languages in all, which its own searches look
 * through; the pairs that it has may be used again. */
static void languages_are_limited(void **state)
{
    (void)state;
    struct dg_memory *m = NULL;
    struct dg_memory_pair pairs[DG_MEMORY_DICTIONARIES];
    char languages[DG_MEMORY_DICTIONARIES][16];
    const struct dg_memory_info wanted = {.kind = DG_MEMORY_SENTENCES, .name = "a", .owner = "one"};
    struct dg_memory_info made;
    struct dg_error err = {0};
    assert_int_equal(dg_memory_open(path, true, &m, NULL), DG_OK);
    assert_int_equal(dg_db_run(&m->db, "PRAGMA synchronous = OFF", NULL), DG_OK);
    for (int n = 0; n < DG_MEMORY_LANGUAGES;) {
        size_t k = 0;
        for (; k < DG_MEMORY_DICTIONARIES && n < DG_MEMORY_LANGUAGES; k++, n++) {
            snprintf(languages[k], sizeof languages[k], "en-x%d", n);
            pairs[k] = (struct dg_memory_pair){languages[k], "de", "Hello.", "Hallo.", 6, 6};
        }
        assert_int_equal(dg_memory_make(m, &wanted, pairs, k, &made, NULL), DG_OK);
    }
    assert_int_equal(make_of(m, "one", "en-x0"), DG_OK);
    assert_int_equal(make_of(m, "two", "fr"), DG_OK);
    assert_int_equal(make_of(m, "", "fr"), DG_OK);
    assert_int_equal(make_of(m, "one", "fr"), DG_ELIMIT);
    const struct dg_memory_pair more = {"fr", "de", "Hello.", "Hallo.", 6, 6};
    const struct dg_memory_change change = {.pairs = &more, .n = 1};
    assert_int_equal(dg_memory_alter(m, &made, &change, &made, &err), DG_ELIMIT);
    assert_string_equal(err.message, "there would be 1001 pairs of languages in all memories, the "
                                     "limit is 1000");
    assert_int_equal(dg_memory_remove(m, made.id, NULL), DG_OK);
    assert_int_equal(make_of(m, "one", "fr"), DG_OK);
    dg_memory_close(m);
}

/* A memory of more pairs of languages than are allowed, such as one of an older file, can be made
 * smaller. */
static void languages_over_the_limit_can_be_removed(void **state)
{
    (void)state;
    struct dg_memory *m = NULL;
    const struct dg_memory_info wanted = {.kind = DG_MEMORY_SENTENCES, .name = "a"};
    const struct dg_memory_pair pair = {"en", "de", "Hello.", "Hallo.", 6, 6};
    struct dg_memory_info made;
    struct dg_error err = {0};
    assert_int_equal(dg_memory_open(path, true, &m, NULL), DG_OK);
    assert_int_equal(dg_memory_make(m, &wanted, &pair, 1, &made, NULL), DG_OK);
    assert_int_equal(
        dg_db_run(&m->db,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)"
            " INSERT INTO pairs SELECT 'en', 'de-x' || i, 'Hello.', 1, 'Hallo.' FROM n",
            NULL),
        DG_OK);
    assert_int_equal(dg_memory_remove_languages(m, made.id, "en", "de", &err), DG_OK);
    const struct dg_memory_change change = {.pairs = &pair, .n = 1};
    assert_int_equal(dg_memory_alter(m, &made, &change, &made, &err), DG_ELIMIT);
    dg_memory_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(languages, make_path, remove_path),
        cmocka_unit_test_setup_teardown(many_memories, make_path, remove_path),
        cmocka_unit_test_setup_teardown(languages_of_others, make_path, remove_path),
        cmocka_unit_test_setup_teardown(languages_are_limited, make_path, remove_path),
        cmocka_unit_test_setup_teardown(
            languages_over_the_limit_can_be_removed, make_path, remove_path)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
