/* Glossaries and translation memories: the file. */
#include "database_file.h"
#include "store/db.h"
#include "store/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct dg_memory *must_open(void)
{
    struct dg_memory *m = NULL;
    struct dg_error err = {0};
    if (dg_memory_open(path, true, &m, &err) != DG_OK)
        fail_msg("%s", err.message);
    return m;
}

static struct dg_memory_pair pair(const char *source, const char *target)
{
    return (struct dg_memory_pair){.source_lang = "en",
        .target_lang = "de",
        .source = source,
        .target = target,
        .source_len = strlen(source),
        .target_len = strlen(target)};
}

static void expect(struct dg_memory *m, const char *owner, const char *source, const char *target)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    const struct dg_memory_pair wanted = {
        .source_lang = "en", .target_lang = "de", .source = source, .source_len = strlen(source)};
    const int rc = dg_memory_find(m, owner, &wanted, &b, NULL);
    assert_int_equal(rc, target ? DG_OK : DG_ENOTFOUND);
    if (target)
        assert_string_equal(b.data, target);
    dg_buffer_deinit(&b);
}

static struct dg_memory_info must_make(struct dg_memory *m, enum dg_memory_kind kind,
    const char *name, const char *owner, const struct dg_memory_pair *pairs, size_t n)
{
    struct dg_memory_info wanted = {.kind = kind, .created_s = 2}, made;
    struct dg_error err = {0};
    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    snprintf(wanted.owner, sizeof wanted.owner, "%s", owner);
    if (dg_memory_make(m, &wanted, pairs, n, &made, &err) != DG_OK)
        fail_msg("%s", err.message);
    return made;
}

static void test_put_and_find(void **state)
{
    (void)state;
    struct dg_memory *m = must_open();
    struct dg_error err = {0};
    bool has;
    const struct dg_memory_pair terms[] = {pair("Hello.", "Griffe.")};
    const struct dg_memory_pair list[] = {pair("Hello.", "Hallo."), pair("It's 5 %", "Es ist'5 %")};
    const struct dg_memory_info glossary = must_make(m, DG_MEMORY_GLOSSARY, "terms", "", terms, 1);
    assert_int_equal(dg_memory_has_sentences(m, &has, &err), DG_OK);
    assert_false(has);
    const struct dg_memory_info old = must_make(m, DG_MEMORY_SENTENCES, "old", "", list, 2);
    assert_int_equal(strlen(glossary.id), 36);
    assert_string_not_equal(glossary.id, old.id);
    assert_int_equal(dg_memory_has_sentences(m, &has, &err), DG_OK);
    assert_true(has);
    expect(m, "", "Hello.", "Hallo.");
    expect(m, "", "It's 5 %", "Es ist'5 %");
    expect(m, "", "hello.", NULL); /* exact match only */
    /* The newest collection wins; within one, the last entry. */
    const struct dg_memory_pair later[] = {pair("Hello.", "Servus."), pair("Hello.", "Moin.")};
    const struct dg_memory_info newer = must_make(m, DG_MEMORY_SENTENCES, "new", "", later, 2);
    assert_int_equal(newer.pairs, 1);
    expect(m, "", "Hello.", "Moin.");
    assert_int_equal(dg_memory_remove(m, newer.id, &err), DG_OK);
    expect(m, "", "Hello.", "Hallo.");
    assert_int_equal(dg_memory_remove(m, newer.id, &err), DG_ENOTFOUND);
    struct dg_memory_info *infos;
    size_t n;
    assert_int_equal(dg_memory_list(m, DG_MEMORY_SENTENCES, "", &infos, &n, NULL), DG_OK);
    assert_int_equal(n, 1);
    assert_string_equal(infos[0].name, "old");
    assert_int_equal(infos[0].pairs, 2);
    assert_int_equal(infos[0].created_s, 2);
    free(infos);
    dg_memory_close(m);
    m = must_open(); /* still stored */
    expect(m, "", "Hello.", "Hallo.");
    dg_memory_close(m);
}

