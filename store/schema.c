#include "store/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Run one step, unless another program has run it meanwhile. */
static int take_step(
    struct dg_db *db, const struct dg_schema *schema, size_t step, struct dg_error *err)
{
    char mark[96];
    int64_t version = 0;
    int rc = dg_db_begin(db, err);
    if (rc != DG_OK)
        return rc;
    snprintf(mark, sizeof mark, "PRAGMA application_id = %" PRId64 "; PRAGMA user_version = %zu",
        schema->application_id, step + 1);
    rc = dg_db_number(db, "PRAGMA user_version", &version, err);
    if (rc == DG_OK && (size_t)version == step)
        rc = dg_db_run(db, schema->steps[step], err);
    if (rc == DG_OK && (size_t)version == step)
        rc = dg_db_run(db, mark, err);
    return dg_db_end(db, rc, err);
}

/* *version: that of the tables, 0 in an empty file, which is fine where create is set. */
static int read_version(struct dg_db *db, const struct dg_schema *schema, bool create,
    int64_t *version, struct dg_error *err)
{
    int64_t id = 0, tables = 0;
    int rc = dg_db_number(db, "PRAGMA application_id", &id, err);
    if (rc == DG_OK)
        rc = dg_db_number(db, "PRAGMA user_version", version, err);
    if (rc == DG_OK)
        rc = dg_db_number(db, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (rc != DG_OK)
        return rc;
    const bool empty = id == 0 && tables == 0 && create;
    if (!empty && id != schema->application_id)
        return dg_error_set(err, DG_EFORMAT, "%s is not a file of %s", db->path, schema->what);
    if (*version < 0 || (size_t)*version > schema->n_steps)
        return dg_error_set(err, DG_EUNSUP,
            "%s has version %" PRId64 " of its tables, this program knows %zu", db->path, *version,
            schema->n_steps);
    return DG_OK;
}

int dg_schema_apply(
    struct dg_db *db, const struct dg_schema *schema, bool create, struct dg_error *err)
{
    int64_t version = 0;
    int rc = read_version(db, schema, create, &version, err);
    for (size_t step = (size_t)version; step < schema->n_steps && rc == DG_OK; step++)
        rc = take_step(db, schema, step, err);
    return rc;
}

/* Read all of the file: a page that is damaged would be found when it is needed. */
static int check_whole(struct dg_db *db, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    bool row = false;
    int rc = dg_db_prepare(db, "PRAGMA quick_check(1)", &s, err);
    if (rc == DG_OK)
        rc = dg_db_step(db, s, &row, err);
    const char *said = row ? (const char *)sqlite3_column_text(s, 0) : NULL;
    const char *line = said ? strrchr(said, '\n') : NULL; /* after "*** in database main ***" */
    if (rc == DG_OK && (!said || strcmp(said, "ok") != 0))
        rc = dg_error_set(err, DG_EFORMAT, "%s is damaged: %s", db->path,
            line   ? line + 1
            : said ? said
                   : "it cannot be read");
    sqlite3_finalize(s);
    return rc;
}

int dg_schema_check(const char *path, const struct dg_schema *schema, bool create, bool *older,
    struct dg_error *err)
{
    struct dg_db db;
    int64_t version = 0;
    bool exists = false;
    int rc = dg_db_look(path, create, &exists, &db, err);
    if (rc == DG_OK && exists)
        rc = read_version(&db, schema, create, &version, err);
    if (rc == DG_OK && exists)
        rc = check_whole(&db, err);
    if (older)
        *older = rc == DG_OK && exists && (size_t)version < schema->n_steps;
    dg_db_close(&db);
    return rc;
}
