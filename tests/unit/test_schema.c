/* Tables of a database file, upgraded step by step. */
#include "database_file.h"
#include "store/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* An older file gets the steps that it lacks, once. */
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

/* A failed step leaves nothing behind. */
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

static size_t read_file(char *to, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(to, 1, room, f);
    fclose(f);
    assert_true(n > 0 && n < room);
    return n;
}

/* A check tells what opening would, and leaves an older file as it is, byte for byte. */
static void test_check_writes_nothing(void **state)
{
    (void)state;
    static const char *const steps[] = {"CREATE TABLE a(x)", "ALTER TABLE a ADD COLUMN y"};
    static char before[65536], after[65536];
    struct dg_schema s = {.application_id = 77, .what = "tests", .steps = steps, .n_steps = 1};
    struct dg_db db;
    struct dg_error err = {0};
    assert_int_equal(dg_schema_check(path, &s, false, NULL, &err), DG_ENOTFOUND);
    dg_error_clear(&err);
    bool older = true;
    assert_int_equal(dg_schema_check(path, &s, true, &older, &err), DG_OK);
    assert_false(older); /* there is none */
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(dg_schema_check("/nowhere/at/all.db", &s, true, NULL, &err), DG_EIO);
    assert_non_null(strstr(err.message, "/nowhere/at/all.db"));
    dg_error_clear(&err);
    assert_int_equal(dg_db_open(path, true, &db, &err), DG_OK);
    assert_int_equal(dg_schema_apply(&db, &s, true, &err), DG_OK);
    assert_int_equal(dg_db_run(&db, "PRAGMA journal_mode = DELETE", &err), DG_OK);
    dg_db_close(&db);
    const size_t n = read_file(before, sizeof before);
    assert_int_equal(dg_schema_check(path, &s, false, &older, &err), DG_OK);
    assert_false(older);
    s.n_steps = 2;
    assert_int_equal(dg_schema_check(path, &s, false, &older, &err), DG_OK);
    assert_true(older);
    assert_int_equal(read_file(after, sizeof after), n);
    assert_memory_equal(before, after, n);
    s.n_steps = 0;
    assert_int_equal(dg_schema_check(path, &s, false, NULL, &err), DG_EUNSUP);
    dg_error_clear(&err);
    s.application_id = 78;
    assert_int_equal(dg_schema_check(path, &s, true, NULL, &err), DG_EFORMAT);
}

/* A file that exists and may not be written is refused by a check as by opening, in the same words:
 * by root's rights all may be, so another user looks. */
static void look_at_a_file_of_others(void)
{
    static const char *const steps[] = {"CREATE TABLE a(x)"};
    const struct dg_schema s = {
        .application_id = 77, .what = "tests", .steps = steps, .n_steps = 1};
    struct dg_db db;
    struct dg_error opening = {0}, check = {0};
    if (geteuid() == 0 && setuid(65534) != 0)
        _exit(1);
    if (dg_db_open(path, true, &db, &opening) != DG_EIO)
        _exit(2);
    if (dg_schema_check(path, &s, true, NULL, &check) != DG_EIO)
        _exit(3);
    _exit(strcmp(opening.message, check.message) == 0 && strstr(check.message, path) ? 0 : 4);
}

static void test_check_of_a_file_of_others(void **state)
{
    (void)state;
    int status;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(chmod(path, 0444), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        look_at_a_file_of_others();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A page in the middle of the file is damaged, which its header does not show. */
static void test_check_finds_damage(void **state)
{
    (void)state;
    static const char *const steps[] = {
        "CREATE TABLE a(x); INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
        "n LIMIT 100) SELECT hex(zeroblob(500)) FROM n"};
    const struct dg_schema s = {
        .application_id = 77, .what = "tests", .steps = steps, .n_steps = 1};
    struct dg_db db;
    struct dg_error err = {0};
    static const char rubbish[4096] = "rubbish";
    assert_int_equal(dg_db_open(path, true, &db, &err), DG_OK);
    assert_int_equal(dg_schema_apply(&db, &s, true, &err), DG_OK);
    dg_db_close(&db);
    assert_int_equal(dg_schema_check(path, &s, true, NULL, &err), DG_OK);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 4 * 4096, SEEK_SET), 0);
    assert_int_equal(fwrite(rubbish, 1, sizeof rubbish, f), sizeof rubbish);
    fclose(f);
    assert_int_equal(dg_schema_check(path, &s, true, NULL, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, " is damaged: "));
    assert_null(strchr(err.message, '*'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_schema, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_check_of_a_file_of_others, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_schema_fails_whole, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_check_finds_damage, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_check_writes_nothing, make_path, remove_path)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
