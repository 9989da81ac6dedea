#include "store/db.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define BUSY_MS 2000            /* a command line waits so long for a server, and vice versa */
#define QUIET_NS 60000000000ull /* between two log lines of the same failure */

/* Where errors reach clients: counts this one, and logs it, but not again and again while the same
 * thing fails. A lock that another program holds does not count. */
static void note(struct dg_db *db, int code, const char *said)
{
    const uint64_t now = dg_clock_ns();
    atomic_fetch_add(&db->failures, code != DG_EAGAIN);
    if (db->logged_code == code && now < db->logged_ns + QUIET_NS)
        return;
    db->logged_code = code;
    db->logged_ns = now;
    dg_log(DG_LOG_ERROR, "store failed keeps=\"%s\" path=\"%s\" message=\"%s\"", db->keeps,
        db->path, said);
}

static int fail(struct dg_db *db, int code, const char *said, struct dg_error *err)
{
    if (db->keeps)
        note(db, code, said);
    return dg_error_set(err, code, "%s: %s", db->keeps ? db->keeps : db->path, said);
}

int dg_db_error(struct dg_db *db, struct dg_error *err)
{
    int number = sqlite3_errcode(db->handle) & 0xff;
    int code = number == SQLITE_BUSY || number == SQLITE_LOCKED      ? DG_EAGAIN
               : number == SQLITE_NOTADB || number == SQLITE_CORRUPT ? DG_EFORMAT
               : number == SQLITE_NOMEM                              ? DG_ENOMEM
               : number == SQLITE_TOOBIG                             ? DG_ELIMIT
                                                                     : DG_EIO;
    return fail(db, code, sqlite3_errmsg(db->handle), err);
}

/* What is written to a file that was removed or replaced meanwhile is lost at the next start. */
static int check_place(struct dg_db *db, struct dg_error *err)
{
    int moved = 0;
    sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved ? fail(db, DG_EIO,
                       "the file was removed or replaced: put it back, or restart the server", err)
                 : DG_OK;
}

int dg_db_run(struct dg_db *db, const char *sql, struct dg_error *err)
{
    if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        return dg_db_error(db, err);
    return DG_OK;
}

/* First moves what the log (WAL) has to the file, as far as nobody reads it: the log can be cut
 * after a failure only if all of it has been moved, and on a full disk it is too late for that. */
int dg_db_begin(struct dg_db *db, struct dg_error *err)
{
    int rc = check_place(db, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return dg_db_run(db, "BEGIN IMMEDIATE", err);
}

/* When the disk is full or broken, SQLite has undone the transaction itself, and the log keeps its
 * size: a transaction that is too large for the disk would keep the disk full. */
int dg_db_end(struct dg_db *db, int rc, struct dg_error *err)
{
    if (rc == DG_OK)
        rc = dg_db_run(db, "COMMIT", err);
    if (rc == DG_OK)
        return DG_OK;
    if (sqlite3_get_autocommit(db->handle))
        sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    else
        dg_db_run(db, "ROLLBACK", NULL);
    return rc;
}

int dg_db_prepare(struct dg_db *db, const char *sql, sqlite3_stmt **out, struct dg_error *err)
{
    if (sqlite3_prepare_v2(db->handle, sql, -1, out, NULL) != SQLITE_OK)
        return dg_db_error(db, err);
    int rc = sqlite3_stmt_readonly(*out) ? DG_OK : check_place(db, err);
    if (rc != DG_OK) {
        sqlite3_finalize(*out);
        *out = NULL;
    }
    return rc;
}

uint64_t dg_db_failures(const struct dg_db *db)
{
    return atomic_load(&db->failures);
}

int dg_db_step(struct dg_db *db, sqlite3_stmt *s, bool *row, struct dg_error *err)
{
    int rc = sqlite3_step(s);
    *row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? DG_OK : dg_db_error(db, err);
}

int dg_db_run_take(struct dg_db *db, sqlite3_stmt *s, struct dg_error *err)
{
    bool row;
    int rc = dg_db_step(db, s, &row, err);
    sqlite3_finalize(s);
    return rc;
}

int dg_db_prepare_texts(struct dg_db *db, const char *sql, const char *const *texts,
    sqlite3_stmt **out, struct dg_error *err)
{
    int rc = dg_db_prepare(db, sql, out, err);
    for (int i = 0; rc == DG_OK && texts[i]; i++)
        sqlite3_bind_text(*out, i + 1, texts[i], -1, SQLITE_STATIC);
    return rc;
}

int dg_db_run_texts(
    struct dg_db *db, const char *sql, const char *const *texts, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = dg_db_prepare_texts(db, sql, texts, &s, err);
    return rc == DG_OK ? dg_db_run_take(db, s, err) : rc;
}

int dg_db_draw_id(char id[DG_DB_ID], struct dg_error *err)
{
    unsigned char b[16];
    char *p = id;
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        return dg_error_set(err, DG_EIO, "no random bytes: %s", strerror(errno));
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof b; i++)
        p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
    return DG_OK;
}

void dg_db_copy_text(sqlite3_stmt *s, int column, char *out, size_t cap)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    snprintf(out, cap, "%s", text ? text : "");
}

