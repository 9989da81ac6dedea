#include "store/memory.h"

#include "store/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

struct dg_memory {
    struct dg_db db;
    /* of dg_memory_find, prepared at its first call */
    sqlite3_stmt *find;
};

static const char *const steps[] = {
    "CREATE TABLE collections(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " kind INTEGER NOT NULL, name TEXT NOT NULL, created_s INTEGER NOT NULL);"
    "CREATE TABLE pairs(source_lang TEXT NOT NULL, target_lang TEXT NOT NULL,"
    " source TEXT NOT NULL,"
    " collection INTEGER NOT NULL REFERENCES collections(number) ON DELETE CASCADE,"
    " target TEXT NOT NULL,"
    " PRIMARY KEY(source_lang, target_lang, source, collection)) WITHOUT ROWID;"
    "CREATE INDEX pairs_by_collection ON pairs(collection);",
};

static const struct dg_schema schema = {.application_id = 1145523533, /* "DGMM" */
    .what = "glossaries and translation memories",
    .steps = steps,
    .n_steps = sizeof steps / sizeof *steps};

int dg_memory_open(const char *path, bool create, struct dg_memory **out, struct dg_error *err)
{
    struct dg_memory *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for glossaries");
    int rc = dg_db_open(path, create, &m->db, err);
    if (rc == DG_OK)
        rc = dg_schema_apply(&m->db, &schema, create, err);
    if (rc != DG_OK) {
        dg_memory_close(m);
        return rc;
    }
    *out = m;
    return DG_OK;
}

void dg_memory_close(struct dg_memory *m)
{
    if (!m)
        return;
    sqlite3_finalize(m->find);
    dg_db_close(&m->db);
    free(m);
}

/* A random UUID (RFC 4122, version 4). */
static int draw_id(char id[DG_MEMORY_ID], struct dg_error *err)
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

static void bind_text(sqlite3_stmt *s, int at, const char *text, size_t n)
{
    sqlite3_bind_text64(s, at, text, n, SQLITE_STATIC, SQLITE_UTF8);
}

int dg_memory_make(struct dg_memory *m, enum dg_memory_kind kind, const char *name, int64_t now_s,
    struct dg_memory_info *made, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    bool row;
    const size_t n = strlen(name);
    if (n == 0 || n >= DG_MEMORY_NAME)
        return dg_error_field(
            err, DG_EINVAL, "name", "name has %zu bytes, expected 1 to %d", n, DG_MEMORY_NAME - 1);
    *made = (struct dg_memory_info){.kind = kind, .created_s = now_s};
    memcpy(made->name, name, n + 1);
    int rc = draw_id(made->id, err);
    if (rc == DG_OK)
        rc = dg_db_prepare(&m->db,
            "INSERT INTO collections(id, kind, name, created_s) VALUES(?, ?, ?, ?)", &s, err);
    if (rc == DG_OK) {
        bind_text(s, 1, made->id, DG_MEMORY_ID - 1);
        sqlite3_bind_int(s, 2, (int)kind);
        bind_text(s, 3, name, n);
        sqlite3_bind_int64(s, 4, now_s);
        rc = dg_db_step(&m->db, s, &row, err);
    }
    sqlite3_finalize(s);
    return rc;
}

static int no_such(const char *id, struct dg_error *err)
{
    return dg_error_field(err, DG_ENOTFOUND, "id", "there is no collection \"%.40s\"", id);
}

int dg_memory_remove(struct dg_memory *m, const char *id, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    bool row;
    int rc = dg_db_prepare(&m->db, "DELETE FROM collections WHERE id = ?", &s, err);
    if (rc == DG_OK) {
        bind_text(s, 1, id, strlen(id));
        rc = dg_db_step(&m->db, s, &row, err);
    }
    if (rc == DG_OK && sqlite3_changes(m->db.handle) == 0)
        rc = no_such(id, err);
    sqlite3_finalize(s);
    return rc;
}

static void copy_text(sqlite3_stmt *s, int column, char *out, size_t cap)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    snprintf(out, cap, "%s", text ? text : "");
}

int dg_memory_list(
    struct dg_memory *m, struct dg_memory_info **out, size_t *n, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    struct dg_memory_info *list = NULL;
    size_t cap = 0;
    bool row = false;
    *out = NULL;
    *n = 0;
    int rc = dg_db_prepare(&m->db,
        "SELECT id, kind, name, created_s,"
        " (SELECT count(*) FROM pairs WHERE collection = number) FROM collections ORDER BY number",
        &s, err);
    if (rc == DG_OK)
        rc = dg_db_step(&m->db, s, &row, err);
    while (rc == DG_OK && row) {
        if (*n == cap) {
            cap = cap ? 2 * cap : 8;
            struct dg_memory_info *grown = realloc(list, cap * sizeof *grown);
            if (!grown) {
                rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu collections", cap);
                break;
            }
            list = grown;
        }
        struct dg_memory_info *i = &list[(*n)++];
        copy_text(s, 0, i->id, sizeof i->id);
        i->kind = (enum dg_memory_kind)sqlite3_column_int(s, 1);
        copy_text(s, 2, i->name, sizeof i->name);
        i->created_s = sqlite3_column_int64(s, 3);
        i->pairs = sqlite3_column_int64(s, 4);
        rc = dg_db_step(&m->db, s, &row, err);
    }
    sqlite3_finalize(s);
    if (rc == DG_OK)
        *out = list;
    else
        free(list);
    return rc;
}

