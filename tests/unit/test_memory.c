/* Glossaries and translation memories: the file, and what is read into it. */
#include "store/memory.h"
#include "store/schema.h"
#include "store/tmx.h"
#include "store/tsv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/dragoman-memory-%d.db", (int)getpid());
    unlink(path);
    return 0;
}

static int remove_path(void **state)
{
    char more[80];
    (void)state;
    unlink(path);
    snprintf(more, sizeof more, "%s-wal", path);
    unlink(more);
    snprintf(more, sizeof more, "%s-shm", path);
    unlink(more);
    return 0;
}

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

static void expect(
    struct dg_memory *m, enum dg_memory_kind kind, const char *source, const char *target)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    const struct dg_memory_pair wanted = {
        .source_lang = "en", .target_lang = "de", .source = source, .source_len = strlen(source)};
    const int rc = dg_memory_find(m, kind, &wanted, &b, NULL);
    assert_int_equal(rc, target ? DG_OK : DG_ENOTFOUND);
    if (target)
        assert_string_equal(b.data, target);
    dg_buffer_deinit(&b);
}

static void test_put_and_find(void **state)
{
    (void)state;
    struct dg_memory *m = must_open();
    struct dg_memory_info terms, old, newer;
    struct dg_error err = {0};
    assert_int_equal(dg_memory_make(m, DG_MEMORY_GLOSSARY, "terms", 1, &terms, &err), DG_OK);
    assert_int_equal(dg_memory_make(m, DG_MEMORY_SENTENCES, "old", 2, &old, &err), DG_OK);
    assert_int_equal(dg_memory_make(m, DG_MEMORY_SENTENCES, "new", 3, &newer, &err), DG_OK);
    assert_int_equal(strlen(terms.id), 36);
    assert_string_not_equal(terms.id, old.id);
    const struct dg_memory_pair list[] = {pair("Hello.", "Hallo."), pair("It's 5 %", "Es ist'5 %")};
    assert_int_equal(dg_memory_put(m, old.id, list, 2, &err), DG_OK);
    expect(m, DG_MEMORY_SENTENCES, "Hello.", "Hallo.");
    expect(m, DG_MEMORY_SENTENCES, "It's 5 %", "Es ist'5 %");
    expect(m, DG_MEMORY_SENTENCES, "hello.", NULL); /* exactly */
    expect(m, DG_MEMORY_GLOSSARY, "Hello.", NULL);
    /* The newest collection wins; within one what came last. */
    const struct dg_memory_pair later[] = {pair("Hello.", "Servus."), pair("Hello.", "Moin.")};
    assert_int_equal(dg_memory_put(m, newer.id, later, 2, &err), DG_OK);
    expect(m, DG_MEMORY_SENTENCES, "Hello.", "Moin.");
    assert_int_equal(dg_memory_remove(m, newer.id, &err), DG_OK);
    expect(m, DG_MEMORY_SENTENCES, "Hello.", "Hallo.");
    assert_int_equal(dg_memory_remove(m, newer.id, &err), DG_ENOTFOUND);
    assert_int_equal(dg_memory_put(m, newer.id, list, 1, NULL), DG_ENOTFOUND);
    struct dg_memory_info *infos;
    size_t n;
    assert_int_equal(dg_memory_list(m, &infos, &n, NULL), DG_OK);
    assert_int_equal(n, 2);
    assert_string_equal(infos[1].name, "old");
    assert_int_equal(infos[1].pairs, 2);
    assert_int_equal(infos[1].created_s, 2);
    assert_int_equal(infos[0].kind, DG_MEMORY_GLOSSARY);
    free(infos);
    dg_memory_close(m);
    m = must_open(); /* it is there still */
    expect(m, DG_MEMORY_SENTENCES, "Hello.", "Hallo.");
    dg_memory_close(m);
}

static int count(void *ctx, const struct dg_memory_pair *p, struct dg_error *err)
{
    (void)p;
    (void)err;
    return ++*(int *)ctx == 3 ? DG_ECANCELED : DG_OK;
}

