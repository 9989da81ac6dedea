/* The pairs of collections: adds, counts, reads and finds them. */
#include "store/memory_internal.h"
#include "text/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
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
    return wrong ? dg_error_set(err, DG_EINVAL, "\"%.40s\" is no code of a language", code) : DG_OK;
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

/* ---- adding ---- */

/* State of adding pairs to a collection. */
struct adder {
    struct dg_memory *m;
    int64_t number;
    enum dg_memory_kind kind;
    sqlite3_stmt *insert;
    struct dg_buffer form;
    char languages[2][DG_MEMORY_LANGUAGE];
};

static int read_languages(struct adder *a, const struct dg_memory_pair *p, struct dg_error *err)
{
    int rc = dg_memory_language(p->source_lang, a->languages[0], err);
    return rc == DG_OK ? dg_memory_language(p->target_lang, a->languages[1], err) : rc;
}

static int add(struct adder *a, const struct dg_memory_pair *p, struct dg_error *err)
{
    bool row;
    const char *source = p->source;
    size_t n = p->source_len;
    int rc = read_languages(a, p, err);
    if (rc == DG_OK && a->kind == DG_MEMORY_SENTENCES) {
        dg_buffer_reset(&a->form);
        rc = dg_memory_form(p->source, p->source_len, &a->form, err);
        source = a->form.data ? a->form.data : "";
        n = a->form.len;
        if (rc == DG_OK &&
            (n == 0 || n > DG_MEMORY_SEGMENT_BYTES || p->target_len > DG_MEMORY_SEGMENT_BYTES))
            rc = dg_error_set(err, n == 0 ? DG_EINVAL : DG_ELIMIT,
                "an entry has %zu bytes of source and %zu of target, expected 1 to %d", n,
                p->target_len, DG_MEMORY_SEGMENT_BYTES);
    }
    if (rc != DG_OK)
        return rc;
    dg_memory_bind(a->insert, 1, a->languages[0], strlen(a->languages[0]));
    dg_memory_bind(a->insert, 2, a->languages[1], strlen(a->languages[1]));
    dg_memory_bind(a->insert, 3, source, n);
    sqlite3_bind_int64(a->insert, 4, a->number);
    dg_memory_bind(a->insert, 5, p->target, p->target_len);
    rc = dg_db_step(&a->m->db, a->insert, &row, err);
    sqlite3_reset(a->insert);
    return rc;
}

/* Delete the pairs of a collection; languages NULL: all pairs. */
static int drop(struct dg_memory *m, int64_t number, char (*languages)[DG_MEMORY_LANGUAGE],
    struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    bool row;
    int rc = dg_db_prepare(&m->db,
        languages ? "DELETE FROM pairs WHERE collection = ? AND source_lang = ? AND target_lang = ?"
                  : "DELETE FROM pairs WHERE collection = ?",
        &s, err);
    if (rc == DG_OK) {
        sqlite3_bind_int64(s, 1, number);
        for (int i = 0; languages && i < 2; i++)
            dg_memory_bind(s, i + 2, languages[i], strlen(languages[i]));
        rc = dg_db_step(&m->db, s, &row, err);
    }
    sqlite3_finalize(s);
    return rc;
}

/* Delete the pairs that a change replaces. */
static int make_way(struct adder *a, const struct dg_memory_change *c, struct dg_error *err)
{
    int rc = c->how == DG_MEMORY_REPLACE_ALL ? drop(a->m, a->number, NULL, err) : DG_OK;
    const struct dg_memory_pair *last = NULL;
    for (size_t i = 0; i < c->n && c->how == DG_MEMORY_REPLACE_LANGUAGES && rc == DG_OK; i++) {
        const struct dg_memory_pair *p = &c->pairs[i];
        if (last && !strcmp(last->source_lang, p->source_lang) &&
            !strcmp(last->target_lang, p->target_lang))
            continue;
        rc = read_languages(a, p, err);
        if (rc == DG_OK)
            rc = drop(a->m, a->number, a->languages, err);
        last = p;
    }
    return rc;
}

/* DG_ELIMIT if the memories of the collection's owner have too many pairs of languages. The
 * server's own have no limit. */
static int check_languages(struct dg_memory *m, int64_t number, struct dg_error *err)
{
    char sql[240];
    int64_t n = 0;
    snprintf(sql, sizeof sql,
        "SELECT count(*) FROM (SELECT DISTINCT source_lang, target_lang FROM memory_languages WHERE"
        " owner = (SELECT owner FROM collections WHERE number = %" PRId64
        " AND kind = 2 AND owner != ''))",
        number);
    const int rc = dg_db_number(&m->db, sql, &n, err);
    if (rc != DG_OK || n <= DG_MEMORY_LANGUAGES)
        return rc;
    return dg_error_field(err, DG_ELIMIT, "entries",
        "there would be %" PRId64 " pairs of languages in all memories, the limit is %d", n,
        DG_MEMORY_LANGUAGES);
}

