#include "weights/bundle.h"

#include "base/buffer.h"
#include "base/file.h"
#include "weights/manifest.h"
#include "weights/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dg_bundle {
    char *dir;
    struct dg_json *manifest;
    struct dg_weights *weights; /* NULL after dg_bundle_forget_weights */
    size_t weights_bytes;
    uint64_t fingerprint;
    const char *type;
    const char *name, *version; /* borrowed from the manifest */
    char *paths[DG_FILE_COUNT]; /* "" when the bundle has no such file */
    /* the shortlist is used (dg_bundle_use_lists) */
    bool lists;
    /* the manifest's pairs that use the shortlist, checked; NULL: all pairs */
    const struct dg_json *list_pairs;
    /* [n_pairs] source and target, borrowed from the manifest; equal codes are one pointer */
    const char *(*pairs)[2];
    size_t n_pairs;
    /* [n_languages] each once, in the order in which the pairs first name them */
    struct dg_bundle_language *languages;
    size_t n_languages;
};

static int find_files(struct dg_bundle *b, struct dg_error *err)
{
    for (int i = 0; i < DG_FILE_COUNT; i++) {
        const char *name = dg_manifest_file(b->manifest, i);
        b->paths[i] = name ? dg_file_join(b->dir, name) : strdup("");
        if (!b->paths[i])
            return dg_error_set(err, DG_ENOMEM, "no memory for a path");
        char field[64];
        snprintf(field, sizeof field, "files.%s", dg_manifest_file_key(i));
        if (b->paths[i][0] && access(b->paths[i], R_OK) != 0)
            return dg_error_field(
                err, DG_EIO, field, "cannot read %s, the manifest's %s", b->paths[i], field);
    }
    return 0;
}

/* Say what `dir` is instead of a bundle. */
static int no_bundle(const char *dir, struct dg_error *err)
{
    struct stat is;
    if (stat(dir, &is) != 0)
        return dg_error_set(err, errno == ENOENT ? DG_ENOTFOUND : DG_EIO, "cannot open %s: %s", dir,
            strerror(errno));
    return dg_error_set(err, DG_ENOTFOUND,
        "%s is not a bundle: it %s (dragoman convert makes bundles from other programs' models)",
        dir,
        S_ISDIR(is.st_mode) ? "has no " DG_MANIFEST_FILE
                            : "is a file, and a bundle is a directory with " DG_MANIFEST_FILE);
}

static int read_manifest(struct dg_bundle *b, struct dg_error *err)
{
    char *path = dg_file_join(b->dir, DG_MANIFEST_FILE);
    if (!path)
        return dg_error_set(err, DG_ENOMEM, "no memory for a path");
    int rc = 0;
    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        rc = no_bundle(b->dir, err);
    else if (!(b->manifest = dg_json_load(path, err)))
        rc = err && err->code ? err->code : DG_EFORMAT;
    else if (!(rc = dg_manifest_check(b->manifest, err)) && !dg_json_get(b->manifest, "version"))
        rc = dg_error_field(err, DG_EINVAL, "version", "manifest: version is missing");
    if (rc && b->manifest)
        dg_error_prefix(err, "%s", path);
    free(path);
    return rc;
}

/* Record that the language is on a side; return the code's shared pointer. *hint: index of the last
 * one found, where the search starts, as pairs repeat languages in the same order. */
static const char *note_language(struct dg_bundle *b, const char *code, unsigned side, size_t *hint)
{
    for (size_t i = 0; i < b->n_languages; i++) {
        const size_t at = (*hint + i) % b->n_languages;
        if (strcmp(b->languages[at].code, code) != 0)
            continue;
        b->languages[at].sides |= side;
        *hint = at;
        return b->languages[at].code;
    }
    *hint = b->n_languages;
    b->languages[b->n_languages++] = (struct dg_bundle_language){code, side};
    return code;
}

/* Copied from the manifest for speed: every request searches them, up to forty thousand pairs in a
 * model of two hundred languages. */
