#include "store/uploads.h"

#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

struct dg_uploads {
    struct dg_db db;
    /* the same file, locked by flock, of which SQLite's own locks know nothing; -1: not yet. Its
     * closing drops SQLite's, so this comes after that of all connections. */
    int lock_fd;
};

static const char *const steps[] = {
    "CREATE TABLE documents(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL,"
    " name TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL, state INTEGER NOT NULL,"
    " characters INTEGER NOT NULL, created_s INTEGER NOT NULL, message TEXT NOT NULL DEFAULT '',"
    " file BLOB NOT NULL);"
    "CREATE INDEX documents_by_state ON documents(state, number);",
    "ALTER TABLE documents ADD COLUMN owner TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE documents ADD COLUMN glossary TEXT NOT NULL DEFAULT '';",
    "CREATE INDEX documents_by_age ON documents(created_s);",
    "ALTER TABLE documents ADD COLUMN rerank INTEGER NOT NULL DEFAULT 0;",
};

static const struct dg_schema schema = {.application_id = 1145521219, /* "DGDC" */
    .what = "documents",
    .steps = steps,
    .n_steps = sizeof steps / sizeof *steps};

int dg_uploads_open(const char *path, struct dg_uploads **out, struct dg_error *err)
{
    struct dg_uploads *d = calloc(1, sizeof *d);
    if (!d)
        return dg_error_set(err, DG_ENOMEM, "no memory for documents");
    d->lock_fd = -1;
    int rc = dg_db_open(path, true, &d->db, err);
    if (rc == DG_OK)
        rc = dg_schema_apply(&d->db, &schema, true, err);
    if (rc == DG_OK) /* users' files: erase deleted data on the disk */
        rc = dg_db_run(&d->db, "PRAGMA secure_delete = ON", err);
    if (rc != DG_OK) {
        dg_uploads_close(d);
        return rc;
    }
    d->db.keeps = schema.what;
    *out = d;
    return DG_OK;
}

int dg_uploads_check(const char *path, struct dg_error *err)
{
    return dg_schema_check(path, &schema, true, NULL, err);
}

void dg_uploads_close(struct dg_uploads *d)
{
    if (!d)
        return;
    dg_db_close(&d->db);
    if (d->lock_fd >= 0)
        close(d->lock_fd);
    free(d);
}

uint64_t dg_uploads_failures(const struct dg_uploads *d)
{
    return dg_db_failures(&d->db);
}