static void test_read(void **state)
{
    (void)state;
    struct dg_memory *m = must_open();
    struct dg_memory_info a;
    struct dg_error err = {0};
    int n = 0;
    assert_int_equal(dg_memory_make(m, DG_MEMORY_GLOSSARY, "a", 1, &a, &err), DG_OK);
    const struct dg_memory_pair list[] = {
        pair("b", "2"), pair("a", "1"), pair("c", "3"), pair("d", "4")};
    assert_int_equal(dg_memory_put(m, a.id, list, 2, &err), DG_OK);
    assert_int_equal(dg_memory_read(m, a.id, count, &n, &err), DG_OK);
    assert_int_equal(n, 2);
    assert_int_equal(dg_memory_put(m, a.id, list + 2, 2, &err), DG_OK);
    n = 0;
    assert_int_equal(dg_memory_read(m, a.id, count, &n, &err), DG_ECANCELED);
    assert_int_equal(n, 3);
    assert_int_equal(dg_memory_read(m, "nothing", count, &n, &err), DG_ENOTFOUND);
    char name[300];
    memset(name, 'n', 299);
    name[299] = '\0';
    dg_error_clear(&err);
    assert_int_equal(dg_memory_make(m, DG_MEMORY_GLOSSARY, name, 1, &a, &err), DG_EINVAL);
    assert_string_equal(err.field, "name");
    dg_memory_close(m);
}

/* The steps by which a file is brought up to date: an older file gets what it lacks, once. */
static void test_schema(void **state)
{
    (void)state;
    static const char *const steps[] = {"CREATE TABLE a(x); INSERT INTO a VALUES(1);",
        "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1;"};
    struct dg_schema s = {.application_id = 77, .what = "tests", .steps = steps, .n_steps = 1};
    struct dg_db db;
    struct dg_error err = {0};
    int64_t value;
    assert_int_equal(dg_db_open(path, true, &db, &err), DG_OK);
    assert_int_equal(dg_schema_apply(&db, &s, false, &err), DG_EFORMAT);
    dg_error_clear(&err);
    assert_int_equal(dg_schema_apply(&db, &s, true, &err), DG_OK);
    assert_int_equal(dg_schema_apply(&db, &s, false, &err), DG_OK);
    s.n_steps = 2;
    assert_int_equal(dg_schema_apply(&db, &s, false, &err), DG_OK);
    assert_int_equal(dg_db_number(&db, "SELECT y FROM a", &value, &err), DG_OK);
    assert_int_equal(value, 2);
    s.n_steps = 1;
    assert_int_equal(dg_schema_apply(&db, &s, false, &err), DG_EUNSUP);
    assert_non_null(strstr(err.message, "version 2 of its tables, this program knows 1"));
    dg_error_clear(&err);
    s.application_id = 78;
    assert_int_equal(dg_schema_apply(&db, &s, true, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "not a file of tests"));
    dg_db_close(&db);
}

/* A step that fails leaves nothing of itself. */
static void test_schema_fails_whole(void **state)
{
    (void)state;
    static const char *const steps[] = {
        "CREATE TABLE a(x)", "CREATE TABLE b(x); CREATE TABLE a(x)"};
    const struct dg_schema s = {
        .application_id = 77, .what = "tests", .steps = steps, .n_steps = 2};
    struct dg_db db;
    int64_t value;
    assert_int_equal(dg_db_open(path, true, &db, NULL), DG_OK);
    assert_int_not_equal(dg_schema_apply(&db, &s, true, NULL), DG_OK);
    assert_int_equal(dg_db_number(&db, "PRAGMA user_version", &value, NULL), DG_OK);
    assert_int_equal(value, 1);
    assert_int_equal(dg_db_number(&db, "SELECT count(*) FROM sqlite_master", &value, NULL), DG_OK);
    assert_int_equal(value, 1);
    dg_db_close(&db);
}

static int print(void *ctx, const struct dg_memory_pair *p, struct dg_error *err)
{
    struct dg_buffer *b = ctx;
    (void)err;
    dg_buffer_addf(b, "%s>%s|%.*s|%.*s\n", p->source_lang, p->target_lang, (int)p->source_len,
        p->source, (int)p->target_len, p->target);
    return DG_OK;
}

