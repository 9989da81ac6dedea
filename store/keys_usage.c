#include "store/keys_internal.h"

static int add_one(
    struct dg_keys *k, sqlite3_stmt *s, const struct dg_key_usage *u, struct dg_error *err)
{
    bool row;
    sqlite3_reset(s);
    sqlite3_bind_text(s, 1, u->id, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, u->day);
    sqlite3_bind_int64(s, 3, u->requests);
    sqlite3_bind_int64(s, 4, u->characters);
    return dg_db_step(&k->db, s, &row, err);
}

int dg_keys_use(struct dg_keys *k, const struct dg_key_usage *list, size_t n, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    if (n == 0)
        return DG_OK;
    int rc = k->db.handle ? dg_db_begin(&k->db, err)
                          : dg_error_set(err, DG_EIO, "%s could not be opened", k->db.path);
    if (rc != DG_OK)
        return rc;
    rc = dg_db_prepare(&k->db,
        "INSERT INTO usage(id, day, requests, characters) SELECT id, ?2, ?3, ?4 FROM keys WHERE id "
        "= ?1"
        " ON CONFLICT(id, day) DO UPDATE SET requests = requests + excluded.requests,"
        " characters = characters + excluded.characters",
        &s, err);
    for (size_t i = 0; i < n && rc == DG_OK; i++)
        rc = add_one(k, s, &list[i], err);
    sqlite3_finalize(s);
    rc = dg_db_end(&k->db, rc, err);
    if (rc == DG_OK) /* if others are reading, a later call does the rest */
        dg_db_run(&k->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
    return rc;
}

static void read_usage(sqlite3_stmt *s, void *row)
{
    struct dg_key_usage *u = row;
    dg_db_copy_text(s, 0, u->id, sizeof u->id);
    u->day = sqlite3_column_int64(s, 1);
    u->requests = sqlite3_column_int64(s, 2);
    u->characters = sqlite3_column_int64(s, 3);
}

int dg_keys_usage(struct dg_keys *k, int64_t first_day, struct dg_key_usage **out, size_t *n,
    struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    struct dg_db_rows rows;
    int rc = dg_db_prepare(&k->db,
        "SELECT id, day, requests, characters FROM usage WHERE day >= ? ORDER BY id, day", &s, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_int64(s, 1, first_day);
    rc = dg_db_list_take(&k->db, s, sizeof **out, read_usage, &rows, err);
    if (rc != DG_OK)
        return rc;
    *out = rows.list;
    *n = rows.n;
    return DG_OK;
}
