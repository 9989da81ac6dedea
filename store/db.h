/* SQLite for store/: a file in WAL mode, which a server and a command line can share, and
 * statements with error messages. Only store/ includes this. One thread at a time. */
#ifndef DG_STORE_DB_H
#define DG_STORE_DB_H

#include "base/error.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_db {
    sqlite3 *handle;
    char path[1024];
    /* What the file keeps; set where errors reach clients, which must not see the path: messages
     * then name this, and the log gets the path. NULL: messages name the path. */
    const char *keeps;
    /* Only where keeps is set: how often it failed, and what was logged last. */
    atomic_uint_least64_t failures;
    int logged_code;
    uint64_t logged_ns;
};

/* Open the file. create: create it if missing, readable only by its owner; root makes it the
 * folder's owner's. */
int dg_db_open(const char *path, bool create, struct dg_db *out, struct dg_error *err);
/* Open a file that exists as it is: its mode of journal stays, and nothing may be written through
 * *out. create: *exists may become false, if the file could be made. */
int dg_db_look(
    const char *path, bool create, bool *exists, struct dg_db *out, struct dg_error *err);
void dg_db_close(struct dg_db *db); /* a zeroed struct is fine */

/* Set SQLite's error, prefixed with the file's path or `keeps`. DG_EAGAIN: another program has
 * locked the file. */
int dg_db_error(struct dg_db *db, struct dg_error *err);
/* How often a call has failed, other than by a lock; 0 where keeps is NULL. Any thread. */
uint64_t dg_db_failures(const struct dg_db *db);
int dg_db_run(struct dg_db *db, const char *sql, struct dg_error *err);
/* DG_EIO, also: the statement writes, and the file is no longer at its path. So does dg_db_begin.
 */
int dg_db_prepare(struct dg_db *db, const char *sql, sqlite3_stmt **out, struct dg_error *err);
/* Begin a transaction that writes. DG_EAGAIN. */
int dg_db_begin(struct dg_db *db, struct dg_error *err);
/* End it: commit it if rc is DG_OK, else undo it, and give back the room that it took on the disk.
 * Returns rc, or the error of committing. */
int dg_db_end(struct dg_db *db, int rc, struct dg_error *err);
/* Step to the next row; *row is false at the end. */
int dg_db_step(struct dg_db *db, sqlite3_stmt *s, bool *row, struct dg_error *err);
/* Run a statement to its first row or its end, and finalise it. */
int dg_db_run_take(struct dg_db *db, sqlite3_stmt *s, struct dg_error *err);
/* As dg_db_prepare, and bind the texts, up to NULL, as the first parameters; they are borrowed
 * until the statement has run. dg_db_run_texts also runs it. */
int dg_db_prepare_texts(struct dg_db *db, const char *sql, const char *const *texts,
    sqlite3_stmt **out, struct dg_error *err);
int dg_db_run_texts(
    struct dg_db *db, const char *sql, const char *const *texts, struct dg_error *err);
/* Draw the id of a row: a random UUID (RFC 4122, version 4). */
#define DG_DB_ID 37
int dg_db_draw_id(char id[DG_DB_ID], struct dg_error *err);
/* Copy a column's text to out[cap], cut to fit. */
void dg_db_copy_text(sqlite3_stmt *s, int column, char *out, size_t cap);

/* All rows of a statement. */
struct dg_db_rows {
    /* [n] structs that fill set, one for each row; the caller frees it. NULL: no rows */
    void *list;
    size_t n;
};
/* Step through a statement, and finalise it: fill is called with a struct of `size` bytes for each
 * row. DG_ENOMEM. */
int dg_db_list_take(struct dg_db *db, sqlite3_stmt *s, size_t size,
    void (*fill)(sqlite3_stmt *s, void *row), struct dg_db_rows *out, struct dg_error *err);

/* *out = the integer that the statement gives; 0 if it gives no row. texts: as in
 * dg_db_prepare_texts. */
int dg_db_number(struct dg_db *db, const char *sql, int64_t *out, struct dg_error *err);
int dg_db_number_texts(struct dg_db *db, const char *sql, const char *const *texts, int64_t *out,
    struct dg_error *err);

#endif
