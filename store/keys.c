#include "store/keys_internal.h"

#include "store/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <nettle/sha2.h>

#define SECRET_BYTES 32

static const char *const steps[] = {
    "CREATE TABLE keys(id TEXT PRIMARY KEY, name TEXT NOT NULL,"
    " hash BLOB NOT NULL UNIQUE, scopes INTEGER NOT NULL, created_s INTEGER NOT NULL,"
    " revoked_s INTEGER NOT NULL DEFAULT 0, requests_per_minute INTEGER NOT NULL DEFAULT 0,"
    " characters_per_day INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE usage(id TEXT NOT NULL REFERENCES keys(id), day INTEGER NOT NULL,"
    " requests INTEGER NOT NULL, characters INTEGER NOT NULL, PRIMARY KEY(id, day)) WITHOUT ROWID",
    "ALTER TABLE keys ADD COLUMN expires_s INTEGER NOT NULL DEFAULT 0",
};

static const struct dg_schema schema = {.application_id = 1145523019, /* "DGKK" */
    .what = "API keys",
    .steps = steps,
    .n_steps = sizeof steps / sizeof *steps};

/* Open the file that is at path now, and remember its identity. */
static int open_file(struct dg_keys *k, const char *path, bool create, struct dg_error *err)
{
    struct stat now;
    int rc = dg_db_open(path, create, &k->db, err);
    if (rc == DG_OK && stat(path, &now) != 0)
        rc = dg_error_set(err, DG_EIO, "cannot look at %s: %s", path, strerror(errno));
    if (rc == DG_OK)
        rc = dg_schema_apply(&k->db, &schema, create, err);
    if (rc == DG_OK)
        rc = dg_db_number(&k->db, "PRAGMA data_version", &k->data_version, err);
    if (rc != DG_OK) {
        dg_db_close(&k->db);
        return rc;
    }
    k->device = now.st_dev;
    k->inode = now.st_ino;
    return DG_OK;
}

/* Open the file that is at the path now if it is another one. The old one is closed first, because
 * closing removes SQLite's side files, whose names then belong to the new file. */
static int follow(struct dg_keys *k, bool *other, struct dg_error *err)
{
    struct stat now;
    char path[sizeof k->db.path];
    *other = false;
    if (stat(k->db.path, &now) != 0)
        return dg_error_set(err, DG_EIO, "there is no %s: %s", k->db.path, strerror(errno));
    if (k->db.handle && now.st_dev == k->device && now.st_ino == k->inode)
        return DG_OK;
    memcpy(path, k->db.path, sizeof path);
    dg_db_close(&k->db);
    *other = true;
    return open_file(k, path, false, err);
}

int dg_keys_open(const char *path, bool create, struct dg_keys **out, struct dg_error *err)
{
    struct dg_keys *k = calloc(1, sizeof *k);
    if (!k)
        return dg_error_set(err, DG_ENOMEM, "no memory for the API keys");
    int rc = open_file(k, path, create, err);
    if (rc != DG_OK) {
        dg_keys_close(k);
        return rc;
    }
    *out = k;
    return DG_OK;
}

int dg_keys_check(const char *path, bool *older, struct dg_error *err)
{
    return dg_schema_check(path, &schema, false, older, err);
}

void dg_keys_close(struct dg_keys *k)
{
    if (!k)
        return;
    dg_db_close(&k->db);
    free(k);
}

void dg_keys_hash(const char *secret, size_t n, unsigned char out[DG_KEY_HASH])
{
    struct sha256_ctx c;
    sha256_init(&c);
    sha256_update(&c, n, (const uint8_t *)secret);
    sha256_digest(&c, DG_KEY_HASH, out);
}

/* Write bytes[n] as base64url without padding, NUL-terminated: 6 bits a character, the last may
 * carry fewer. */
static void base64url(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned value = 0, bits = 0;
    for (size_t i = 0; i < n; i++) {
        value = value << 8 | bytes[i];
        for (bits += 8; bits >= 6; bits -= 6)
            *out++ = digits[value >> (bits - 6) & 63];
    }
    if (bits > 0)
        *out++ = digits[value << (6 - bits) & 63];
    *out = '\0';
}

static int draw(struct dg_key *key, char secret[DG_KEY_SECRET], struct dg_error *err)
{
    unsigned char bytes[SECRET_BYTES + 4];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return dg_error_set(err, DG_EIO, "no random bytes: %s", strerror(errno));
    memcpy(secret, "dg_", 3);
    base64url(bytes, SECRET_BYTES, secret + 3);
    dg_keys_hash(secret, strlen(secret), key->hash);
    /* Drawn separately, so that the id reveals nothing about the secret. */
    snprintf(key->id, sizeof key->id, "%02x%02x%02x%02x", bytes[SECRET_BYTES],
        bytes[SECRET_BYTES + 1], bytes[SECRET_BYTES + 2], bytes[SECRET_BYTES + 3]);
    explicit_bzero(bytes, sizeof bytes);
    return DG_OK;
}

