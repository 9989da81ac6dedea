/* Documents in their file: the order of translation, restarts, room, expiry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/db.h"
#include "store/uploads.h"
#include "tests/unit/database_file.h"

static struct dg_uploads *open_file(void)
{
    struct dg_uploads *d = NULL;
    struct dg_error err = {0};
    if (dg_uploads_open(path, &d, &err))
        fail_msg("%s", err.message);
    return d;
}

static struct dg_upload add(struct dg_uploads *d, const char *name, const char *file, int64_t at)
{
    struct dg_upload u = {.characters = 5, .created_s = at};
    strcpy(u.name, name);
    strcpy(u.source, "en");
    strcpy(u.target, "de");
    strcpy(u.owner, "k1");
    strcpy(u.glossary, "terms");
    assert_int_equal(dg_uploads_add(d, file, strlen(file), 1000, &u, NULL), 0);
    return u;
}

static void a_document_and_a_restart(void **state)
{
    (void)state;
    struct dg_uploads *d = open_file();
    struct dg_upload a = add(d, "a.txt", "one", 100), b = add(d, "b.txt", "two", 101), u;
    struct dg_buffer file;
    struct stat st;
    dg_buffer_init(&file);
    assert_int_equal(strlen(a.id), 36);
    assert_int_equal(strlen(a.key), 64);
    assert_true(strcmp(a.id, b.id) != 0 && strcmp(a.key, b.key) != 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    assert_int_equal(dg_uploads_next(d, &u, &file, NULL), 0);
    assert_string_equal(u.id, a.id);
    assert_string_equal(file.data, "one");
    assert_string_equal(u.name, "a.txt");
    assert_int_equal(dg_uploads_read(d, a.id, &file, NULL), DG_ENOTFOUND); /* not yet */
    dg_uploads_close(d);
    d = open_file(); /* it was running, so it is the next one again */
    assert_int_equal(dg_uploads_take_over(d, NULL), 0);
    dg_buffer_reset(&file);
    assert_int_equal(dg_uploads_next(d, &u, &file, NULL), 0);
    assert_string_equal(u.id, a.id);
    assert_int_equal(dg_uploads_done(d, a.id, "eins", 4, NULL, NULL), 0);
    assert_int_equal(dg_uploads_next(d, &u, &file, NULL), 0);
    assert_string_equal(u.id, b.id);
    assert_int_equal(dg_uploads_put_back(d, b.id, NULL), 0);
    assert_int_equal(dg_uploads_next(d, &u, &file, NULL), 0);
    assert_int_equal(dg_uploads_done(d, b.id, "", 0, "it is broken", NULL), 0);
    assert_int_equal(dg_uploads_next(d, &u, &file, NULL), DG_ENOTFOUND);
    dg_uploads_close(d);
    d = open_file();
    dg_buffer_reset(&file);
    assert_int_equal(dg_uploads_read(d, a.id, &file, NULL), 0);
    assert_string_equal(file.data, "eins");
    assert_int_equal(dg_uploads_get(d, b.id, &u, NULL), 0);
    assert_int_equal(u.state, DG_UPLOAD_FAILED);
    assert_string_equal(u.message, "it is broken");
    assert_int_equal(dg_uploads_read(d, b.id, &file, NULL), DG_ENOTFOUND);
    assert_int_equal(dg_uploads_get(d, "x' OR 1=1 --", &u, NULL), DG_ENOTFOUND);
    assert_string_equal(u.owner, "k1");
    assert_string_equal(u.glossary, "terms");
    assert_int_equal(dg_uploads_expire(d, 101, NULL), 0); /* a is older */
    assert_int_equal(dg_uploads_get(d, a.id, &u, NULL), DG_ENOTFOUND);
    assert_int_equal(dg_uploads_get(d, b.id, &u, NULL), 0);
    assert_int_equal(dg_uploads_remove(d, b.id, NULL), 0);
    assert_int_equal(dg_uploads_get(d, b.id, &u, NULL), DG_ENOTFOUND);
    assert_int_equal(dg_uploads_remove(d, b.id, NULL), DG_ENOTFOUND);
    dg_uploads_close(d);
    dg_buffer_deinit(&file);
}

