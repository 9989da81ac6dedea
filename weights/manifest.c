#include "weights/manifest.h"

#include "base/fields.h"
#include "weights/bundle.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_NAME 255
#define MAX_TEXT 4096
#define MAX_PAIRS 50000
#define MAX_RESERVED 64

#define REFUSE(field, ...) dg_error_field(err, DG_EINVAL, field, __VA_ARGS__)

static const char *const file_keys[DG_FILE_COUNT + 1] = {
    [DG_FILE_WEIGHTS] = "weights",
    [DG_FILE_SOURCE_SPM] = "source_spm",
    [DG_FILE_TARGET_SPM] = "target_spm",
    [DG_FILE_SOURCE_VOCAB] = "source_vocab",
    [DG_FILE_TARGET_VOCAB] = "target_vocab",
    [DG_FILE_SHORTLIST] = "shortlist",
};

const char *dg_manifest_file_key(enum dg_bundle_file file)
{
    return file_keys[file];
}

const char *dg_manifest_file(const struct dg_json *manifest, enum dg_bundle_file file)
{
    return dg_json_string(dg_json_get(dg_json_get(manifest, "files"), file_keys[file]), NULL);
}

/* Require 1 to `max` bytes without control characters. `where` precedes the field in messages. */
static int check_characters(
    const char *where, const char *field, const char *s, size_t max, struct dg_error *err)
{
    size_t n = strlen(s);
    if (n < 1 || n > max)
        return REFUSE(field, "%s%s has %zu bytes, expected 1 to %zu", where, field, n, max);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
            return REFUSE(field, "%s%s holds a control character", where, field);
    }
    return 0;
}

static int check_text(const char *field, const char *s, size_t max, struct dg_error *err)
{
    return check_characters("manifest: ", field, s, max, err);
}

int dg_bundle_check_name(const char *field, const char *name, struct dg_error *err)
{
    return check_characters("", field, name, MAX_NAME, err);
}

int dg_bundle_check_text(const char *field, const char *text, struct dg_error *err)
{
    return check_characters("", field, text, MAX_TEXT, err);
}

/* Require a plain name inside the bundle's directory: nothing that could lead out of it. */
static int check_file_name(const char *field, const char *s, struct dg_error *err)
{
    int rc = check_text(field, s, 255, err);
    if (!rc && (strchr(s, '/') || strchr(s, '\\') || s[0] == '.'))
        rc = REFUSE(field, "manifest: %s is \"%s\", expected a file of the bundle's own directory",
            field, s);
    if (!rc && strcmp(s, DG_MANIFEST_FILE) == 0)
        rc = REFUSE(field, "manifest: %s is the manifest itself", field);
    return rc;
}

static int check_files(const struct dg_json *m, struct dg_error *err)
{
    const struct dg_json *files = dg_json_get(m, "files");
    int rc = dg_json_only(files, "files", file_keys, err);
    for (int i = 0; i < DG_FILE_COUNT && !rc; i++) {
        const char *name = NULL;
        char field[64];
        snprintf(field, sizeof field, "files.%s", file_keys[i]);
        rc = dg_json_field_string(files, "files", file_keys[i], &name, err);
        if (!rc && name)
            rc = check_file_name(field, name, err);
        else if (!rc && i != DG_FILE_SOURCE_SPM && i != DG_FILE_TARGET_SPM &&
                 i != DG_FILE_SHORTLIST)
            rc = REFUSE(field, "manifest: %s is missing", field);
    }
    return rc;
}

/* A language tag: letters, digits and hyphens (BCP 47), e.g. "de", "pt-BR", "zh-Hant". */
static int check_code(const char *where, const char *field, const char *s, struct dg_error *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t n = s ? strlen(s) : 0;
    if (n < 1 || n > 35 || strspn(s, letters) != n)
        return REFUSE(field,
            "%s%s has \"%.40s\", expected a language tag such as \"de\" or \"pt-BR\"", where, field,
            s ? s : "");
    return 0;
}

static int check_language(const char *field, const char *s, struct dg_error *err)
{
    return check_code("manifest: ", field, s, err);
}

int dg_bundle_check_language(const char *field, const char *code, struct dg_error *err)
{
    return check_code("", field, code, err);
}

static int check_pairs(const struct dg_json *m, struct dg_error *err)
{
    const struct dg_json *pairs = dg_json_get(m, "pairs");
    size_t n = dg_json_length(pairs);
    if (dg_json_typeof(pairs) != DG_JSON_ARRAY || n < 1 || n > MAX_PAIRS)
        return REFUSE(
            "pairs", "manifest: pairs must be an array of 1 to %d pairs of languages", MAX_PAIRS);
    for (size_t i = 0; i < n; i++) {
        const struct dg_json *pair = dg_json_at(pairs, i);
        char field[64];
        snprintf(field, sizeof field, "pairs[%zu]", i);
        if (dg_json_typeof(pair) != DG_JSON_ARRAY || dg_json_length(pair) != 2)
            return REFUSE(field, "manifest: %s must be an array of two languages", field);
        for (size_t j = 0; j < 2; j++) {
            int rc = check_language(field, dg_json_string(dg_json_at(pair, j), NULL), err);
            if (rc)
                return rc;
        }
    }
    return 0;
}