/* Of equal entries the last one counts, however they are written, and whatever is between them. */
static void test_the_last_counts(void **state)
{
    (void)state;
    struct dg_memory *m = must_open();
    struct dg_memory_pair list[] = {pair("b  c", "1"), pair("z", "2"), pair("b c", "3"),
        pair("a", "4"), pair(" b c ", "5"), pair("z", "6"), pair("a", "7")};
    list[0].source_lang = list[3].source_lang = "en_US";
    list[2].source_lang = list[4].source_lang = list[6].source_lang = "EN-us";
    const struct dg_memory_info made = must_make(m, DG_MEMORY_SENTENCES, "a", "", list, 7);
    assert_int_equal(made.pairs, 3);
    expect(m, "", "b c", "5");
    expect(m, "", "z", "6");
    expect(m, "", "a", "7");
    dg_memory_close(m);
}

/* Sentences are looked up in a normalised form, and languages match as far as both sides give
 * them. */
static void test_one_form(void **state)
{
    (void)state;
    struct dg_memory *m = must_open();
    struct dg_memory_pair list[] = {pair(" A\tcafe\xCC\x81\n here. ", "Hier ein Cafe\xCC\x81. ")};
    list[0].source_lang = "EN_us";
    must_make(m, DG_MEMORY_SENTENCES, "a", "", list, 1);
    expect(m, "", "A caf\xC3\xA9 here.", "Hier ein Cafe\xCC\x81. "); /* returned as given */
    expect(m, "", "\nA   caf\xC3\xA9 here.\r\n", "Hier ein Cafe\xCC\x81. ");
    expect(m, "", "A cafe here.", NULL);
    struct dg_memory_info *infos;
    struct dg_memory_dictionary *languages;
    size_t n;
    assert_int_equal(dg_memory_list(m, DG_MEMORY_SENTENCES, "", &infos, &n, NULL), DG_OK);
    assert_int_equal(dg_memory_dictionaries(m, infos[0].id, &languages, &n, NULL), DG_OK);
    assert_int_equal(n, 1);
    assert_string_equal(languages[0].source_lang, "en-US");
    free(languages);
    free(infos);
    static const char *const codes[][2] = {{"EN", "en"}, {"pt_br", "pt-BR"},
        {"ZH-hant-TW", "zh-Hant-TW"}, {"es-419", "es-419"}, {"e", NULL}, {"", NULL}, {"en-", NULL},
        {"1n", NULL}, {"en us", NULL}, {"abcdefghi", NULL}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char code[DG_MEMORY_LANGUAGE];
        const int rc = dg_memory_language(codes[i][0], code, NULL);
        assert_int_equal(rc, codes[i][1] ? DG_OK : DG_EINVAL);
        if (codes[i][1])
            assert_string_equal(code, codes[i][1]);
    }
    dg_memory_close(m);
}

/* A key's collections are invisible to other keys; those without an owner are everybody's, and rank
 * after a key's own. */
static void test_owners(void **state)
{
    (void)state;
    struct dg_memory *m = must_open();
    struct dg_memory_info *infos, info;
    size_t n;
    const struct dg_memory_pair shared[] = {pair("Hello.", "Hallo."), pair("Bye.", "Ade.")};
    const struct dg_memory_pair own[] = {pair("Hello.", "Moin.")};
    const struct dg_memory_info a = must_make(m, DG_MEMORY_SENTENCES, "a", "key_a", own, 1);
    const struct dg_memory_info all = must_make(m, DG_MEMORY_SENTENCES, "all", "", shared, 2);
    expect(m, "key_a", "Hello.", "Moin.");
    expect(m, "key_b", "Hello.", "Hallo.");
    expect(m, "", "Hello.", "Hallo.");
    assert_int_equal(
        dg_memory_get(m, DG_MEMORY_SENTENCES, "key_b", a.id, &info, NULL), DG_ENOTFOUND);
    assert_int_equal(
        dg_memory_get(m, DG_MEMORY_GLOSSARY, "key_a", a.id, &info, NULL), DG_ENOTFOUND);
    assert_int_equal(dg_memory_get(m, DG_MEMORY_SENTENCES, "key_b", all.id, &info, NULL), DG_OK);
    assert_int_equal(dg_memory_list(m, DG_MEMORY_SENTENCES, "key_b", &infos, &n, NULL), DG_OK);
    assert_int_equal(n, 1);
    assert_string_equal(infos[0].name, "all");
    free(infos);
    assert_int_equal(dg_memory_remove(m, all.id, NULL), DG_OK);
    expect(m, "key_b", "Hello.", NULL);
    dg_memory_close(m);
}