int dg_db_list_take(struct dg_db *db, sqlite3_stmt *s, size_t size,
    void (*fill)(sqlite3_stmt *s, void *row), struct dg_db_rows *out, struct dg_error *err)
{
    char *list = NULL;
    size_t n = 0, cap = 0;
    bool row = false;
    int rc;
    while ((rc = dg_db_step(db, s, &row, err)) == DG_OK && row) {
        char *more = dg_array_grow(list, n, &cap, size);
        if (!more) {
            rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu rows", n + 1);
            break;
        }
        list = more;
        fill(s, list + n++ * size);
    }
    sqlite3_finalize(s);
    if (rc != DG_OK) {
        free(list);
        list = NULL;
        n = 0;
    }
    *out = (struct dg_db_rows){list, n};
    return rc;
}

int dg_db_number(struct dg_db *db, const char *sql, int64_t *out, struct dg_error *err)
{
    return dg_db_number_texts(db, sql, (const char *const[]){NULL}, out, err);
}

int dg_db_number_texts(
    struct dg_db *db, const char *sql, const char *const *texts, int64_t *out, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    bool row = false;
    int rc = dg_db_prepare_texts(db, sql, texts, &s, err);
    if (rc == DG_OK)
        rc = dg_db_step(db, s, &row, err);
    *out = row ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return rc;
}

#define PATH_ROOM sizeof((struct dg_db *)0)->path

static void folder_of(const char *path, char folder[PATH_ROOM])
{
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(folder, PATH_ROOM, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    else
        snprintf(folder, PATH_ROOM, ".");
}

/* Gives a new file of root's to the owner of its folder, so that a service with a user of its own
 * can open it. Where that is not allowed, the file stays root's. */
static void give_to_folder(int fd, const char *path)
{
    char folder[PATH_ROOM];
    struct stat st;
    folder_of(path, folder);
    const bool given = stat(folder, &st) == 0 && fchown(fd, st.st_uid, st.st_gid) == 0;
    (void)given;
}

/* Both opening and looking refuse a file that this user may not write, before SQLite, which opens
 * it to read. */
static int check_rights(const char *path, struct dg_error *err)
{
    return faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0
               ? DG_OK
               : dg_error_set(err, DG_EIO, "cannot write %s: %s", path, strerror(errno));
}

/* Create the file here because SQLite would make it readable by everybody (as the umask allows).
 * SQLite gives the files beside it the same owner and mode. O_EXCL: no file is made where a link
 * leads, because the folder's owner could choose any place. A file that exists is not opened: this
 * process may have it open already, and closing it would drop all the locks that the process has on
 * it. Then another program that closes the file would think itself the last one, and remove the
 * log (WAL) that is still written to. */
static int create_file(const char *path, struct dg_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && geteuid() == 0)
        give_to_folder(fd, path);
    if (fd < 0 && errno == EEXIST)
        return check_rights(path, err);
    if (fd < 0)
        return dg_error_set(err, DG_EIO, "cannot make %s: %s", path, strerror(errno));
    close(fd);
    return DG_OK;
}

/* SQLite keeps what a large statement deletes or undoes in a temporary file. That goes into the
 * folder of the first file that is opened, before others open theirs: in a container with a
 * read-only root there is no other place. */
static void keep_temporary_files(const char *path)
{
    char folder[PATH_ROOM];
    folder_of(path, folder);
    if (!sqlite3_temp_directory)
        sqlite3_temp_directory = sqlite3_mprintf("%s", folder);
}

/* Opens the file of out->path; closes it again on failure. */
static int open_handle(struct dg_db *out, struct dg_error *err)
{
    keep_temporary_files(out->path);
    if (sqlite3_open_v2(out->path, &out->handle, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        int rc = out->handle ? dg_db_error(out, err)
                             : dg_error_set(err, DG_ENOMEM, "no memory to open %s", out->path);
        dg_db_close(out);
        return rc;
    }
    sqlite3_busy_timeout(out->handle, BUSY_MS);
    return DG_OK;
}

static int run_first(struct dg_db *db, const char *sql, struct dg_error *err)
{
    int rc = dg_db_run(db, sql, err);
    if (rc != DG_OK)
        dg_db_close(db);
    return rc;
}

int dg_db_open(const char *path, bool create, struct dg_db *out, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    snprintf(out->path, sizeof out->path, "%s", path);
    int rc = DG_OK;
    if (create)
        rc = create_file(path, err);
    else if (access(path, F_OK) != 0)
        rc = dg_error_set(err, DG_ENOTFOUND, "there is no %s: %s", path, strerror(errno));
    if (rc == DG_OK)
        rc = open_handle(out, err);
    if (rc != DG_OK)
        return rc;
    /* FULL: what a client was told to be stored, and a key that was revoked, outlast a power
     * failure. */
    return run_first(
        out, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", err);
}

int dg_db_look(const char *path, bool create, bool *exists, struct dg_db *out, struct dg_error *err)
{
    char folder[PATH_ROOM];
    memset(out, 0, sizeof *out);
    snprintf(out->path, sizeof out->path, "%s", path);
    *exists = access(path, F_OK) == 0;
    if (!*exists && (!create || errno != ENOENT))
        return dg_error_set(err, DG_ENOTFOUND, "there is no %s: %s", path, strerror(errno));
    folder_of(path, folder);
    if (!*exists && faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        return dg_error_set(err, DG_EIO, "cannot make %s: %s", path, strerror(errno));
    if (!*exists)
        return DG_OK;
    int rc = create ? check_rights(path, err) : DG_OK;
    if (rc == DG_OK)
        rc = open_handle(out, err);
    return rc == DG_OK ? run_first(out, "PRAGMA query_only = ON", err) : rc;
}

void dg_db_close(struct dg_db *db)
{
    sqlite3_close(db->handle);
    db->handle = NULL;
}