/* The row number of a collection in the table of pairs. */
static int number_of(struct dg_memory *m, const char *id, int64_t *number, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    bool row = false;
    int rc = dg_db_prepare(&m->db, "SELECT number FROM collections WHERE id = ?", &s, err);
    if (rc == DG_OK) {
        bind_text(s, 1, id, strlen(id));
        rc = dg_db_step(&m->db, s, &row, err);
    }
    *number = row ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return rc == DG_OK && !row ? no_such(id, err) : rc;
}

static int put_all(struct dg_memory *m, const char *id, const struct dg_memory_pair *pairs,
    size_t n, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    int64_t number;
    bool row;
    int rc = number_of(m, id, &number, err);
    if (rc == DG_OK)
        rc = dg_db_prepare(&m->db,
            "INSERT OR REPLACE INTO pairs(source_lang, target_lang, source, collection, target)"
            " VALUES(?, ?, ?, ?, ?)",
            &s, err);
    for (size_t i = 0; i < n && rc == DG_OK; i++) {
        const struct dg_memory_pair *p = &pairs[i];
        bind_text(s, 1, p->source_lang, strlen(p->source_lang));
        bind_text(s, 2, p->target_lang, strlen(p->target_lang));
        bind_text(s, 3, p->source, p->source_len);
        sqlite3_bind_int64(s, 4, number);
        bind_text(s, 5, p->target, p->target_len);
        rc = dg_db_step(&m->db, s, &row, err);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return rc;
}

int dg_memory_put(struct dg_memory *m, const char *id, const struct dg_memory_pair *pairs, size_t n,
    struct dg_error *err)
{
    int rc = dg_db_run(&m->db, "BEGIN IMMEDIATE", err);
    if (rc != DG_OK)
        return rc;
    rc = put_all(m, id, pairs, n, err);
    if (rc == DG_OK)
        rc = dg_db_run(&m->db, "COMMIT", err);
    if (rc != DG_OK)
        dg_db_run(&m->db, "ROLLBACK", NULL);
    return rc;
}

static struct dg_memory_pair pair_of(sqlite3_stmt *s)
{
    /* Text first, then its bytes: SQLite may convert in between. */
    struct dg_memory_pair p = {.source_lang = (const char *)sqlite3_column_text(s, 0),
        .target_lang = (const char *)sqlite3_column_text(s, 1),
        .source = (const char *)sqlite3_column_text(s, 2),
        .target = (const char *)sqlite3_column_text(s, 3)};
    p.source_len = (size_t)sqlite3_column_bytes(s, 2);
    p.target_len = (size_t)sqlite3_column_bytes(s, 3);
    return p;
}

int dg_memory_read(
    struct dg_memory *m, const char *id, dg_memory_visit *visit, void *ctx, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    int64_t number;
    bool row = false;
    int rc = number_of(m, id, &number, err);
    if (rc == DG_OK)
        rc = dg_db_prepare(&m->db,
            "SELECT source_lang, target_lang, source, target FROM pairs WHERE collection = ?"
            " ORDER BY source_lang, target_lang, source",
            &s, err);
    if (rc == DG_OK) {
        sqlite3_bind_int64(s, 1, number);
        rc = dg_db_step(&m->db, s, &row, err);
    }
    while (rc == DG_OK && row) {
        const struct dg_memory_pair p = pair_of(s);
        rc = visit(ctx, &p, err);
        if (rc == DG_OK)
            rc = dg_db_step(&m->db, s, &row, err);
    }
    sqlite3_finalize(s);
    return rc;
}

int dg_memory_find(struct dg_memory *m, enum dg_memory_kind kind,
    const struct dg_memory_pair *wanted, struct dg_buffer *target, struct dg_error *err)
{
    bool row = false;
    int rc = m->find ? DG_OK
                     : dg_db_prepare(&m->db,
                           "SELECT target FROM pairs JOIN collections ON number = collection"
                           " WHERE source_lang = ? AND target_lang = ? AND source = ? AND kind = ?"
                           " ORDER BY number DESC LIMIT 1",
                           &m->find, err);
    if (rc != DG_OK)
        return rc;
    bind_text(m->find, 1, wanted->source_lang, strlen(wanted->source_lang));
    bind_text(m->find, 2, wanted->target_lang, strlen(wanted->target_lang));
    bind_text(m->find, 3, wanted->source, wanted->source_len);
    sqlite3_bind_int(m->find, 4, (int)kind);
    rc = dg_db_step(&m->db, m->find, &row, err);
    if (rc == DG_OK && row) {
        const void *text = sqlite3_column_text(m->find, 0);
        dg_buffer_add(target, text, (size_t)sqlite3_column_bytes(m->find, 0));
        if (target->failed)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a translation");
    }
    sqlite3_reset(m->find);
    return rc == DG_OK && !row ? dg_error_set(err, DG_ENOTFOUND, "no memory has this text") : rc;
}