/* Two servers that read a file at the same time make one memory of it. */
static void test_origin(void **state)
{
    (void)state;
    struct dg_memory *m = must_open();
    struct dg_memory_info wanted = {.kind = DG_MEMORY_SENTENCES, .name = "a", .origin = "3 1.0 a"};
    struct dg_memory_info made;
    struct dg_error err = {0};
    const struct dg_memory_pair hello = pair("Hello.", "Hallo.");
    assert_int_equal(dg_memory_make(m, &wanted, &hello, 1, &made, &err), DG_OK);
    assert_int_equal(dg_memory_make(m, &wanted, &hello, 1, &made, &err), DG_EAGAIN);
    dg_error_clear(&err);
    snprintf(wanted.origin, sizeof wanted.origin, "3 2.0 a");
    assert_int_equal(dg_memory_make(m, &wanted, &hello, 1, &made, &err), DG_OK);
    wanted.origin[0] = '\0';
    for (int i = 0; i < 2; i++)
        assert_int_equal(dg_memory_make(m, &wanted, &hello, 1, &made, &err), DG_OK);
    dg_memory_close(m);
}

static int count(void *ctx, const struct dg_memory_pair *p, struct dg_error *err)
{
    (void)p;
    (void)err;
    return ++*(int *)ctx == 3 ? DG_ECANCELED : DG_OK;
}

static int count_of(struct dg_memory *m, const char *id, const char *source, const char *target)
{
    int n = 10;
    assert_int_equal(
        dg_memory_read(m, id, (const char *const[]){source, target}, count, &n, NULL), DG_OK);
    return n - 10;
}

static void test_alter(void **state)
{
    (void)state;
    struct dg_memory *m = must_open();
    struct dg_error err = {0};
    struct dg_memory_pair list[] = {pair("a", "1"), pair("b", "2"), pair("a", "1")};
    list[2].target_lang = "fr";
    struct dg_memory_info a = must_make(m, DG_MEMORY_GLOSSARY, "a", "k", list, 3);
    assert_int_equal(a.version, 1);
    assert_int_equal(count_of(m, a.id, "en", "de"), 2);
    assert_int_equal(count_of(m, a.id, "en", "fr"), 1);
    const struct dg_memory_pair more[] = {pair("b", "3"), pair("c", "4")};
    struct dg_memory_change change = {.name = "new", .pairs = more, .n = 2};
    assert_int_equal(dg_memory_alter(m, &a, &change, &a, &err), DG_OK);
    assert_string_equal(a.name, "new");
    assert_int_equal(a.version, 2);
    assert_int_equal(a.pairs, 4);
    change = (struct dg_memory_change){.pairs = more, .n = 1, .how = DG_MEMORY_REPLACE_LANGUAGES};
    assert_int_equal(dg_memory_alter(m, &a, &change, &a, &err), DG_OK);
    assert_string_equal(a.name, "new");
    assert_int_equal(count_of(m, a.id, "en", "de"), 1);
    assert_int_equal(count_of(m, a.id, "en", "fr"), 1);
    change.how = DG_MEMORY_REPLACE_ALL;
    assert_int_equal(dg_memory_alter(m, &a, &change, &a, &err), DG_OK);
    assert_int_equal(a.pairs, 1);
    /* A pair without a target removes the one with its source and languages. */
    const struct dg_memory_pair removed[] = {pair("c", "5"), {"en", "de", "b", NULL, 1, 0},
        {"en", "fr", "c", NULL, 1, 0}, {"en", "de", "nothing", NULL, 7, 0}};
    change = (struct dg_memory_change){.pairs = removed, .n = 4};
    assert_int_equal(dg_memory_alter(m, &a, &change, &a, &err), DG_OK);
    assert_int_equal(a.pairs, 1);
    change = (struct dg_memory_change){.pairs = more, .n = 1, .how = DG_MEMORY_REPLACE_ALL};
    assert_int_equal(dg_memory_alter(m, &a, &change, &a, &err), DG_OK);
    /* A failed change leaves everything as it was. */
    struct dg_memory_pair wrong[] = {pair("x", "y"), pair("x", "y")};
    wrong[1].source_lang = "!";
    change = (struct dg_memory_change){.name = "no", .pairs = wrong, .n = 2};
    assert_int_equal(dg_memory_alter(m, &a, &change, &a, &err), DG_EINVAL);
    assert_int_equal(dg_memory_get(m, DG_MEMORY_GLOSSARY, "k", a.id, &a, NULL), DG_OK);
    assert_string_equal(a.name, "new");
    assert_int_equal(a.pairs, 1);
    assert_int_equal(dg_memory_remove_languages(m, a.id, "EN", "FR", NULL), DG_ENOTFOUND);
    assert_int_equal(dg_memory_remove_languages(m, a.id, "EN", "DE", NULL), DG_OK);
    assert_int_equal(dg_memory_get(m, DG_MEMORY_GLOSSARY, "k", a.id, &a, NULL), DG_OK);
    assert_int_equal(a.pairs, 0);
    dg_memory_close(m);
}

