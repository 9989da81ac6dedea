#include "weights/version.h"

#include "base/file.h"
#include "weights/manifest.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <stdlib.h>
#include <string.h>

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct dg_json *sorted(const struct dg_json *v, const char *without);

static struct dg_json *sorted_object(const struct dg_json *v, const char *without)
{
    size_t n = 0, most = dg_json_length(v);
    const char **keys = calloc(most + 1, sizeof *keys);
    struct dg_json *object = dg_json_new_object();
    bool failed = !keys || !object;
    for (const char *k = dg_json_next_key(v, NULL); k && !failed; k = dg_json_next_key(v, k)) {
        if (!without || strcmp(k, without) != 0)
            keys[n++] = k;
    }
    if (!failed && n)
        qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < n && !failed; i++)
        failed = dg_json_set_take(object, keys[i], sorted(dg_json_get(v, keys[i]), NULL)) != 0;
    free(keys);
    if (!failed)
        return object;
    dg_json_free(object);
    return NULL;
}

/* A copy with sorted keys, without the key `without` at the top level; NULL when out of memory. */
static struct dg_json *sorted(const struct dg_json *v, const char *without)
{
    if (dg_json_typeof(v) == DG_JSON_OBJECT)
        return sorted_object(v, without);
    if (dg_json_typeof(v) != DG_JSON_ARRAY)
        return dg_json_copy(v);
    struct dg_json *array = dg_json_new_array();
    for (size_t i = 0; i < dg_json_length(v); i++) {
        if (dg_json_append_take(array, sorted(dg_json_at(v, i), NULL)) != 0) {
            dg_json_free(array);
            return NULL;
        }
    }
    return array;
}

int dg_version_canonical(const struct dg_json *manifest, struct dg_buffer *b, struct dg_error *err)
{
    dg_json_begin();
    struct dg_json *copy = sorted(manifest, "version");
    int rc = copy && dg_json_write(copy, 0, b) == 0 && !b->failed
                 ? 0
                 : dg_error_set(err, DG_ENOMEM, "no memory for the manifest's canonical text");
    dg_json_free(copy);
    return rc;
}

/* Begin a part: its name with the NUL, its length in 8 bytes (little-endian); its bytes follow. The
 * lengths ensure that bundles that differ only in where one part ends have different digests. */
static void begin_part(struct sha256_ctx *sha, const char *name, uint64_t n)
{
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(n >> 8 * i);
    sha256_update(sha, strlen(name) + 1, (const unsigned char *)name);
    sha256_update(sha, sizeof length, length);
}

/* Read and not mapped, so that a file truncated meanwhile gives an error and not a signal. */
static int add_stream(
    struct sha256_ctx *sha, const char *key, const char *path, FILE *f, struct dg_error *err)
{
    unsigned char chunk[65536];
    struct stat st;
    uint64_t left;
    if (fstat(fileno(f), &st) != 0)
        return dg_error_set(err, DG_EIO, "cannot look at %s: %s", path, strerror(errno));
    left = (uint64_t)st.st_size;
    begin_part(sha, key, left);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0 && n <= left; left -= n)
        sha256_update(sha, n, chunk);
    return left == 0 && feof(f) ? 0 : dg_error_set(err, DG_EIO, "cannot read all of %s", path);
}

static int add_file(struct sha256_ctx *sha, const char *dir, const char *key, const char *name,
    struct dg_error *err)
{
    char *path = dg_file_join(dir, name);
    FILE *f = path ? fopen(path, "rbe") : NULL;
    int rc = !path ? dg_error_set(err, DG_ENOMEM, "no memory for a path")
             : !f  ? dg_error_set(err, DG_EIO, "cannot open %s: %s", path, strerror(errno))
                   : add_stream(sha, key, path, f, err);
    if (f)
        fclose(f);
    free(path);
    return rc;
}

/* Hash the loaded weights, reporting progress: a model may be consuming them at the same time
 * (dg_weights_follow). */
static void add_loaded(
    struct sha256_ctx *sha, const struct dg_weights *weights, const unsigned char *loaded)
{
    const size_t bytes = dg_weights_bytes(weights), most = 1 << 20;
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < most ? bytes - at : most;
        sha256_update(sha, n, loaded + at);
        dg_weights_followed(weights, at + n);
    }
}

int dg_version_compute(const char *dir, const struct dg_json *manifest,
    const struct dg_weights *weights, char out[DG_VERSION_DIGITS + 1], struct dg_error *err)
{
    const void *loaded = weights ? dg_weights_loaded(weights) : NULL;
    unsigned char digest[SHA256_DIGEST_SIZE];
    struct dg_buffer text;
    struct sha256_ctx sha;
    dg_buffer_init(&text);
    int rc = dg_version_canonical(manifest, &text, err);
    if (rc)
        goto out;
    sha256_init(&sha);
    begin_part(&sha, "manifest", text.len);
    sha256_update(&sha, text.len, (const unsigned char *)text.data);
    for (int i = 0; i < DG_FILE_COUNT && !rc; i++) {
        const char *name = dg_manifest_file(manifest, i);
        if (name && i == DG_FILE_WEIGHTS && loaded) {
            begin_part(&sha, dg_manifest_file_key(i), dg_weights_bytes(weights));
            add_loaded(&sha, weights, loaded);
        } else if (name) {
            rc = add_file(&sha, dir, dg_manifest_file_key(i), name, err);
        }
    }
    if (rc)
        goto out;
    sha256_digest(&sha, sizeof digest, digest);
    for (int i = 0; i < SHA256_DIGEST_SIZE; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
out:
    if (loaded)
        dg_weights_followed(weights, SIZE_MAX);
    dg_buffer_deinit(&text);
    return rc;
}