static int list_pairs(struct dg_bundle *b, struct dg_error *err)
{
    const struct dg_json *pairs = dg_json_get(b->manifest, "pairs");
    size_t hints[2] = {0, 0};
    b->n_pairs = dg_json_length(pairs);
    b->pairs = calloc(b->n_pairs, sizeof *b->pairs);
    b->languages = calloc(2 * b->n_pairs, sizeof *b->languages);
    if (!b->pairs || !b->languages)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu pairs of languages", b->n_pairs);
    for (size_t i = 0; i < b->n_pairs; i++) {
        const struct dg_json *pair = dg_json_at(pairs, i);
        for (size_t k = 0; k < 2; k++) {
            const char *code = dg_json_string(dg_json_at(pair, k), NULL);
            b->pairs[i][k] =
                note_language(b, code, k ? DG_LANGUAGE_TARGET : DG_LANGUAGE_SOURCE, &hints[k]);
        }
    }
    return 0;
}

static int choose_lists(struct dg_bundle *b, struct dg_error *err)
{
    const char *wish = getenv("DRAGOMAN_SHORTLIST");
    const struct dg_json *decision = dg_json_get(b->manifest, "shortlist"),
                         *use = dg_json_get(decision, "use");
    b->lists = !use || dg_json_bool(use);
    b->list_pairs = dg_json_get(decision, "use_for");
    if (!wish || !wish[0] || !strcmp(wish, "auto"))
        return 0;
    b->lists = !strcmp(wish, "on");
    b->list_pairs = NULL;
    return b->lists || !strcmp(wish, "off")
               ? 0
               : dg_error_set(err, DG_EINVAL,
                     "DRAGOMAN_SHORTLIST is \"%.40s\", expected auto, on or off", wish);
}

typedef int (*opener)(const char *path, struct dg_weights **out, struct dg_error *err);

static int open_with(
    opener open_weights, const char *dir, struct dg_bundle **out, struct dg_error *err)
{
    struct dg_bundle *b = calloc(1, sizeof *b);
    int rc = 0;
    if (!b || !(b->dir = strdup(dir)))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a bundle");
    if (!rc)
        rc = read_manifest(b, err);
    if (!rc)
        rc = find_files(b, err);
    if (!rc)
        rc = list_pairs(b, err);
    if (!rc)
        rc = choose_lists(b, err);
    if (!rc)
        rc = open_weights(b->paths[DG_FILE_WEIGHTS], &b->weights, err);
    if (rc) {
        dg_bundle_close(b);
        return rc;
    }
    b->weights_bytes = dg_weights_bytes(b->weights);
    b->fingerprint = dg_weights_fingerprint(b->weights);
    b->type = dg_weights_main_type(b->weights);
    b->name = dg_json_string(dg_json_get(b->manifest, "name"), NULL);
    b->version = dg_json_string(dg_json_get(b->manifest, "version"), NULL);
    *out = b;
    return 0;
}

int dg_bundle_open(const char *dir, struct dg_bundle **out, struct dg_error *err)
{
    return open_with(dg_weights_open, dir, out, err);
}

int dg_bundle_load(const char *dir, struct dg_bundle **out, struct dg_error *err)
{
    return open_with(dg_weights_load, dir, out, err);
}

int dg_bundle_load_again(const struct dg_bundle *b, struct dg_weights **out, struct dg_error *err)
{
    struct dg_weights *w = NULL;
    int rc = dg_weights_load(b->paths[DG_FILE_WEIGHTS], &w, err);
    if (!rc && dg_weights_fingerprint(w) != b->fingerprint)
        rc = dg_error_set(err, DG_EFORMAT, "%s: another file has taken its place while it was read",
            b->paths[DG_FILE_WEIGHTS]);
    if (rc)
        dg_weights_close(w);
    else
        *out = w;
    return rc;
}

void dg_bundle_forget_weights(struct dg_bundle *b)
{
    dg_weights_close(b->weights);
    b->weights = NULL;
}

size_t dg_bundle_weights_bytes(const struct dg_bundle *b)
{
    return b->weights_bytes;
}

const char *dg_bundle_type(const struct dg_bundle *b)
{
    return b->type;
}

int dg_bundle_same(
    const struct dg_bundle *a, const struct dg_bundle *b, bool *same, struct dg_error *err)
{
    struct dg_buffer x, y;
    dg_buffer_init(&x);
    dg_buffer_init(&y);
    int rc = dg_version_canonical(a->manifest, &x, err);
    if (rc == 0)
        rc = dg_version_canonical(b->manifest, &y, err);
    *same = rc == 0 && x.len == y.len && memcmp(x.data, y.data, x.len) == 0 &&
            a->fingerprint == b->fingerprint;
    dg_buffer_deinit(&x);
    dg_buffer_deinit(&y);
    return rc;
}

