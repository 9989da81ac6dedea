/* Collections: creates, lists, changes and removes them. */
#include "store/memory_internal.h"
#include "store/schema.h"
#include "text/language_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const steps[] = {
    "CREATE TABLE collections(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " kind INTEGER NOT NULL, name TEXT NOT NULL, created_s INTEGER NOT NULL);"
    "CREATE TABLE pairs(source_lang TEXT NOT NULL, target_lang TEXT NOT NULL,"
    " source TEXT NOT NULL,"
    " collection INTEGER NOT NULL REFERENCES collections(number) ON DELETE CASCADE,"
    " target TEXT NOT NULL,"
    " PRIMARY KEY(source_lang, target_lang, source, collection)) WITHOUT ROWID;"
    "CREATE INDEX pairs_by_collection ON pairs(collection);",
    "ALTER TABLE collections ADD COLUMN owner TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE collections ADD COLUMN origin TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE collections ADD COLUMN version INTEGER NOT NULL DEFAULT 1;"
    "CREATE INDEX collections_by_owner ON collections(kind, owner);"
    "CREATE TABLE dictionaries("
    " collection INTEGER NOT NULL REFERENCES collections(number) ON DELETE CASCADE,"
    " source_lang TEXT NOT NULL, target_lang TEXT NOT NULL, pairs INTEGER NOT NULL,"
    " PRIMARY KEY(collection, source_lang, target_lang)) WITHOUT ROWID;"
    "INSERT INTO dictionaries SELECT collection, source_lang, target_lang, count(*) FROM pairs"
    " GROUP BY collection, source_lang, target_lang;",
    /* dictionaries of memories by owner; triggers, because older programs may have the file open */
    "CREATE TABLE memory_languages(owner TEXT NOT NULL, source_lang TEXT NOT NULL,"
    " target_lang TEXT NOT NULL, collection INTEGER NOT NULL,"
    " PRIMARY KEY(owner, source_lang, target_lang, collection)) WITHOUT ROWID;"
    "CREATE INDEX memory_languages_by_collection ON memory_languages(collection);"
    "CREATE TRIGGER memory_languages_add AFTER INSERT ON dictionaries BEGIN"
    " INSERT OR IGNORE INTO memory_languages SELECT owner, NEW.source_lang, NEW.target_lang, number"
    " FROM collections WHERE number = NEW.collection AND kind = 2; END;"
    "CREATE TRIGGER memory_languages_remove AFTER DELETE ON dictionaries BEGIN"
    " DELETE FROM memory_languages WHERE collection = OLD.collection"
    " AND source_lang = OLD.source_lang AND target_lang = OLD.target_lang; END;"
    "INSERT INTO memory_languages SELECT owner, source_lang, target_lang, number"
    " FROM collections JOIN dictionaries ON collection = number WHERE kind = 2;",
};

static const struct dg_schema schema = {.application_id = 1145523533, /* "DGMM" */
    .what = "glossaries and translation memories",
    .steps = steps,
    .n_steps = sizeof steps / sizeof *steps};

/* SQL function language_distance(asked, stored), for dg_memory_find. */
static void language_distance(sqlite3_context *context, int n, sqlite3_value **values)
{
    const char *asked = (const char *)sqlite3_value_text(values[0]);
    const char *stored = (const char *)sqlite3_value_text(values[1]);
    (void)n;
    sqlite3_result_int(context, asked && stored ? dg_language_distance(asked, stored) : -1);
}

int dg_memory_open(const char *path, bool create, struct dg_memory **out, struct dg_error *err)
{
    struct dg_memory *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for glossaries");
    int rc = dg_db_open(path, create, &m->db, err);
    if (rc == DG_OK)
        rc = dg_schema_apply(&m->db, &schema, create, err);
    if (rc == DG_OK &&
        sqlite3_create_function(m->db.handle, "language_distance", 2,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, language_distance, NULL, NULL) != SQLITE_OK)
        rc = dg_db_error(&m->db, err);
    if (rc != DG_OK) {
        dg_memory_close(m);
        return rc;
    }
    m->db.keeps = schema.what;
    *out = m;
    return DG_OK;
}

int dg_memory_check(const char *path, struct dg_error *err)
{
    return dg_schema_check(path, &schema, true, NULL, err);
}

void dg_memory_close(struct dg_memory *m)
{
    if (!m)
        return;
    sqlite3_finalize(m->find);
    dg_db_close(&m->db);
    free(m);
}

void dg_memory_bind(sqlite3_stmt *s, int at, const char *text, size_t n)
{
    sqlite3_bind_text64(s, at, text, n, SQLITE_STATIC, SQLITE_UTF8);
}

/* ---- looking ---- */

#define INFO                                                                                       \
    "SELECT id, kind, name, owner, origin, created_s, version,"                                    \
    " (SELECT coalesce(sum(pairs), 0) FROM dictionaries WHERE collection = number)"                \
    " FROM collections WHERE kind = ?1 AND owner IN (?2, '')"