static void test_read(void **state)
{
    (void)state;
    struct dg_memory *m = must_open();
    struct dg_error err = {0};
    int n = 0;
    const struct dg_memory_pair list[] = {
        pair("b", "2"), pair("a", "1"), pair("c", "3"), pair("d", "4")};
    struct dg_memory_info a = must_make(m, DG_MEMORY_GLOSSARY, "a", "", list, 2);
    assert_int_equal(dg_memory_read(m, a.id, NULL, count, &n, &err), DG_OK);
    assert_int_equal(n, 2);
    const struct dg_memory_change change = {.pairs = list + 2, .n = 2};
    assert_int_equal(dg_memory_alter(m, &a, &change, &a, &err), DG_OK);
    n = 0;
    assert_int_equal(dg_memory_read(m, a.id, NULL, count, &n, &err), DG_ECANCELED);
    assert_int_equal(n, 3);
    assert_int_equal(dg_memory_read(m, "nothing", NULL, count, &n, &err), DG_ENOTFOUND);
    struct dg_memory_info wanted = {.kind = DG_MEMORY_GLOSSARY};
    dg_error_clear(&err);
    assert_int_equal(dg_memory_make(m, &wanted, NULL, 0, &a, &err), DG_EINVAL);
    assert_string_equal(err.field, "name");
    dg_memory_close(m);
}

/* A list of collections and their languages is of one moment: a reload, or another server, may
 * remove one meanwhile. */
static void test_one_state(void **state)
{
    (void)state;
    struct dg_memory *m = must_open(), *other = must_open();
    struct dg_memory_info *infos;
    struct dg_memory_dictionary *languages;
    size_t n;
    const struct dg_memory_pair one = pair("a", "1");
    must_make(m, DG_MEMORY_SENTENCES, "a", "", &one, 1);
    dg_memory_begin_reading(m);
    assert_int_equal(dg_memory_list(m, DG_MEMORY_SENTENCES, "", &infos, &n, NULL), DG_OK);
    assert_int_equal(dg_memory_remove(other, infos[0].id, NULL), DG_OK);
    assert_int_equal(dg_memory_dictionaries(m, infos[0].id, &languages, &n, NULL), DG_OK);
    assert_int_equal(n, 1);
    free(languages);
    dg_memory_end_reading(m);
    assert_int_equal(dg_memory_dictionaries(m, infos[0].id, &languages, &n, NULL), DG_ENOTFOUND);
    free(infos);
    dg_memory_close(other);
    dg_memory_close(m);
}

/* A file of the previous program version is upgraded. */
static void test_older_file(void **state)
{
    (void)state;
    struct dg_db db;
    assert_int_equal(dg_db_open(path, true, &db, NULL), DG_OK);
    assert_int_equal(
        dg_db_run(&db,
            "CREATE TABLE collections(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
            " kind INTEGER NOT NULL, name TEXT NOT NULL, created_s INTEGER NOT NULL);"
            "CREATE TABLE pairs(source_lang TEXT NOT NULL, target_lang TEXT NOT NULL,"
            " source TEXT NOT NULL, collection INTEGER NOT NULL REFERENCES collections(number)"
            " ON DELETE CASCADE, target TEXT NOT NULL,"
            " PRIMARY KEY(source_lang, target_lang, source, collection)) WITHOUT ROWID;"
            "INSERT INTO collections VALUES(1, 'an-id', 2, 'old', 5);"
            "INSERT INTO pairs VALUES('en', 'de', 'Hello.', 1, 'Hallo.');"
            "PRAGMA application_id = 1145523533; PRAGMA user_version = 1",
            NULL),
        DG_OK);
    dg_db_close(&db);
    struct dg_memory *m = must_open();
    expect(m, "any", "Hello.", "Hallo.");
    dg_memory_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_put_and_find, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_the_last_counts, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_one_form, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_owners, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_origin, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_alter, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_read, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_one_state, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_older_file, make_path, remove_path)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