int dg_memory_put(struct dg_memory *m, int64_t number, enum dg_memory_kind kind,
    const struct dg_memory_change *change, struct dg_error *err)
{
    struct adder a = {.m = m, .number = number, .kind = kind};
    dg_buffer_init(&a.form);
    int rc = make_way(&a, change, err);
    if (rc == DG_OK)
        rc = dg_db_prepare(&m->db,
            "INSERT OR REPLACE INTO pairs(source_lang, target_lang, source, collection, target)"
            " VALUES(?, ?, ?, ?, ?)",
            &a.insert, err);
    for (size_t i = 0; i < change->n && rc == DG_OK; i++)
        rc = add(&a, &change->pairs[i], err);
    sqlite3_finalize(a.insert);
    dg_buffer_deinit(&a.form);
    if (rc == DG_OK && (change->n > 0 || change->how == DG_MEMORY_REPLACE_ALL))
        rc = dg_memory_count(m, number, err);
    return rc == DG_OK ? check_languages(m, number, err) : rc;
}

static int check_counts(struct dg_memory *m, int64_t number, struct dg_error *err)
{
    char sql[200];
    int64_t pairs = 0, languages = 0, kind = 0;
    static const char *const what[] = {"kind FROM collections WHERE number",
        "coalesce(sum(pairs), 0) FROM dictionaries WHERE collection",
        "count(*) FROM dictionaries WHERE collection"};
    int64_t *const out[] = {&kind, &pairs, &languages};
    int rc = DG_OK;
    for (size_t i = 0; i < 3 && rc == DG_OK; i++) {
        snprintf(sql, sizeof sql, "SELECT %s = %" PRId64, what[i], number);
        rc = dg_db_number(&m->db, sql, out[i], err);
    }
    const int64_t most = kind == DG_MEMORY_GLOSSARY ? DG_MEMORY_TERMS : DG_MEMORY_SEGMENTS;
    if (rc == DG_OK && pairs > most)
        rc = dg_error_field(err, DG_ELIMIT, "entries",
            "there would be %" PRId64 " entries, the limit is %" PRId64, pairs, most);
    if (rc == DG_OK && languages > DG_MEMORY_DICTIONARIES)
        rc = dg_error_field(err, DG_ELIMIT, "entries",
            "there would be %" PRId64 " pairs of languages, the limit is %d", languages,
            DG_MEMORY_DICTIONARIES);
    return rc;
}

int dg_memory_count(struct dg_memory *m, int64_t number, struct dg_error *err)
{
    char sql[300];
    snprintf(sql, sizeof sql,
        "DELETE FROM dictionaries WHERE collection = %" PRId64 ";"
        "INSERT INTO dictionaries SELECT collection, source_lang, target_lang, count(*) FROM pairs"
        " WHERE collection = %" PRId64 " GROUP BY source_lang, target_lang",
        number, number);
    int rc = dg_db_run(&m->db, sql, err);
    return rc == DG_OK ? check_counts(m, number, err) : rc;
}

/* ---- reading ---- */

int dg_memory_dictionaries(struct dg_memory *m, const char *id, struct dg_memory_dictionary **out,
    size_t *n, struct dg_error *err)
{
    sqlite3_stmt *s = NULL;
    int64_t number;
    bool row = false;
    *n = 0;
    *out = NULL;
    int rc = dg_memory_number(m, id, &number, err);
    if (rc == DG_OK)
        rc = dg_db_prepare(&m->db,
            "SELECT source_lang, target_lang, pairs FROM dictionaries WHERE collection = ?"
            " ORDER BY source_lang, target_lang",
            &s, err);
    struct dg_memory_dictionary *list = calloc(DG_MEMORY_DICTIONARIES, sizeof *list);
    if (!list && rc == DG_OK)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a collection's languages");
    if (rc == DG_OK) {
        sqlite3_bind_int64(s, 1, number);
        rc = dg_db_step(&m->db, s, &row, err);
    }
    while (rc == DG_OK && row && *n < DG_MEMORY_DICTIONARIES) {
        struct dg_memory_dictionary *d = &list[(*n)++];
        dg_memory_copy_column(s, 0, d->source_lang, sizeof d->source_lang);
        dg_memory_copy_column(s, 1, d->target_lang, sizeof d->target_lang);
        d->pairs = sqlite3_column_int64(s, 2);
        rc = dg_db_step(&m->db, s, &row, err);
    }
    sqlite3_finalize(s);
    if (rc == DG_OK)
        *out = list;
    else
        free(list);
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