/* File systems without such locks are not shared by servers. */
int dg_uploads_take_over(struct dg_uploads *d, struct dg_error *err)
{
    if (d->lock_fd < 0)
        d->lock_fd = open(d->db.path, O_RDWR | O_CLOEXEC);
    if (d->lock_fd < 0)
        return dg_error_set(err, DG_EIO, "documents: cannot lock their file: %s", strerror(errno));
    if (flock(d->lock_fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return dg_error_set(err, DG_EAGAIN, "another server translates the documents of this file");
    return dg_db_run(&d->db, "UPDATE documents SET state = 1 WHERE state = 2", err);
}

/* Draw the id, and the key, 256 random bits. */
static int draw(struct dg_upload *u, struct dg_error *err)
{
    unsigned char b[(DG_UPLOAD_KEY - 1) / 2];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        return dg_error_set(err, DG_EIO, "no random bytes: %s", strerror(errno));
    for (size_t i = 0; i < sizeof b; i++)
        sprintf(u->key + 2 * i, "%02x", b[i]);
    return dg_db_draw_id(u->id, err);
}

int dg_uploads_add(struct dg_uploads *d, const void *file, size_t n, int64_t most_bytes,
    struct dg_upload *made, struct dg_error *err)
{
    const char *const texts[] = {made->id, made->key, made->name, made->source, made->target,
        made->owner, made->glossary, NULL};
    sqlite3_stmt *s = NULL;
    int64_t bytes = 0;
    int rc =
        dg_db_number(&d->db, "SELECT coalesce(sum(length(file)), 0) FROM documents", &bytes, err);
    if (rc == DG_OK && bytes + (int64_t)n > most_bytes)
        rc = dg_error_set(err, DG_EAGAIN, "documents of %lld bytes are kept, the limit is %lld",
            (long long)bytes, (long long)most_bytes);
    if (rc == DG_OK)
        rc = draw(made, err);
    if (rc == DG_OK)
        rc = dg_db_prepare_texts(&d->db,
            "INSERT INTO documents(id, key, name, source, target, owner, glossary, state, characters,"
            " created_s, file, rerank) VALUES(?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)",
            texts, &s, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_int64(s, 8, made->characters);
    sqlite3_bind_int64(s, 9, made->created_s);
    sqlite3_bind_blob64(s, 10, n ? file : "", n, SQLITE_STATIC);
    sqlite3_bind_int(s, 11, made->rerank);
    made->state = DG_UPLOAD_QUEUED;
    return dg_db_run_take(&d->db, s, err);
}

#define INFO                                                                                       \
    "SELECT id, key, name, source, target, state, characters, created_s, message, file, owner,"    \
    " glossary, rerank"

/* Read the statement's only row. Append its file's bytes to `file` unless that is NULL. */
static int read_row(struct dg_uploads *d, sqlite3_stmt *s, struct dg_upload *out,
    struct dg_buffer *file, struct dg_error *err)
{
    bool row = false;
    int rc = dg_db_step(&d->db, s, &row, err);
    if (rc == DG_OK && !row)
        return dg_error_field(err, DG_ENOTFOUND, "id", "no such document");
    if (rc != DG_OK)
        return rc;
    dg_db_copy_text(s, 0, out->id, sizeof out->id);
    dg_db_copy_text(s, 1, out->key, sizeof out->key);
    dg_db_copy_text(s, 2, out->name, sizeof out->name);
    dg_db_copy_text(s, 3, out->source, sizeof out->source);
    dg_db_copy_text(s, 4, out->target, sizeof out->target);
    out->state = (enum dg_upload_state)sqlite3_column_int(s, 5);
    out->characters = sqlite3_column_int64(s, 6);
    out->created_s = sqlite3_column_int64(s, 7);
    dg_db_copy_text(s, 8, out->message, sizeof out->message);
    dg_db_copy_text(s, 10, out->owner, sizeof out->owner);
    dg_db_copy_text(s, 11, out->glossary, sizeof out->glossary);
    out->rerank = sqlite3_column_int(s, 12) != 0;
    const void *bytes = file ? sqlite3_column_blob(s, 9) : NULL;
    if (file && bytes)
        dg_buffer_add(file, bytes, (size_t)sqlite3_column_bytes(s, 9));
    return file && file->failed ? dg_error_set(err, DG_ENOMEM, "no memory for a document") : DG_OK;
}

static int read_one(struct dg_uploads *d, const char *sql, const char *id, struct dg_upload *out,
    struct dg_buffer *file, struct dg_error *err)
{
    const char *const texts[] = {id, NULL};
    sqlite3_stmt *s = NULL;
    int rc = dg_db_prepare_texts(&d->db, sql, texts, &s, err);
    if (rc == DG_OK)
        rc = read_row(d, s, out, file, err);
    sqlite3_finalize(s);
    return rc;
}

int dg_uploads_get(
    struct dg_uploads *d, const char *id, struct dg_upload *out, struct dg_error *err)
{
    return read_one(d, INFO " FROM documents WHERE id = ?", id, out, NULL, err);
}

int dg_uploads_read(
    struct dg_uploads *d, const char *id, struct dg_buffer *file, struct dg_error *err)
{
    struct dg_upload info;
    return read_one(d, INFO " FROM documents WHERE id = ? AND state = 3", id, &info, file, err);
}

int dg_uploads_next(
    struct dg_uploads *d, struct dg_upload *out, struct dg_buffer *file, struct dg_error *err)
{
    int rc = read_one(
        d, INFO " FROM documents WHERE state = 1 ORDER BY number LIMIT 1", NULL, out, file, err);
    if (rc != DG_OK)
        return rc;
    const char *const id[] = {out->id, NULL};
    out->state = DG_UPLOAD_RUNNING;
    return dg_db_run_texts(&d->db, "UPDATE documents SET state = 2 WHERE id = ?", id, err);
}

int dg_uploads_done(struct dg_uploads *d, const char *id, const void *file, size_t n,
    const char *message, struct dg_error *err)
{
    const char *const texts[] = {id, message ? message : "", NULL};
    sqlite3_stmt *s = NULL;
    int rc = dg_db_prepare_texts(&d->db,
        "UPDATE documents SET message = ?2, state = ?3, file = ?4 WHERE id = ?1 AND state = 2",
        texts, &s, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_int(s, 3, message ? DG_UPLOAD_FAILED : DG_UPLOAD_DONE);
    sqlite3_bind_blob64(s, 4, n ? file : "", n, SQLITE_STATIC);
    return dg_db_run_take(&d->db, s, err);
}

int dg_uploads_put_back(struct dg_uploads *d, const char *id, struct dg_error *err)
{
    const char *const texts[] = {id, NULL};
    return dg_db_run_texts(
        &d->db, "UPDATE documents SET state = 1 WHERE id = ? AND state = 2", texts, err);
}

int dg_uploads_remove(struct dg_uploads *d, const char *id, struct dg_error *err)
{
    const char *const texts[] = {id, NULL};
    int rc = dg_db_run_texts(&d->db, "DELETE FROM documents WHERE id = ?", texts, err);
    return rc == DG_OK && sqlite3_changes(d->db.handle) == 0
               ? dg_error_field(err, DG_ENOTFOUND, "id", "no such document")
               : rc;
}

int dg_uploads_date(
    struct dg_uploads *d, const struct dg_uploads_clock *clock, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    /* Without a step this runs for each added document; it is cheap because the index on created_s
     * usually finds no row. */
    int rc = dg_db_prepare(&d->db,
        clock->step_s == 0 ? "UPDATE documents SET created_s = ?2 WHERE created_s > ?2"
                           : "UPDATE documents SET created_s ="
                             " min(?2, created_s + iif(?1 > 0 OR created_s >= ?3 - ?1, ?1, 0))",
        &s, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_int64(s, 1, clock->step_s);
    sqlite3_bind_int64(s, 2, clock->now_s);
    if (clock->step_s != 0)
        sqlite3_bind_int64(s, 3, clock->began_s);
    return dg_db_run_take(&d->db, s, err);
}

int dg_uploads_expire(struct dg_uploads *d, int64_t before_s, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = dg_db_prepare(&d->db, "DELETE FROM documents WHERE created_s < ?", &s, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_int64(s, 1, before_s);
    return dg_db_run_take(&d->db, s, err);
}