/* Fields that give a piece for each language of one side of the pairs. */
static const struct tags {
    const char *field;
    /* 0: source, 1: target */
    size_t side;
} tag_fields[] = {{"tags", 1}, {"source_tags", 0}, {"target_tags", 1}};

/* True if the language is on that side of some pair; letter case counts. */
static bool is_in_pairs(const struct dg_json *pairs, size_t side, const char *language)
{
    for (size_t i = 0; i < dg_json_length(pairs); i++)
        if (strcmp(dg_json_string(dg_json_at(dg_json_at(pairs, i), side), NULL), language) == 0)
            return true;
    return false;
}

/* If one language of a side has a piece, all must have one: without it a sentence would be
 * translated into whichever language the model likes. The pairs must have been checked. */
static int check_all_have_tags(const struct dg_json *pairs, const struct dg_json *tags,
    const struct tags *t, struct dg_error *err)
{
    for (size_t i = 0; i < dg_json_length(pairs); i++) {
        const char *language = dg_json_string(dg_json_at(dg_json_at(pairs, i), t->side), NULL);
        if (!dg_json_get(tags, language))
            return REFUSE(t->field,
                "manifest: %s has no piece for \"%s\", the %s of pairs[%zu] (letter case counts)",
                t->field, language, t->side ? "target" : "source", i);
    }
    return 0;
}

static int check_tags(const struct dg_json *m, const struct tags *t, struct dg_error *err)
{
    const struct dg_json *tags = dg_json_get(m, t->field), *pairs = dg_json_get(m, "pairs");
    if (!tags)
        return 0;
    if (dg_json_typeof(tags) != DG_JSON_OBJECT)
        return REFUSE(t->field, "manifest: %s must be an object of language to piece", t->field);
    for (const char *k = dg_json_next_key(tags, NULL); k; k = dg_json_next_key(tags, k)) {
        const char *piece = NULL;
        int rc = check_language(t->field, k, err);
        if (!rc)
            rc = dg_json_field_string(tags, t->field, k, &piece, err);
        if (!rc)
            rc = check_text(t->field, piece, 255, err);
        if (!rc && !is_in_pairs(pairs, t->side, k))
            rc = REFUSE(t->field,
                "manifest: %s has \"%s\", which is no %s of pairs (letter case counts)", t->field,
                k, t->side ? "target" : "source");
        if (rc)
            return rc;
    }
    return dg_json_length(tags) ? check_all_have_tags(pairs, tags, t, err) : 0;
}

/* Check the pieces that represent protected spans. */
static int check_reserved(const struct dg_json *m, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(m, "reserved");
    const size_t n = dg_json_length(list);
    if (list && (dg_json_typeof(list) != DG_JSON_ARRAY || n < 1 || n > MAX_RESERVED))
        return REFUSE(
            "reserved", "manifest: reserved must be an array of 1 to %d pieces", MAX_RESERVED);
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        const char *piece = dg_json_string(dg_json_at(list, i), NULL);
        char field[64];
        snprintf(field, sizeof field, "reserved[%zu]", i);
        rc = piece ? check_text(field, piece, 63, err)
                   : REFUSE(field, "manifest: %s must be a piece", field);
    }
    return rc;
}

static int check_object(const char *field, const struct dg_json *v, void *out, struct dg_error *err)
{
    (void)out;
    if (dg_json_typeof(v) == DG_JSON_OBJECT)
        return 0;
    return REFUSE(field, "manifest: %s must be an object, not %s", field,
        dg_json_type_name(dg_json_typeof(v)));
}

/* Values of the top level, read by the rows below; nested values are checked separately. */
struct manifest {
    int64_t format;
    const char *name, *version, *description, *licence, *capitals, *answers, *rare;
    int64_t alignment_layer, alignment_head;
};

#define AT(member) DG_FIELD_AT(struct manifest, member)
#define OBJECT DG_FIELD_OTHER, .read = check_object

static const char *const capitals[] = {"as_written", "as_words", NULL};
static const char *const answers[] = {"text", "trees", NULL};