static void read_info(sqlite3_stmt *s, void *row)
{
    struct dg_memory_info *i = row;
    memset(i, 0, sizeof *i);
    dg_db_copy_text(s, 0, i->id, sizeof i->id);
    i->kind = (enum dg_memory_kind)sqlite3_column_int(s, 1);
    dg_db_copy_text(s, 2, i->name, sizeof i->name);
    dg_db_copy_text(s, 3, i->owner, sizeof i->owner);
    dg_db_copy_text(s, 4, i->origin, sizeof i->origin);
    i->created_s = sqlite3_column_int64(s, 5);
    i->version = sqlite3_column_int64(s, 6);
    i->pairs = sqlite3_column_int64(s, 7);
}

static int prepare_info(struct dg_memory *m, const char *sql, enum dg_memory_kind kind,
    const char *owner, sqlite3_stmt **s, struct dg_error *err)
{
    int rc = dg_db_prepare(&m->db, sql, s, err);
    if (rc == DG_OK) {
        sqlite3_bind_int(*s, 1, (int)kind);
        dg_memory_bind(*s, 2, owner, strlen(owner));
    }
    return rc;
}

static int no_such(enum dg_memory_kind kind, const char *id, struct dg_error *err)
{
    return dg_error_field(err, DG_ENOTFOUND, "id", "there is no %s \"%.40s\"",
        kind == DG_MEMORY_GLOSSARY ? "glossary" : "translation memory", id);
}

int dg_memory_get(struct dg_memory *m, enum dg_memory_kind kind, const char *owner, const char *id,
    struct dg_memory_info *out, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    bool row = false;
    int rc = prepare_info(m, INFO " AND id = ?3", kind, owner, &s, err);
    if (rc == DG_OK) {
        dg_memory_bind(s, 3, id, strlen(id));
        rc = dg_db_step(&m->db, s, &row, err);
    }
    if (row)
        read_info(s, out);
    sqlite3_finalize(s);
    return rc == DG_OK && !row ? no_such(kind, id, err) : rc;
}

int dg_memory_get_own(struct dg_memory *m, enum dg_memory_kind kind, const char *owner,
    const char *id, struct dg_memory_info *out, struct dg_error *err)
{
    int rc = dg_memory_get(m, kind, owner, id, out, err);
    if (rc == DG_OK && (strcmp(out->owner, owner) != 0 || out->origin[0] != '\0'))
        rc = dg_error_field(err, DG_ENOTFOUND, "id",
            "\"%s\" belongs to the server: clients cannot change it", out->id);
    return rc;
}

int dg_memory_list(struct dg_memory *m, enum dg_memory_kind kind, const char *owner,
    struct dg_memory_info **out, size_t *n, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    struct dg_db_rows rows = {NULL, 0};
    int rc = prepare_info(m, INFO " ORDER BY number", kind, owner, &s, err);
    if (rc == DG_OK)
        rc = dg_db_list_take(&m->db, s, sizeof **out, read_info, &rows, err);
    *out = rows.list;
    *n = rows.n;
    return rc;
}

int dg_memory_number(struct dg_memory *m, const char *id, int64_t *number, struct dg_error *err)
{
    int rc = dg_db_number_texts(&m->db, "SELECT number FROM collections WHERE id = ?",
        (const char *const[]){id, NULL}, number, err);
    return rc == DG_OK && *number == 0
               ? dg_error_field(err, DG_ENOTFOUND, "id", "there is no collection \"%.40s\"", id)
               : rc;
}

/* ---- changing ---- */

static int check_name(const char *name, struct dg_error *err)
{
    const size_t n = strlen(name);
    if (n > 0 && n < DG_MEMORY_NAME)
        return DG_OK;
    return dg_error_field(
        err, DG_EINVAL, "name", "name has %zu bytes, expected 1 to %d", n, DG_MEMORY_NAME - 1);
}