static void room(void **state)
{
    (void)state;
    struct dg_uploads *d = open_file();
    struct dg_upload u = {.created_s = 1};
    char file[600] = {0};
    strcpy(u.name, "a.txt");
    assert_int_equal(dg_uploads_add(d, file, sizeof file, 1000, &u, NULL), 0);
    assert_int_equal(dg_uploads_add(d, file, sizeof file, 1000, &u, NULL), DG_EAGAIN);
    assert_int_equal(dg_uploads_expire(d, 2, NULL), 0);
    assert_int_equal(dg_uploads_add(d, file, sizeof file, 1000, &u, NULL), 0);
    dg_uploads_close(d);
}

static enum dg_upload_state state_of(struct dg_uploads *d, const struct dg_upload *u)
{
    struct dg_upload now;
    assert_int_equal(dg_uploads_get(d, u->id, &now, NULL), 0);
    return now.state;
}

/* Another server opens the file while the first one translates, and takes over when that ends. */
static void one_translates(void **state)
{
    (void)state;
    struct dg_uploads *first = open_file(), *second;
    struct dg_upload a = add(first, "a.txt", "one", 100), u;
    struct dg_buffer file;
    struct dg_error err = {0};
    dg_buffer_init(&file);
    assert_int_equal(dg_uploads_take_over(first, NULL), 0);
    assert_int_equal(dg_uploads_next(first, &u, &file, NULL), 0);
    second = open_file();
    assert_int_equal(dg_uploads_take_over(second, &err), DG_EAGAIN);
    assert_non_null(strstr(err.message, "another server"));
    assert_int_equal(state_of(second, &a), DG_UPLOAD_RUNNING);
    dg_uploads_close(first);
    assert_int_equal(dg_uploads_take_over(second, NULL), 0);
    assert_int_equal(dg_uploads_take_over(second, NULL), 0);
    assert_int_equal(state_of(second, &a), DG_UPLOAD_QUEUED);
    assert_int_equal(dg_uploads_next(second, &u, &file, NULL), 0);
    assert_int_equal(dg_uploads_done(second, a.id, "eins", 4, NULL, NULL), 0);
    assert_int_equal(dg_uploads_put_back(second, a.id, NULL), 0); /* it is not running */
    assert_int_equal(dg_uploads_done(second, a.id, "", 0, "too late", NULL), 0);
    assert_int_equal(state_of(second, &a), DG_UPLOAD_DONE);
    dg_uploads_close(second);
    dg_buffer_deinit(&file);
}