static const struct dg_field rows[] = {
    {"format", DG_FIELD_INT, AT(format), DG_MANIFEST_FORMAT, DG_MANIFEST_FORMAT,
        .flags = DG_FIELD_REQUIRED},
    {"name", DG_FIELD_STRING, AT(name), .flags = DG_FIELD_REQUIRED},
    {"version", DG_FIELD_STRING, AT(version), .help = "of the whole bundle"},
    {"description", DG_FIELD_STRING, AT(description), .help = "what the model is"},
    {"licence", DG_FIELD_STRING, AT(licence), .help = "of the model"},
    {"pairs", DG_FIELD_OTHER, .flags = DG_FIELD_REQUIRED},
    {"tags", DG_FIELD_OTHER, .help = "target language to the token that asks for it"},
    {"source_tags", DG_FIELD_OTHER, .help = "source language to the token before its text"},
    {"target_tags", DG_FIELD_OTHER, .help = "target language to the token that starts the decoder"},
    {"files", OBJECT, .flags = DG_FIELD_REQUIRED},
    {"model", OBJECT, .flags = DG_FIELD_REQUIRED},
    {"decoding", OBJECT, .help = "defaults of the search"},
    {"pair_decoding", OBJECT, .help = "the search for single pairs"},
    {"training", OBJECT, .help = "where the model comes from"},
    {"check", OBJECT, .help = "a sentence, its answer and their log-probability"},
    {"origin", OBJECT, .help = "files that it was made of: addresses and hashes"},
    {"alignment_layer", DG_FIELD_INT, AT(alignment_layer), 1, 1000, .help = "counted from 1"},
    {"alignment_head", DG_FIELD_INT, AT(alignment_head), 1, 1024, .help = "counted from 1"},
    {"capitals", DG_FIELD_STRING, AT(capitals), .words = capitals, .help = "how they are encoded"},
    {"answers", DG_FIELD_STRING, AT(answers), .words = answers, .help = "what its target side is"},
    {"shortlist", OBJECT, .help = "whether the shortlist is used, and why"},
    {"rare", DG_FIELD_STRING, AT(rare), .help = "characters that training hardly saw"},
    {"reserved", DG_FIELD_OTHER, .help = "tokens that represent protected spans"},
};

static bool same_code(const struct dg_json *a, const struct dg_json *b)
{
    const char *s = dg_json_string(a, NULL), *t = dg_json_string(b, NULL);
    return s && t && strcmp(s, t) == 0;
}

static bool has_pair(const struct dg_json *pairs, const struct dg_json *pair)
{
    for (size_t i = 0; i < dg_json_length(pairs); i++) {
        const struct dg_json *p = dg_json_at(pairs, i);
        if (same_code(dg_json_at(p, 0), dg_json_at(pair, 0)) &&
            same_code(dg_json_at(p, 1), dg_json_at(pair, 1)))
            return true;
    }
    return false;
}

/* The pairs must have been checked. */
static int check_shortlist(const struct dg_json *m, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(m, "shortlist"), *only = dg_json_get(list, "use_for");
    if (list && dg_json_typeof(dg_json_get(list, "use")) != DG_JSON_BOOL)
        return REFUSE("shortlist.use", "manifest: shortlist.use must be true or false");
    if (only && dg_json_typeof(only) != DG_JSON_ARRAY)
        return REFUSE("shortlist.use_for", "manifest: shortlist.use_for must be an array of pairs");
    for (size_t i = 0; i < dg_json_length(only); i++)
        if (!has_pair(dg_json_get(m, "pairs"), dg_json_at(only, i)))
            return REFUSE("shortlist.use_for",
                "manifest: shortlist.use_for[%zu] is none of the bundle's pairs", i);
    return 0;
}

static int check_texts(const struct manifest *m, struct dg_error *err)
{
    int rc = check_text("name", m->name, MAX_NAME, err);
    if (!rc && m->description)
        rc = check_text("description", m->description, MAX_TEXT, err);
    if (!rc && m->licence)
        rc = check_text("licence", m->licence, MAX_TEXT, err);
    if (!rc && m->rare)
        rc = check_text("rare", m->rare, MAX_TEXT, err);
    const char *version = m->version;
    if (!rc && version && (strlen(version) != 64 || strspn(version, "0123456789abcdef") != 64))
        rc = REFUSE("version",
            "manifest: version is \"%.70s\", expected 64 lower-case hexadecimal digits", version);
    return rc;
}

int dg_manifest_check(const struct dg_json *m, struct dg_error *err)
{
    struct manifest read = {.format = 0};
    const struct dg_fields t = {rows, DG_FIELD_COUNT(rows), &read, NULL, NULL};
    int64_t format = 0;
    if (dg_json_typeof(m) != DG_JSON_OBJECT)
        return REFUSE("manifest", "manifest: expected an object, not %s",
            dg_json_type_name(dg_json_typeof(m)));
    int rc = dg_json_field_int(m, NULL, "format", INT64_MIN, INT64_MAX, &format, err);
    if (rc)
        return rc;
    if (format !=
        DG_MANIFEST_FORMAT) /* before the other fields, which another format may not have */
        return REFUSE("format", "manifest: format is %lld, this program reads %d",
            (long long)format, DG_MANIFEST_FORMAT);
    rc = dg_fields_from_json(&t, NULL, m, DG_FROM_FILE, err);
    if (!rc)
        rc = check_texts(&read, err);
    if (!rc)
        rc = check_pairs(m, err);
    for (size_t i = 0; i < sizeof tag_fields / sizeof tag_fields[0] && !rc; i++)
        rc = check_tags(m, &tag_fields[i], err);
    if (!rc)
        rc = check_files(m, err);
    if (!rc)
        rc = check_shortlist(m, err);
    return rc ? rc : check_reserved(m, err);
}
