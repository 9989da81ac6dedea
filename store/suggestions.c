#include "store/suggestions.h"

#include "store/schema.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct dg_suggestions {
    pthread_mutex_t lock;
    /* guarded by lock */
    struct dg_db db;
    /* size of all texts */
    int64_t bytes;
};

static const char *const steps[] = {
    "CREATE TABLE suggestions(number INTEGER PRIMARY KEY, source TEXT NOT NULL,"
    " target TEXT NOT NULL, text TEXT NOT NULL, translation TEXT NOT NULL,"
    " created_s INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX suggestions_once ON suggestions(source, target, text, translation);",
};

static const struct dg_schema schema = {.application_id = 1145525063, /* "DGSG" */
    .what = "suggestions",
    .steps = steps,
    .n_steps = sizeof steps / sizeof *steps};

int dg_suggestions_open(const char *path, struct dg_suggestions **out, struct dg_error *err)
{
    struct dg_suggestions *s = calloc(1, sizeof *s);
    if (!s)
        return dg_error_set(err, DG_ENOMEM, "no memory for suggestions");
    pthread_mutex_init(&s->lock, NULL);
    int rc = dg_db_open(path, true, &s->db, err);
    if (rc == DG_OK)
        rc = dg_schema_apply(&s->db, &schema, true, err);
    if (rc == DG_OK)
        rc = dg_db_number(&s->db,
            "SELECT coalesce(sum(length(CAST(text AS BLOB)) + length(CAST(translation AS BLOB))), 0)"
            " FROM suggestions",
            &s->bytes, err);
    if (rc != DG_OK) {
        dg_suggestions_close(s);
        return rc;
    }
    s->db.keeps = schema.what;
    *out = s;
    return DG_OK;
}

int dg_suggestions_check(const char *path, struct dg_error *err)
{
    return dg_schema_check(path, &schema, true, NULL, err);
}

void dg_suggestions_close(struct dg_suggestions *s)
{
    if (!s)
        return;
    dg_db_close(&s->db);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

uint64_t dg_suggestions_failures(const struct dg_suggestions *s)
{
    return dg_db_failures(&s->db);
}

/* Lock held. */
static int insert(struct dg_suggestions *s, const struct dg_suggestion *one, struct dg_error *err)
{
    const char *const texts[] = {one->source, one->target, one->text, one->translation, NULL};
    sqlite3_stmt *q = NULL;
    int rc = dg_db_prepare_texts(&s->db,
        "INSERT OR IGNORE INTO suggestions(source, target, text, translation, created_s)"
        " VALUES(?, ?, ?, ?, ?)",
        texts, &q, err);
    if (rc != DG_OK)
        return rc;
    sqlite3_bind_int64(q, 5, one->created_s);
    return dg_db_run_take(&s->db, q, err);
}

int dg_suggestions_add(
    struct dg_suggestions *s, const struct dg_suggestion *one, struct dg_error *err)
{
    const int64_t bytes = (int64_t)(strlen(one->text) + strlen(one->translation));
    pthread_mutex_lock(&s->lock);
    int rc = s->bytes + bytes <= DG_SUGGESTIONS_BYTES
                 ? insert(s, one, err)
                 : dg_error_set(err, DG_EAGAIN, "the limit of suggestions is reached");
    if (rc == DG_OK && sqlite3_changes(s->db.handle) > 0)
        s->bytes += bytes;
    pthread_mutex_unlock(&s->lock);
    return rc;
}