int dg_keys_add(struct dg_keys *k, const struct dg_key *wanted, int64_t now_s, struct dg_key *made,
    char secret[DG_KEY_SECRET], struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    *made = *wanted;
    made->created_s = now_s;
    made->revoked_s = 0;
    int rc = draw(made, secret, err);
    if (rc == DG_OK)
        rc = dg_db_prepare(&k->db,
            "INSERT INTO keys(id, name, hash, scopes, created_s, requests_per_minute,"
            " characters_per_day, expires_s) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            &s, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_text(s, 1, made->id, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, made->name, -1, SQLITE_STATIC);
    sqlite3_bind_blob(s, 3, made->hash, DG_KEY_HASH, SQLITE_STATIC);
    sqlite3_bind_int64(s, 4, made->scopes);
    sqlite3_bind_int64(s, 5, made->created_s);
    sqlite3_bind_int64(s, 6, made->requests_per_minute);
    sqlite3_bind_int64(s, 7, made->characters_per_day);
    sqlite3_bind_int64(s, 8, made->expires_s);
    return dg_db_run_take(&k->db, s, err);
}

/* Run and finalise a statement that changes the row of an id. DG_ENOTFOUND. */
static int change_take(struct dg_keys *k, sqlite3_stmt *s, const char *id, struct dg_error *err)
{
    int rc = dg_db_run_take(&k->db, s, err);
    if (rc == DG_OK && sqlite3_changes(k->db.handle) == 0)
        rc = dg_error_field(err, DG_ENOTFOUND, "id", "there is no key \"%.32s\"", id);
    return rc;
}

int dg_keys_revoke(struct dg_keys *k, const char *id, int64_t now_s, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = dg_db_prepare(&k->db,
        "UPDATE keys SET revoked_s = iif(revoked_s = 0, ?, revoked_s) WHERE id = ?", &s, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_int64(s, 1, now_s);
    sqlite3_bind_text(s, 2, id, -1, SQLITE_STATIC);
    return change_take(k, s, id, err);
}

int dg_keys_set(struct dg_keys *k, const char *id, const struct dg_key *wanted, unsigned fields,
    struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = dg_db_prepare(&k->db,
        "UPDATE keys SET name = iif(?2 & 1, ?3, name), scopes = iif(?2 & 2, ?4, scopes),"
        " requests_per_minute = iif(?2 & 4, ?5, requests_per_minute),"
        " characters_per_day = iif(?2 & 8, ?6, characters_per_day),"
        " expires_s = iif(?2 & 16, ?7, expires_s) WHERE id = ?1",
        &s, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_text(s, 1, id, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, fields);
    sqlite3_bind_text(s, 3, wanted->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 4, wanted->scopes);
    sqlite3_bind_int64(s, 5, wanted->requests_per_minute);
    sqlite3_bind_int64(s, 6, wanted->characters_per_day);
    sqlite3_bind_int64(s, 7, wanted->expires_s);
    return change_take(k, s, id, err);
}

static void read_key(sqlite3_stmt *s, void *row)
{
    struct dg_key *key = row;
    memset(key, 0, sizeof *key);
    dg_db_copy_text(s, 0, key->id, sizeof key->id);
    dg_db_copy_text(s, 1, key->name, sizeof key->name);
    dg_error_trim_utf8(key->name);
    if (sqlite3_column_bytes(s, 2) == DG_KEY_HASH)
        memcpy(key->hash, sqlite3_column_blob(s, 2), DG_KEY_HASH);
    key->scopes = (unsigned)sqlite3_column_int64(s, 3);
    key->created_s = sqlite3_column_int64(s, 4);
    key->revoked_s = sqlite3_column_int64(s, 5);
    key->requests_per_minute = sqlite3_column_int64(s, 6);
    key->characters_per_day = sqlite3_column_int64(s, 7);
    key->expires_s = sqlite3_column_int64(s, 8);
}

int dg_keys_list(struct dg_keys *k, struct dg_key **out, size_t *n, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    struct dg_db_rows rows;
    int rc = dg_db_prepare(&k->db,
        "SELECT id, name, hash, scopes, created_s, revoked_s, requests_per_minute,"
        " characters_per_day, expires_s FROM keys ORDER BY created_s, rowid",
        &s, err);
    if (rc == DG_OK)
        rc = dg_db_list_take(&k->db, s, sizeof **out, read_key, &rows, err);
    if (rc != DG_OK)
        return rc;
    *out = rows.list;
    *n = rows.n;
    return DG_OK;
}

int dg_keys_changed(struct dg_keys *k, bool *changed, struct dg_error *err)
{
    int64_t version = 0;
    int rc = follow(k, changed, err);
    if (rc != DG_OK || *changed)
        return rc;
    rc = dg_db_number(&k->db, "PRAGMA data_version", &version, err);
    *changed = rc == DG_OK && version != k->data_version;
    if (rc == DG_OK)
        k->data_version = version;
    return rc;
}

static const struct {
    const char *name;
    unsigned scopes;
} scope_names[] = {{"translate", DG_SCOPE_TRANSLATE}, {"admin", DG_SCOPE_ADMIN},
    {"translate,admin", DG_SCOPE_TRANSLATE | DG_SCOPE_ADMIN}, {"none", 0}};

int dg_keys_scopes_read(const char *text, unsigned *scopes, struct dg_error *err)
{
    unsigned found = 0;
    for (const char *p = text;;) {
        size_t n = strcspn(p, ",");
        if (n == 9 && memcmp(p, "translate", n) == 0)
            found |= DG_SCOPE_TRANSLATE;
        else if (n == 5 && memcmp(p, "admin", n) == 0)
            found |= DG_SCOPE_ADMIN;
        else
            return dg_error_field(err, DG_EINVAL, "scope",
                "there is no scope \"%.*s\": translate, admin or translate,admin",
                n < 32 ? (int)n : 32, p);
        if (p[n] == '\0')
            break;
        p += n + 1;
    }
    *scopes = found;
    return DG_OK;
}

const char *dg_keys_scopes_name(unsigned scopes)
{
    size_t i = 0;
    while (scope_names[i].scopes != 0 && scope_names[i].scopes != scopes)
        i++;
    return scope_names[i].name;
}