static int insert(struct dg_memory *m, const struct dg_memory_info *i, struct dg_error *err)
{
    const char *const texts[] = {i->id, i->name, i->owner, i->origin, NULL};
    sqlite3_stmt *s = NULL;
    int rc = dg_db_prepare_texts(&m->db,
        "INSERT INTO collections(id, name, owner, origin, kind, created_s)"
        " VALUES(?, ?, ?, ?, ?, ?)",
        texts, &s, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_int(s, 5, (int)i->kind);
    sqlite3_bind_int64(s, 6, i->created_s);
    return dg_db_run_take(&m->db, s, err);
}

/* The other collections of the kind and owner of a new one. */
#define OTHERS                                                                                     \
    "SELECT count(*) FROM collections c JOIN collections made ON made.id = ? WHERE"                \
    " c.id != made.id AND c.kind = made.kind AND c.owner = made.owner"

/* DG_ELIMIT if the owner has too many of the kind of a new collection; DG_EAGAIN if another server
 * has read the state of the file that it is made from. */
static int check_others(struct dg_memory *m, const char *made, struct dg_error *err)
{
    const char *const id[] = {made, NULL};
    int64_t n = 0, same = 0;
    int rc = dg_db_number_texts(&m->db, OTHERS, id, &n, err);
    if (rc == DG_OK && n >= DG_MEMORY_COLLECTIONS)
        rc = dg_error_set(err, DG_ELIMIT, "there are %" PRId64 " already, the limit is %d", n,
            DG_MEMORY_COLLECTIONS);
    if (rc == DG_OK)
        rc = dg_db_number_texts(
            &m->db, OTHERS " AND c.origin = made.origin AND c.origin != ''", id, &same, err);
    return same > 0 ? dg_error_set(err, DG_EAGAIN, "another server has read it meanwhile") : rc;
}

int dg_memory_make(struct dg_memory *m, const struct dg_memory_info *wanted,
    const struct dg_memory_pair *pairs, size_t n, struct dg_memory_info *made, struct dg_error *err)
{
    const struct dg_memory_change all = {.pairs = pairs, .n = n};
    struct dg_memory_info own = *wanted;
    int64_t number;
    int rc = check_name(own.name, err);
    if (rc == DG_OK)
        rc = dg_db_draw_id(own.id, err);
    if (rc == DG_OK)
        rc = dg_db_begin(&m->db, err);
    if (rc != DG_OK)
        return rc;
    rc = insert(m, &own, err);
    if (rc == DG_OK)
        rc = check_others(m, own.id, err);
    if (rc == DG_OK)
        rc = dg_memory_number(m, own.id, &number, err);
    if (rc == DG_OK)
        rc = dg_memory_put(m, number, own.kind, &all, err);
    if (rc == DG_OK)
        rc = dg_memory_get(m, own.kind, own.owner, own.id, made, err);
    return dg_db_end(&m->db, rc, err);
}

int dg_memory_alter(struct dg_memory *m, const struct dg_memory_info *own,
    const struct dg_memory_change *change, struct dg_memory_info *out, struct dg_error *err)
{
    int64_t number;
    int rc = change->name ? check_name(change->name, err) : DG_OK;
    if (rc == DG_OK)
        rc = dg_db_begin(&m->db, err);
    if (rc != DG_OK)
        return rc;
    rc = dg_memory_number(m, own->id, &number, err);
    if (rc == DG_OK)
        rc = dg_memory_put(m, number, own->kind, change, err);
    if (rc == DG_OK)
        rc = dg_db_run_texts(&m->db,
            "UPDATE collections SET name = coalesce(?2, name), version = version + 1 WHERE id = ?1",
            (const char *const[]){own->id, change->name, NULL}, err);
    if (rc == DG_OK)
        rc = dg_memory_get(m, own->kind, own->owner, own->id, out, err);
    return dg_db_end(&m->db, rc, err);
}

int dg_memory_remove(struct dg_memory *m, const char *id, struct dg_error *err)
{
    int64_t number;
    int rc = dg_memory_number(m, id, &number, err);
    return rc == DG_OK ? dg_db_run_texts(&m->db, "DELETE FROM collections WHERE id = ?",
                             (const char *const[]){id, NULL}, err)
                       : rc;
}

int dg_memory_remove_languages(struct dg_memory *m, const char *id, const char *source_lang,
    const char *target_lang, struct dg_error *err)
{
    char from[DG_MEMORY_LANGUAGE], to[DG_MEMORY_LANGUAGE];
    int64_t number;
    int rc = dg_memory_language(source_lang, from, err);
    if (rc == DG_OK)
        rc = dg_memory_language(target_lang, to, err);
    if (rc == DG_OK)
        rc = dg_db_begin(&m->db, err);
    if (rc != DG_OK)
        return rc;
    rc = dg_memory_number(m, id, &number, err);
    if (rc == DG_OK)
        rc = dg_db_run_texts(&m->db,
            "DELETE FROM pairs WHERE source_lang = ?2 AND target_lang = ?3 AND"
            " collection = (SELECT number FROM collections WHERE id = ?1)",
            (const char *const[]){id, from, to, NULL}, err);
    if (rc == DG_OK && sqlite3_changes(m->db.handle) == 0)
        rc =
            dg_error_field(err, DG_ENOTFOUND, "id", "there are no entries from %s to %s", from, to);
    if (rc == DG_OK)
        rc = dg_memory_count(m, number, err);
    if (rc == DG_OK)
        rc = dg_db_run_texts(&m->db, "UPDATE collections SET version = version + 1 WHERE id = ?",
            (const char *const[]){id, NULL}, err);
    return dg_db_end(&m->db, rc, err);
}
