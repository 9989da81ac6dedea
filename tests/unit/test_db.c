/* Transactions of a database file. */
#include "database_file.h"
#include "store/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define ROOM 262144 /* bytes that a file may have */

/* Bytes of the log (WAL). */
static int64_t log_bytes(void)
{
    char name[80];
    struct stat st;
    snprintf(name, sizeof name, "%s-wal", path);
    assert_int_equal(stat(name, &st), 0);
    return (int64_t)st.st_size;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Adds n rows of 1,000 bytes in a transaction. */
static int add(struct dg_db *db, int n, struct dg_error *err)
{
    char sql[160];
    snprintf(sql, sizeof sql,
        "INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d)"
        " SELECT hex(zeroblob(500)) FROM n",
        n);
    int rc = dg_db_begin(db, err);
    assert_int_equal(rc, DG_OK);
    rc = dg_db_run(db, sql, err);
    return dg_db_end(db, rc, err);
}

/* A transaction that is too large for the disk is undone, and leaves the disk as full as before. */
static void test_too_large(void **state)
{
    (void)state;
    struct dg_db db, other;
    struct dg_error err = {0};
    int64_t rows;
    assert_int_equal(dg_db_open(path, true, &db, &err), DG_OK);
    assert_int_equal(dg_db_run(&db, "PRAGMA cache_size = 10; CREATE TABLE a(x)", &err), DG_OK);
    assert_int_equal(dg_db_open(path, false, &other, &err), DG_OK);
    assert_int_equal(add(&db, 3, &err), DG_OK);
    signal(SIGXFSZ, SIG_IGN);
    limit_files(ROOM);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(add(&db, 1000, &err), DG_EIO);
        assert_non_null(strstr(err.message, "disk I/O error"));
        dg_error_clear(&err);
        assert_int_equal(log_bytes(), 0);
        assert_int_equal(dg_db_number(&other, "SELECT count(*) FROM a", &rows, &err), DG_OK);
        assert_int_equal(rows, 3 + 3 * i);
        assert_int_equal(add(&db, 3, &err), DG_OK);
    }
    limit_files(RLIM_INFINITY);
    assert_int_equal(add(&db, 1000, &err), DG_OK);
    dg_db_close(&other);
    dg_db_close(&db);
}

/* A transaction whose work fails for another reason is undone, too. */
static void test_undone(void **state)
{
    (void)state;
    struct dg_db db;
    struct dg_error err = {0};
    int64_t rows;
    assert_int_equal(dg_db_open(path, true, &db, &err), DG_OK);
    assert_int_equal(dg_db_run(&db, "CREATE TABLE a(x)", &err), DG_OK);
    assert_int_equal(dg_db_begin(&db, &err), DG_OK);
    assert_int_equal(dg_db_run(&db, "INSERT INTO a VALUES(1)", &err), DG_OK);
    assert_int_equal(dg_db_end(&db, DG_ELIMIT, &err), DG_ELIMIT);
    assert_int_equal(dg_db_number(&db, "SELECT count(*) FROM a", &rows, &err), DG_OK);
    assert_int_equal(rows, 0);
    assert_int_equal(add(&db, 1, &err), DG_OK);
    dg_db_close(&db);
}

/* A file that is not at its path takes no writes until it is back. */
static void test_removed(void **state)
{
    (void)state;
    char aside[80];
    struct dg_db db, other;
    struct dg_error err = {0};
    sqlite3_stmt *s = NULL;
    int64_t rows;
    snprintf(aside, sizeof aside, "%s.aside", path);
    assert_int_equal(dg_db_open(path, true, &db, &err), DG_OK);
    db.keeps = "tests";
    assert_int_equal(dg_db_run(&db, "CREATE TABLE a(x)", &err), DG_OK);
    assert_int_equal(dg_db_failures(&db), 0);
    assert_int_equal(rename(path, aside), 0);
    for (int there = 0; there < 2; there++) { /* removed; replaced */
        if (there) {
            assert_int_equal(dg_db_open(path, true, &other, &err), DG_OK);
            dg_db_close(&other);
        }
        assert_int_equal(dg_db_begin(&db, &err), DG_EIO);
        assert_non_null(strstr(err.message, "tests: the file was removed or replaced"));
        dg_error_clear(&err);
        assert_int_equal(dg_db_prepare(&db, "INSERT INTO a VALUES(1)", &s, &err), DG_EIO);
        assert_null(s);
        dg_error_clear(&err);
        assert_int_equal(dg_db_number(&db, "SELECT count(*) FROM a", &rows, &err), DG_OK);
    }
    assert_int_equal(dg_db_failures(&db), 4);
    assert_int_equal(rename(aside, path), 0);
    assert_int_equal(add(&db, 3, &err), DG_OK);
    assert_int_equal(dg_db_number(&db, "SELECT count(*) FROM a", &rows, &err), DG_OK);
    assert_int_equal(rows, 3);
    dg_db_close(&db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_removed, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_too_large, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_undone, make_path, remove_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