/* Opens the file and closes it again in another process. */
static void look_from_outside(void)
{
    int status = -1;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execlp("sqlite3", "sqlite3", path, "UPDATE documents SET characters = characters", NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Another program that closes the file leaves the log (WAL) of those that still have it open. */
static void open_twice_and_elsewhere(void **state)
{
    (void)state;
    struct dg_uploads *one = open_file(), *two = open_file();
    struct dg_upload a = add(one, "a.txt", "one", 100), b, u;
    char wal[140];
    struct stat before, after;
    snprintf(wal, sizeof wal, "%s-wal", path);
    assert_int_equal(stat(wal, &before), 0);
    look_from_outside();
    assert_int_equal(stat(wal, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    b = add(one, "b.txt", "two", 101);
    dg_uploads_close(one);
    dg_uploads_close(two);
    one = open_file();
    assert_int_equal(dg_uploads_get(one, a.id, &u, NULL), 0);
    assert_int_equal(dg_uploads_get(one, b.id, &u, NULL), 0);
    dg_uploads_close(one);
}

static int64_t made_at(struct dg_uploads *d, const struct dg_upload *u)
{
    struct dg_upload now;
    assert_int_equal(dg_uploads_get(d, u->id, &now, NULL), 0);
    return now.created_s;
}

static void date(struct dg_uploads *d, int64_t step, int64_t now, int64_t began)
{
    assert_int_equal(dg_uploads_date(d, &(struct dg_uploads_clock){step, now, began}, NULL), 0);
}

/* The clock is set; one of the documents is from before the server began, at 1050. */
static void another_clock(void **state)
{
    (void)state;
    struct dg_uploads *d = open_file();
    struct dg_upload old = add(d, "a.txt", "one", 1000), fresh = add(d, "b.txt", "two", 1090);
    date(d, 5000, 6100, 6050); /* forward: their ages stay */
    assert_int_equal(made_at(d, &old), 6000);
    assert_int_equal(made_at(d, &fresh), 6090);
    date(d, 0, 6100, 6050);
    assert_int_equal(made_at(d, &fresh), 6090);
    date(d, -3000, 3101, 3050); /* back: the older one gets the present time */
    assert_int_equal(made_at(d, &old), 3101);
    assert_int_equal(made_at(d, &fresh), 3090);
    date(d, 0, 70, 60); /* a file from the future */
    assert_int_equal(made_at(d, &fresh), 70);
    dg_uploads_close(d);
}

/* A server that began with its clock in 2060, which is right now: older documents keep their
 * age. */
static void a_clock_that_was_wrong_at_first(void **state)
{
    (void)state;
    struct dg_uploads *d = open_file();
    struct dg_upload old = add(d, "a.txt", "one", 1000), fresh = add(d, "b.txt", "two", 99020);
    date(d, -98000, 1030, 1010);
    assert_int_equal(made_at(d, &old), 1000);
    assert_int_equal(made_at(d, &fresh), 1020);
    assert_int_equal(dg_uploads_expire(d, 1015, NULL), 0);
    assert_int_equal(dg_uploads_get(d, old.id, &old, NULL), DG_ENOTFOUND);
    assert_int_equal(made_at(d, &fresh), 1020);
    dg_uploads_close(d);
}

/* The queries over all documents that run whenever one is added use an index. */
static void dates_are_found(void **state)
{
    (void)state;
    static const char *const asked[] = {"UPDATE documents SET created_s = 5 WHERE created_s > 5",
        "DELETE FROM documents WHERE created_s < 5"};
    struct dg_uploads *d = open_file();
    add(d, "a.txt", "one", 1000);
    dg_uploads_close(d);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char sql[200];
        struct dg_db db = {0};
        sqlite3_stmt *s = NULL;
        bool row;
        snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", asked[i]);
        assert_int_equal(dg_db_open(path, false, &db, NULL), 0);
        assert_int_equal(dg_db_prepare(&db, sql, &s, NULL), 0);
        assert_int_equal(dg_db_step(&db, s, &row, NULL), 0);
        assert_true(row);
        assert_non_null(strstr((const char *)sqlite3_column_text(s, 3), "documents_by_age"));
        sqlite3_finalize(s);
        dg_db_close(&db);
    }
}

static void another_file(void **state)
{
    (void)state;
    struct dg_uploads *d = NULL;
    struct dg_error err = {0};
    FILE *f = fopen(path, "w");
    fputs("this is no database, whatever its name says it is, and it is long enough", f);
    fclose(f);
    assert_int_not_equal(dg_uploads_open(path, &d, &err), 0);
    assert_non_null(strstr(err.message, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_document_and_a_restart, make_path, remove_path),
        cmocka_unit_test_setup_teardown(room, make_path, remove_path),
        cmocka_unit_test_setup_teardown(one_translates, make_path, remove_path),
        cmocka_unit_test_setup_teardown(open_twice_and_elsewhere, make_path, remove_path),
        cmocka_unit_test_setup_teardown(another_clock, make_path, remove_path),
        cmocka_unit_test_setup_teardown(a_clock_that_was_wrong_at_first, make_path, remove_path),
        cmocka_unit_test_setup_teardown(dates_are_found, make_path, remove_path),
        cmocka_unit_test_setup_teardown(another_file, make_path, remove_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