void dg_bundle_close(struct dg_bundle *b)
{
    if (!b)
        return;
    dg_weights_close(b->weights);
    free(b->pairs);
    free(b->languages);
    for (int i = 0; i < DG_FILE_COUNT; i++)
        free(b->paths[i]);
    dg_json_free(b->manifest);
    free(b->dir);
    free(b);
}

const struct dg_json *dg_bundle_manifest(const struct dg_bundle *b)
{
    return b->manifest;
}

const struct dg_weights *dg_bundle_weights(const struct dg_bundle *b)
{
    return b->weights;
}

const char *dg_bundle_dir(const struct dg_bundle *b)
{
    return b->dir;
}

const char *dg_bundle_name(const struct dg_bundle *b)
{
    return b->name;
}

const char *dg_bundle_version(const struct dg_bundle *b)
{
    return b->version;
}

size_t dg_bundle_pairs(const struct dg_bundle *b)
{
    return b->n_pairs;
}

void dg_bundle_pair(const struct dg_bundle *b, size_t i, const char **source, const char **target)
{
    *source = b->pairs[i][0];
    *target = b->pairs[i][1];
}

const struct dg_bundle_language *dg_bundle_languages(const struct dg_bundle *b, size_t *n)
{
    *n = b->n_languages;
    return b->languages;
}

const char *dg_bundle_source_spm(const struct dg_bundle *b)
{
    return b->paths[DG_FILE_SOURCE_SPM];
}

const char *dg_bundle_target_spm(const struct dg_bundle *b)
{
    return b->paths[DG_FILE_TARGET_SPM];
}

const char *dg_bundle_source_vocab(const struct dg_bundle *b)
{
    return b->paths[DG_FILE_SOURCE_VOCAB];
}

const char *dg_bundle_target_vocab(const struct dg_bundle *b)
{
    return b->paths[DG_FILE_TARGET_VOCAB];
}

const char *dg_bundle_shortlist(const struct dg_bundle *b)
{
    return b->lists ? b->paths[DG_FILE_SHORTLIST] : "";
}

bool dg_bundle_has_shortlist(const struct dg_bundle *b)
{
    return b->paths[DG_FILE_SHORTLIST][0] != '\0';
}

void dg_bundle_use_lists(struct dg_bundle *b, enum dg_list_use use)
{
    if (use == DG_LISTS_AUTO)
        return;
    b->lists = use == DG_LISTS_ON;
    b->list_pairs = NULL;
}

bool dg_bundle_pair_uses_list(const struct dg_bundle *b, size_t i)
{
    if (!dg_bundle_shortlist(b)[0] || !b->list_pairs)
        return dg_bundle_shortlist(b)[0] != '\0';
    for (size_t k = 0; k < dg_json_length(b->list_pairs); k++) {
        const struct dg_json *pair = dg_json_at(b->list_pairs, k);
        if (!strcmp(dg_json_string(dg_json_at(pair, 0), NULL), b->pairs[i][0]) &&
            !strcmp(dg_json_string(dg_json_at(pair, 1), NULL), b->pairs[i][1]))
            return true;
    }
    return false;
}

int dg_bundle_verify(const struct dg_bundle *b, struct dg_error *err)
{
    int rc = dg_weights_verify(b->weights, err);
    if (rc)
        dg_error_prefix(err, "%s", b->paths[DG_FILE_WEIGHTS]);
    return rc ? rc : dg_bundle_verify_version(b, err);
}

int dg_bundle_verify_version(const struct dg_bundle *b, struct dg_error *err)
{
    char version[DG_VERSION_DIGITS + 1];
    int rc = dg_version_compute(b->dir, b->manifest, b->weights, version, err);
    if (!rc && strcmp(version, b->version) != 0)
        rc = dg_error_field(err, DG_EFORMAT, "version",
            "%s: version is %s, but manifest and files give %s: something was changed after it was "
            "sealed",
            b->dir, b->version, version);
    return rc;
}