static void test_tsv(void **state)
{
    (void)state;
    static const char good[] = "a\tb\r\n\n two words \t zwei W\xC3\xB6rter\nlast\tletzte";
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    assert_int_equal(dg_tsv_read(good, sizeof good - 1, "en", "de", print, &b, &err), DG_OK);
    assert_string_equal(
        b.data, "en>de|a|b\nen>de|two words|zwei W\xC3\xB6rter\nen>de|last|letzte\n");
    static const struct {
        const char *text, *message;
    } bad[] = {{"a\tb\nonly one\n", "line 2 has no tab"}, {"a\tb\tc\n", "line 1 has more than one"},
        {"\n\tb\n", "line 2 has an empty source"}, {"a\t \n", "line 1 has an empty target"},
        {"a\t\xFF\n", "line 1 is not UTF-8"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dg_error_clear(&err);
        assert_int_equal(
            dg_tsv_read(bad[i].text, strlen(bad[i].text), "en", "de", print, &b, &err), DG_EFORMAT);
        assert_non_null(strstr(err.message, bad[i].message));
    }
    dg_buffer_reset(&b);
    const struct dg_memory_pair p = pair("a\tb", "c\nd");
    dg_tsv_write(&p, &b);
    assert_string_equal(b.data, "a b\tc d\n");
    dg_buffer_deinit(&b);
}

static void test_tmx(void **state)
{
    (void)state;
    static const char good[] =
        "<?xml version=\"1.0\"?><!DOCTYPE tmx SYSTEM \"tmx14.dtd\"><tmx version=\"1.4\">"
        "<header srclang=\"en\"><note>x</note></header><body>"
        "<tu><prop type=\"a\">left out</prop><tuv xml:lang=\"en\"><seg>Salt &amp; <hi>pepper</hi>"
        "<ph x=\"1\">&lt;br/&gt;</ph></seg></tuv><tuv xml:lang=\"de\"><seg>Salz und <bpt i=\"1\">"
        "<sub>no</sub>no</bpt>Pfeffer<ept i=\"1\"/></seg></tuv></tu>"
        "<tu><tuv lang=\"en\"><seg>one</seg></tuv><tuv lang=\"de\"><seg/></tuv></tu>"
        "<tu><tuv xml:lang=\"EN-US\"><seg><![CDATA[<b>]]></seg></tuv>"
        "<tuv xml:lang=\"fr\"><seg>\xC3\xA9t\xC3\xA9</seg></tuv></tu></body></tmx>";
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    if (dg_tmx_read(good, sizeof good - 1, print, &b, &err) != DG_OK)
        fail_msg("%s", err.message);
    assert_string_equal(b.data, "en>de|Salt & pepper|Salz und Pfeffer\n"
                                "de>en|Salz und Pfeffer|Salt & pepper\n"
                                "EN-US>fr|<b>|\xC3\xA9t\xC3\xA9\n"
                                "fr>EN-US|\xC3\xA9t\xC3\xA9|<b>\n");
    static const struct {
        const char *text, *message;
    } bad[] = {{"", "TMX"}, {"<html/>", "no <tmx>"}, {"<tmx>\n<body>\n</tmx>", "tag mismatch"},
        {"<tmx><tu><tuv><seg>a</seg></tuv></tu></tmx>", "no language"},
        {"<!DOCTYPE tmx [<!ENTITY e SYSTEM \"/etc/passwd\">]><tmx><tu><tuv xml:lang=\"en\"><seg>&e;"
         "</seg></tuv></tu></tmx>",
            "entity"},
        {"<tmx><tu><tuv xml:lang=\"en\"><seg>\xFF</seg></tuv></tu></tmx>", "TMX, line 1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dg_error_clear(&err);
        assert_int_equal(
            dg_tmx_read(bad[i].text, strlen(bad[i].text), print, &b, &err), DG_EFORMAT);
        if (!strstr(err.message, bad[i].message))
            fail_msg("%zu: %s", i, err.message);
    }
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_put_and_find, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_read, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_schema, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_schema_fails_whole, make_path, remove_path),
        cmocka_unit_test(test_tsv), cmocka_unit_test(test_tmx)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
