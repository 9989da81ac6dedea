#include "weights/manifest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_TEXT 4096
#define MAX_PAIRS 10000
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

/* No control characters, at least one and at most `max` bytes. */
static int check_text(const char *field, const char *s, size_t max, struct dg_error *err)
{
    size_t n = strlen(s);
    if (n < 1 || n > max)
        return REFUSE(field, "manifest: %s has %zu bytes, expected 1 to %zu", field, n, max);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
            return REFUSE(field, "manifest: %s holds a control character", field);
    }
    return 0;
}

/* A text field; when it is missing that is an error or not. */
static int check_string(
    const struct dg_json *m, const char *key, bool required, size_t max, struct dg_error *err)
{
    const char *s = NULL;
    int rc = dg_json_field_string(m, NULL, key, &s, err);
    if (rc)
        return rc;
    if (!s)
        return required ? REFUSE(key, "manifest: %s is missing", key) : 0;
    return check_text(key, s, max, err);
}

/* A plain name inside the bundle's directory: nothing that could lead out of it. */
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
    if (dg_json_typeof(files) != DG_JSON_OBJECT)
        return REFUSE("files", "manifest: files must be an object, not %s",
            dg_json_type_name(dg_json_typeof(files)));
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
static int check_language(const char *field, const char *s, struct dg_error *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t n = s ? strlen(s) : 0;
    if (n < 1 || n > 35 || strspn(s, letters) != n)
        return REFUSE(field,
            "manifest: %s has \"%.40s\", expected a language tag such as \"de\" or \"pt-BR\"",
            field, s ? s : "");
    return 0;
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

/* Is the language a target of some pair, letter case included? */
static bool is_target(const struct dg_json *pairs, const char *language)
{
    for (size_t i = 0; i < dg_json_length(pairs); i++)
        if (strcmp(dg_json_string(dg_json_at(dg_json_at(pairs, i), 1), NULL), language) == 0)
            return true;
    return false;
}

/* Where one target language is asked for by a piece, all are: without it a sentence would be
 * translated to whichever language the model likes. The pairs are checked. */
static int check_targets_have_tags(
    const struct dg_json *pairs, const struct dg_json *tags, struct dg_error *err)
{
    for (size_t i = 0; i < dg_json_length(pairs); i++) {
        const char *target = dg_json_string(dg_json_at(dg_json_at(pairs, i), 1), NULL);
        if (!dg_json_get(tags, target))
            return REFUSE("tags",
                "manifest: tags has no piece for \"%s\", the target of pairs[%zu] (letter case "
                "counts)",
                target, i);
    }
    return 0;
}

/* "tags": target language -> the piece that asks for it. */
static int check_tags(const struct dg_json *m, struct dg_error *err)
{
    const struct dg_json *tags = dg_json_get(m, "tags");
    if (!tags)
        return 0;
    if (dg_json_typeof(tags) != DG_JSON_OBJECT)
        return REFUSE("tags", "manifest: tags must be an object of language to piece");
    for (const char *k = dg_json_next_key(tags, NULL); k; k = dg_json_next_key(tags, k)) {
        const char *piece = NULL;
        int rc = check_language("tags", k, err);
        if (!rc)
            rc = dg_json_field_string(tags, "tags", k, &piece, err);
        if (!rc)
            rc = check_text("tags", piece, 255, err);
        if (!rc && !is_target(dg_json_get(m, "pairs"), k))
            rc = REFUSE("tags",
                "manifest: tags has \"%s\", which is no target of pairs (letter case counts)", k);
        if (rc)
            return rc;
    }
    return dg_json_length(tags) ? check_targets_have_tags(dg_json_get(m, "pairs"), tags, err) : 0;
}

static int check_object(
    const struct dg_json *m, const char *key, bool required, struct dg_error *err)
{
    const struct dg_json *v = dg_json_get(m, key);
    if (!v && !required)
        return 0;
    if (dg_json_typeof(v) != DG_JSON_OBJECT)
        return REFUSE(key, "manifest: %s must be an object, not %s", key,
            dg_json_type_name(dg_json_typeof(v)));
    return 0;
}

static int check_version(const struct dg_json *m, struct dg_error *err)
{
    const char *version = NULL;
    int rc = dg_json_field_string(m, NULL, "version", &version, err);
    if (!rc && version && (strlen(version) != 64 || strspn(version, "0123456789abcdef") != 64))
        rc = REFUSE("version",
            "manifest: version is \"%.70s\", expected 64 lower-case hexadecimal digits", version);
    return rc;
}

/* Pieces that stand for what must survive, in their order. */
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

static int check_capitals(const struct dg_json *m, struct dg_error *err)
{
    const char *capitals = "as_written";
    int rc = dg_json_field_string(m, NULL, "capitals", &capitals, err);
    if (!rc && strcmp(capitals, "as_written") != 0 && strcmp(capitals, "as_words") != 0)
        rc = REFUSE("capitals",
            "manifest: capitals is \"%.70s\", expected \"as_written\" or \"as_words\"", capitals);
    return rc;
}

int dg_manifest_check(const struct dg_json *m, struct dg_error *err)
{
    static const char *const allowed[] = {"format", "name", "version", "description", "licence",
        "pairs", "tags", "files", "model", "decoding", "alignment_layer", "alignment_head",
        "capitals", "reserved", "training", NULL};
    if (dg_json_typeof(m) != DG_JSON_OBJECT)
        return REFUSE("manifest", "manifest: expected an object, not %s",
            dg_json_type_name(dg_json_typeof(m)));
    int64_t format = 0, layer = 1, head = 1;
    int rc = dg_json_field_int(m, NULL, "format", INT64_MIN, INT64_MAX, &format, err);
    if (rc)
        return rc;
    if (format != DG_MANIFEST_FORMAT) /* before the fields: another format may have others */
        return REFUSE("format", "manifest: format is %lld, this program reads %d",
            (long long)format, DG_MANIFEST_FORMAT);
    rc = dg_json_only(m, NULL, allowed, err);
    if (!rc)
        rc = check_string(m, "name", true, 255, err);
    if (!rc)
        rc = check_version(m, err);
    if (!rc)
        rc = check_string(m, "description", false, MAX_TEXT, err);
    if (!rc)
        rc = check_string(m, "licence", false, MAX_TEXT, err);
    if (!rc)
        rc = check_pairs(m, err);
    if (!rc)
        rc = check_tags(m, err);
    if (!rc)
        rc = check_files(m, err);
    if (!rc)
        rc = check_object(m, "model", true, err);
    if (!rc)
        rc = check_object(m, "decoding", false, err);
    if (!rc)
        rc = check_object(m, "training", false, err);
    if (!rc)
        rc = dg_json_field_int(m, NULL, "alignment_layer", 1, 1000, &layer, err);
    if (!rc)
        rc = dg_json_field_int(m, NULL, "alignment_head", 1, 1024, &head, err);
    if (!rc)
        rc = check_capitals(m, err);
    if (!rc)
        rc = check_reserved(m, err);
    return rc;
}
