/* Firefox's student models. In Remote Settings a record is one file; the records of one pair,
 * version and architecture make a model. */
#include "convert/pull/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest first. */
static const char *const architectures[] = {"base", "base-memory", "tiny"};

enum { N_ARCHITECTURES = sizeof architectures / sizeof architectures[0] };

static const char *text(const struct dg_json *o, const char *key)
{
    const char *s = dg_json_string(dg_json_get(o, key), NULL);
    return s ? s : "";
}

static int rank_of(const char *architecture)
{
    for (int i = 0; i < N_ARCHITECTURES; i++)
        if (strcmp(architectures[i], architecture) == 0)
            return i;
    return N_ARCHITECTURES;
}

enum audience { EVERYBODY, ANDROID_ALONE, UNKNOWN_AUDIENCE };

/* Knows the two filters that records have; any other needs a client that can evaluate it. */
static enum audience audience_of(const struct dg_json *record)
{
    char plain[64];
    size_t n = 0;
    for (const char *s = text(record, "filter_expression"); *s && n < sizeof plain - 1; s++)
        if (*s != ' ')
            plain[n++] = (char)(*s == '"' ? '\'' : *s);
    plain[n] = '\0';
    if (n == 0 || strcmp(plain, "env.appinfo.OS!='Android'") == 0)
        return EVERYBODY;
    return strcmp(plain, "env.appinfo.OS=='Android'") == 0 ? ANDROID_ALONE : UNKNOWN_AUDIENCE;
}

/* Is version a newer than b? 3.1 > 3.0 > 3.1a1: trial versions come last. */
static bool is_newer(const char *a, const char *b)
{
    const bool trial_a = strpbrk(a, "ab") != NULL, trial_b = strpbrk(b, "ab") != NULL;
    if (trial_a != trial_b)
        return trial_b;
    return strverscmp(a, b) > 0;
}

/* A model as records name it. */
struct choice {
    const char *source, *target, *architecture, *version;
};

static bool is_of(const struct dg_json *r, const struct choice *c)
{
    return strcmp(text(r, "sourceLanguage"), c->source) == 0 &&
           strcmp(text(r, "targetLanguage"), c->target) == 0 &&
           strcmp(text(r, "architecture"), c->architecture) == 0 &&
           strcmp(text(r, "version"), c->version) == 0;
}

static bool is_better(const struct choice *a, const struct choice *b)
{
    const int x = rank_of(a->architecture), y = rank_of(b->architecture);
    return x != y ? x < y : is_newer(a->version, b->version);
}

static struct choice choice_of(const struct dg_json *r)
{
    return (struct choice){text(r, "sourceLanguage"), text(r, "targetLanguage"),
        text(r, "architecture"), text(r, "version")};
}

static int add_record(
    struct dg_listing *l, const char *base, const struct dg_json *r, struct dg_error *err)
{
    const struct dg_json *a = dg_json_get(r, "attachment");
    char url[4096];
    struct dg_listing_file f = {.name = text(a, "filename"),
        .url = url,
        .size = dg_listing_bytes(dg_json_get(a, "size")),
        .unpacked_size = dg_listing_bytes(dg_json_get(r, "decompressedSize"))};
    const size_t n = strlen(base);
    snprintf(url, sizeof url, "%.1000s%s%.2000s", base, n && base[n - 1] == '/' ? "" : "/",
        text(a, "location"));
    dg_listing_hex(dg_json_get(a, "hash"), DG_SHA256_DIGITS, f.sha256);
    dg_listing_hex(dg_json_get(r, "decompressedHash"), DG_SHA256_DIGITS, f.unpacked_sha256);
    if (!f.size || !f.sha256[0])
        return dg_error_set(err, DG_EFORMAT, "the index lacks the size or hash of %.100s", f.name);
    return dg_listing_add(l, &f, err);
}

static int describe(struct dg_listing *l, const struct choice *c, struct dg_error *err)
{
    char id[200];
    snprintf(id, sizeof id, "firefox/%.40s-%.40s:%.40s", c->source, c->target, c->architecture);
    l->id = dg_arena_strdup(&l->arena, id);
    l->source_lang = dg_arena_strdup(&l->arena, c->source);
    l->target_lang = dg_arena_strdup(&l->arena, c->target);
    return l->id && l->source_lang && l->target_lang
               ? 0
               : dg_error_set(err, DG_ENOMEM, "no memory for a listing");
}

static bool is_wanted_file(const struct dg_json *r)
{
    static const char *const types[] = {"model", "lex", "vocab", "srcvocab", "trgvocab"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(text(r, "fileType"), types[i]) == 0)
            return true;
    return false; /* quality models, and kinds added later */
}

