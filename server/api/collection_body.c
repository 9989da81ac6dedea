#include "server/api/collection_body.h"

#include "server/api/entries.h"

#include <stdio.h>
#include <string.h>

void dg_collection_body_init(struct dg_collection_body *b)
{
    *b = (struct dg_collection_body){0};
    dg_pair_list_init(&b->pairs);
}

void dg_collection_body_deinit(struct dg_collection_body *b)
{
    dg_pair_list_deinit(&b->pairs);
    dg_json_free(b->json);
}

/* Reads a required language code. */
static int read_language(const struct dg_json *o, const char *where, const char *key,
    const char **out, struct dg_error *err)
{
    struct dg_error why = {0};
    char code[DG_MEMORY_LANGUAGE], field[60];
    snprintf(field, sizeof field, "%s.%s", where, key);
    int rc = dg_json_field_string(o, where, key, out, err);
    if (rc == DG_OK && !*out)
        return dg_error_field(err, DG_EINVAL, where, "%s must have source and target", where);
    if (rc == DG_OK && dg_memory_language(*out, code, &why) != DG_OK)
        rc = dg_error_field(err, DG_EINVAL, field, "%s: %s", field, why.message);
    return rc;
}

/* The format matters only for entries that are a text; for an object it is checked all the same. */
static int read_format(
    const struct dg_json *o, const char *where, const char **out, struct dg_error *err)
{
    char field[60];
    int rc = dg_json_field_string(o, where, "format", out, err);
    if (rc != DG_OK || !*out || !strcmp(*out, "tsv") || !strcmp(*out, "csv") ||
        !strcmp(*out, "tmx"))
        return rc;
    snprintf(field, sizeof field, "%s.format", where);
    return dg_error_field(
        err, DG_EINVAL, field, "%s is \"%.20s\", expected tsv, csv or tmx", field, *out);
}

static int read_dictionary(
    struct dg_collection_body *b, const struct dg_json *o, size_t i, struct dg_error *err)
{
    static const char *const fields[] = {"source", "target", "format", "entries", NULL};
    char where[40], entries[52];
    struct dg_entries e = {
        .entries = dg_json_get(o, "entries"), .where = entries, .may_remove = b->may_remove};
    snprintf(where, sizeof where, "dictionaries[%zu]", i);
    snprintf(entries, sizeof entries, "%s.entries", where);
    if (dg_json_typeof(o) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, where, "%s must be an object, not %s", where,
            dg_json_type_name(dg_json_typeof(o)));
    int rc = dg_json_only(o, where, fields, err);
    if (rc == DG_OK)
        rc = read_language(o, where, "source", &e.source, err);
    if (rc == DG_OK)
        rc = read_language(o, where, "target", &e.target, err);
    if (rc == DG_OK)
        rc = read_format(o, where, &e.format, err);
    return rc == DG_OK ? dg_entries_read(&e, &b->pairs, err) : rc;
}

static int read_dictionaries(struct dg_collection_body *b, bool must, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(b->json, "dictionaries");
    int rc = DG_OK;
    if (!list && !must)
        return DG_OK;
    const size_t n = dg_json_length(list);
    if (dg_json_typeof(list) != DG_JSON_ARRAY || n == 0 || n > DG_MEMORY_DICTIONARIES)
        return dg_error_field(err, n > DG_MEMORY_DICTIONARIES ? DG_ELIMIT : DG_EINVAL,
            "dictionaries", "dictionaries must be an array of 1 to %d", DG_MEMORY_DICTIONARIES);
    for (size_t i = 0; i < n && rc == DG_OK; i++)
        rc = read_dictionary(b, dg_json_at(list, i), i, err);
    return rc;
}

int dg_collection_body_read(const struct dg_side *s, enum dg_memory_kind kind, bool all,
    struct dg_collection_body *b, struct dg_error *err)
{
    static const char *const fields[] = {"name", "dictionaries", NULL};
    struct dg_error why = {0};
    b->may_remove = !all;
    b->json = dg_json_parse(s->request->body, s->request->body_len, &why);
    if (!b->json || dg_json_typeof(b->json) != DG_JSON_OBJECT)
        return dg_error_field(err, why.code == DG_ENOMEM ? DG_ENOMEM : DG_EINVAL, "body",
            "the body is not a JSON object%s%s", b->json ? "" : ": ", why.message);
    int rc = dg_json_only(b->json, NULL, fields, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(b->json, NULL, "name", &b->name, err);
    if (rc == DG_OK && all && !b->name)
        rc = dg_error_field(err, DG_EINVAL, "name", "name is missing");
    if (rc == DG_OK)
        rc = read_dictionaries(b, all, err);
    return rc == DG_OK ? dg_entries_check(kind, &b->pairs, err) : rc;
}
