/* The pairs of collections: their form, reading and finding them. */
#include "store/memory_internal.h"
#include "text/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- one form ---- */

int dg_memory_language(const char *code, char out[DG_MEMORY_LANGUAGE], struct dg_error *err)
{
    const size_t n = strlen(code);
    size_t part = 0, parts = 0;
    bool wrong = n >= DG_MEMORY_LANGUAGE;
    for (size_t i = 0; i <= n && !wrong; i++) {
        const bool end = i == n || code[i] == '-' || code[i] == '_';
        wrong = end ? i == part || i - part > 8 || (parts == 0 && i - part < 2)
                    : !isalnum((unsigned char)code[i]) ||
                          (parts == 0 && isdigit((unsigned char)code[i]));
        if (!end || wrong)
            continue;
        for (size_t k = part; k < i; k++) {
            const bool upper = parts > 0 && (i - part == 2 || (i - part == 4 && k == part));
            out[k] =
                (char)(upper ? toupper((unsigned char)code[k]) : tolower((unsigned char)code[k]));
        }
        out[i] = i == n ? '\0' : '-';
        part = i + 1;
        parts++;
    }
    return wrong ? dg_error_set(err, DG_EINVAL, "\"%.40s\" is not a language code", code) : DG_OK;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

int dg_memory_form(const char *s, size_t n, struct dg_buffer *out, struct dg_error *err)
{
    char *nfc = NULL;
    size_t len, begin = out->len;
    int rc = dg_utf8_nfc(s, n, &nfc, &len, err);
    if (rc != DG_OK)
        return rc;
    for (size_t i = 0; i < len; i++) {
        if (!is_white(nfc[i])) {
            dg_buffer_add(out, &nfc[i], 1);
            continue;
        }
        while (i + 1 < len && is_white(nfc[i + 1]))
            i++;
        if (out->len > begin && i + 1 < len)
            dg_buffer_add(out, " ", 1);
    }
    free(nfc);
    return out->failed ? dg_error_set(err, DG_ENOMEM, "no memory for a sentence") : DG_OK;
}

/* ---- reading ---- */

void dg_memory_begin_reading(struct dg_memory *m)
{
    dg_db_run(&m->db, "BEGIN", NULL);
}

void dg_memory_end_reading(struct dg_memory *m)
{
    if (!sqlite3_get_autocommit(m->db.handle)) /* SQLite ends it by itself after some errors */
        dg_db_run(&m->db, "COMMIT", NULL);
}

static void read_dictionary(sqlite3_stmt *s, void *row)
{
    struct dg_memory_dictionary *d = row;
    dg_db_copy_text(s, 0, d->source_lang, sizeof d->source_lang);
    dg_db_copy_text(s, 1, d->target_lang, sizeof d->target_lang);
    d->pairs = sqlite3_column_int64(s, 2);
}

int dg_memory_dictionaries(struct dg_memory *m, const char *id, struct dg_memory_dictionary **out,
    size_t *n, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    struct dg_db_rows rows = {NULL, 0};
    int64_t number;
    int rc = dg_memory_number(m, id, &number, err);
    if (rc == DG_OK)
        rc = dg_db_prepare(&m->db,
            "SELECT source_lang, target_lang, pairs FROM dictionaries WHERE collection = ?"
            " ORDER BY source_lang, target_lang",
            &s, err);
    if (rc == DG_OK) {
        sqlite3_bind_int64(s, 1, number);
        rc = dg_db_list_take(&m->db, s, sizeof **out, read_dictionary, &rows, err);
    }
    *out = rows.list;
    *n = rows.n;
    return rc;
}

static struct dg_memory_pair pair_of(sqlite3_stmt *s)
{
    /* Get the text before its number of bytes: getting the text may convert it. */
    struct dg_memory_pair p = {.source_lang = (const char *)sqlite3_column_text(s, 0),
        .target_lang = (const char *)sqlite3_column_text(s, 1),
        .source = (const char *)sqlite3_column_text(s, 2),
        .target = (const char *)sqlite3_column_text(s, 3)};
    p.source_len = (size_t)sqlite3_column_bytes(s, 2);
    p.target_len = (size_t)sqlite3_column_bytes(s, 3);
    return p;
}

int dg_memory_read(struct dg_memory *m, const char *id, const char *const languages[2],
    dg_memory_visit *visit, void *ctx, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    int64_t number;
    bool row = false;
    int rc = dg_memory_number(m, id, &number, err);
    if (rc == DG_OK)
        rc = dg_db_prepare(&m->db,
            "SELECT source_lang, target_lang, source, target FROM pairs WHERE collection = ?1"
            " AND (?2 IS NULL OR source_lang = ?2) AND (?3 IS NULL OR target_lang = ?3)"
            " ORDER BY source_lang, target_lang, source",
            &s, err);
    if (rc == DG_OK) {
        sqlite3_bind_int64(s, 1, number);
        for (int i = 0; languages && i < 2; i++)
            if (languages[i])
                dg_memory_bind(s, i + 2, languages[i], strlen(languages[i]));
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

int dg_memory_has_sentences(struct dg_memory *m, bool *has, struct dg_error *err)
{
    int64_t n = 0;
    int rc = dg_db_number(&m->db,
        "SELECT EXISTS(SELECT 1 FROM collections JOIN dictionaries ON collection = number"
        " WHERE kind = 2)",
        &n, err);
    *has = n > 0;
    return rc;
}

/* Walks over the languages that the owner's memories and the shared ones have, each by a search, to
 * the pairs of the source in each, and to their memories: what it costs does not grow with other
 * owners' languages, nor with the number of memories, but of those that have the source. */
static const char find_sql[] =
    "WITH RECURSIVE s(owner, lang) AS ("
    "SELECT o.owner, (SELECT min(source_lang) FROM memory_languages l WHERE l.owner = o.owner)"
    " FROM (SELECT ?1 AS owner UNION SELECT '') o"
    " UNION ALL SELECT s.owner, (SELECT min(source_lang) FROM memory_languages l"
    " WHERE l.owner = s.owner AND l.source_lang > s.lang) FROM s WHERE s.lang IS NOT NULL),"
    "d(owner, source_lang, target_lang) AS ("
    "SELECT s.owner, s.lang, (SELECT min(target_lang) FROM memory_languages l"
    " WHERE l.owner = s.owner AND l.source_lang = s.lang) FROM s"
    " WHERE language_distance(?2, s.lang) >= 0"
    " UNION ALL SELECT d.owner, d.source_lang, (SELECT min(target_lang) FROM memory_languages l"
    " WHERE l.owner = d.owner AND l.source_lang = d.source_lang AND l.target_lang > d.target_lang)"
    " FROM d WHERE d.target_lang IS NOT NULL)"
    "SELECT p.target FROM d CROSS JOIN pairs p ON p.source_lang = d.source_lang"
    " AND p.target_lang = d.target_lang AND p.source = ?4"
    " CROSS JOIN collections c ON c.number = p.collection"
    " WHERE c.kind = 2 AND c.owner = d.owner"
    " AND language_distance(?3, d.target_lang) >= 0"
    " ORDER BY c.owner = ?1 DESC, language_distance(?2, d.source_lang) = 0 DESC,"
    " language_distance(?3, d.target_lang) = 0 DESC, c.number DESC LIMIT 1";

int dg_memory_find(struct dg_memory *m, const char *owner, const struct dg_memory_pair *wanted,
    struct dg_buffer *target, struct dg_error *err)
{
    struct dg_buffer form;
    bool row = false;
    dg_buffer_init(&form);
    int rc = m->find ? DG_OK : dg_db_prepare(&m->db, find_sql, &m->find, err);
    if (rc == DG_OK)
        rc = dg_memory_form(wanted->source, wanted->source_len, &form, err);
    if (rc == DG_OK) {
        dg_memory_bind(m->find, 1, owner, strlen(owner));
        dg_memory_bind(m->find, 2, wanted->source_lang, strlen(wanted->source_lang));
        dg_memory_bind(m->find, 3, wanted->target_lang, strlen(wanted->target_lang));
        dg_memory_bind(m->find, 4, form.data ? form.data : "", form.len);
        rc = dg_db_step(&m->db, m->find, &row, err);
    }
    if (rc == DG_OK && row) {
        const void *text = sqlite3_column_text(m->find, 0);
        dg_buffer_add(target, text, (size_t)sqlite3_column_bytes(m->find, 0));
        if (target->failed)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a translation");
    }
    if (m->find)
        sqlite3_reset(m->find);
    dg_buffer_deinit(&form);
    return rc == DG_OK && !row ? dg_error_set(err, DG_ENOTFOUND, "no memory has this text") : rc;
}

uint64_t dg_memory_failures(const struct dg_memory *m)
{
    return dg_db_failures(&m->db);
}