static int find_record(const struct dg_json *data, const char *base, const char *pair,
    const char *architecture, struct dg_listing *out, struct dg_error *err)
{
    struct choice best = {NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < dg_json_length(data); i++) {
        const struct dg_json *r = dg_json_at(data, i);
        const struct choice c = choice_of(r);
        const enum audience audience = audience_of(r);
        if (strcmp(text(r, "fileType"), "model") != 0 ||
            !dg_listing_is_pair(pair, c.source, c.target) || audience == UNKNOWN_AUDIENCE ||
            (audience == ANDROID_ALONE && !architecture) ||
            (architecture && strcmp(architecture, c.architecture) != 0))
            continue;
        if (!best.source || is_better(&c, &best))
            best = c;
    }
    if (!best.source)
        return dg_error_set(err, DG_ENOTFOUND,
            "firefox has no %s%s%s; `dragoman pull --list firefox` lists its models", pair,
            architecture ? " of size " : "", architecture ? architecture : "");
    int rc = describe(out, &best, err);
    for (size_t i = 0; i < dg_json_length(data) && !rc; i++) {
        const struct dg_json *r = dg_json_at(data, i);
        if (is_of(r, &best) && is_wanted_file(r) && audience_of(r) != UNKNOWN_AUDIENCE)
            rc = add_record(out, base, r, err);
    }
    return rc;
}

/* Add a file of the registry: gzip, of which only the content's size and hash are known. */
static int add_registry_file(
    struct dg_listing *l, const char *base, const struct dg_json *file, struct dg_error *err)
{
    const char *path = text(file, "path"), *name = strrchr(path, '/');
    char url[4096];
    struct dg_listing_file f = {.name = name ? name + 1 : path,
        .url = url,
        .unpacked_size = dg_listing_bytes(dg_json_get(file, "uncompressedSize"))};
    snprintf(url, sizeof url, "%.1000s/%.2000s", base, path);
    dg_listing_hex(dg_json_get(file, "uncompressedHash"), DG_SHA256_DIGITS, f.unpacked_sha256);
    return dg_listing_add(l, &f, err);
}

static int find_registered(const struct dg_json *index, const char *pair, const char *architecture,
    struct dg_listing *out, struct dg_error *err)
{
    static const char *const keys[] = {
        "model", "lexicalShortlist", "vocab", "srcVocab", "trgVocab"};
    const struct dg_json *models = dg_json_get(index, "models"), *best = NULL;
    for (const char *k = dg_json_next_key(models, NULL); k; k = dg_json_next_key(models, k)) {
        const struct dg_json *list = dg_json_get(models, k);
        for (size_t i = 0; i < dg_json_length(list); i++) {
            const struct dg_json *m = dg_json_at(list, i);
            const struct choice c = choice_of(m);
            if (!dg_listing_is_pair(pair, c.source, c.target) ||
                (architecture && strcmp(architecture, c.architecture) != 0))
                continue;
            if (!best || rank_of(c.architecture) < rank_of(text(best, "architecture")))
                best = m;
        }
    }
    if (!best)
        return dg_error_set(err, DG_ENOTFOUND,
            "firefox's registry has no %s%s%s; `dragoman pull --list firefox` shows what there is",
            pair, architecture ? " of size " : "", architecture ? architecture : "");
    const struct choice c = choice_of(best);
    int rc = describe(out, &c, err);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !rc; i++) {
        const struct dg_json *file = dg_json_get(dg_json_get(best, "files"), keys[i]);
        if (file)
            rc = add_registry_file(out, text(index, "baseUrl"), file, err);
    }
    return rc;
}

static int no_index(struct dg_error *err)
{
    return dg_error_set(err, DG_EFORMAT,
        "this is not an index of Firefox's models: expected an object with \"data\" or \"models\"");
}

int dg_firefox_find(const struct dg_json *index, const char *base, const char *pair,
    const char *architecture, struct dg_listing *out, struct dg_error *err)
{
    const struct dg_json *data = dg_json_get(index, "data");
    if (data)
        return find_record(data, base, pair, architecture, out, err);
    if (dg_json_get(index, "models"))
        return find_registered(index, pair, architecture, out, err);
    return no_index(err);
}

static void add_line(struct dg_buffer *out, const struct dg_json *m, uint64_t size)
{
    const struct choice c = choice_of(m);
    char id[200];
    snprintf(id, sizeof id, "firefox/%.40s-%.40s:%.40s", c.source, c.target, c.architecture);
    dg_buffer_addf(
        out, "%-36s %6.1f MB%s%s\n", id, (double)size / 1e6, c.version[0] ? "  " : "", c.version);
}

int dg_firefox_list(const struct dg_json *index, struct dg_buffer *out, struct dg_error *err)
{
    const struct dg_json *data = dg_json_get(index, "data"), *models = dg_json_get(index, "models");
    if (!data && !models)
        return no_index(err);
    for (size_t i = 0; i < dg_json_length(data); i++) {
        const struct dg_json *r = dg_json_at(data, i);
        if (strcmp(text(r, "fileType"), "model") == 0 && audience_of(r) != UNKNOWN_AUDIENCE)
            add_line(out, r, dg_listing_bytes(dg_json_get(r, "decompressedSize")));
    }
    for (const char *k = dg_json_next_key(models, NULL); k; k = dg_json_next_key(models, k)) {
        const struct dg_json *list = dg_json_get(models, k);
        for (size_t i = 0; i < dg_json_length(list); i++) {
            const struct dg_json *m = dg_json_at(list, i);
            add_line(out, m,
                dg_listing_bytes(dg_json_get(
                    dg_json_get(dg_json_get(m, "files"), "model"), "uncompressedSize")));
        }
    }
    return 0;
}
