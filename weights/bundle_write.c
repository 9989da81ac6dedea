/* Writes a bundle's directory: the weights first, the manifest last. */
#include "base/buffer.h"
#include "base/file.h"
#include "weights/bundle.h"
#include "weights/manifest.h"
#include "weights/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int dg_bundle_begin(const char *dir, struct dg_error *err)
{
    int rc = dg_file_make_dir(dir, err);
    if (rc)
        return rc;
    char *path = dg_file_join(dir, DG_MANIFEST_FILE);
    if (!path)
        return dg_error_set(err, DG_ENOMEM, "no memory for a path");
    if (unlink(path) != 0 && errno != ENOENT)
        rc = dg_error_set(err, DG_EIO, "%s cannot be replaced: %s", path, strerror(errno));
    free(path);
    return rc;
}

int dg_bundle_begin_with(
    const char *dir, const char *name, struct dg_weights_writer *w, struct dg_error *err)
{
    struct dg_file_writer *file = NULL;
    char *path = dg_file_join(dir, name);
    int rc =
        path ? dg_file_make_dir(dir, err) : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    if (!rc)
        rc = dg_weights_writer_write(w, path, &file, err);
    if (!rc)
        rc = dg_bundle_begin(dir, err);
    if (rc)
        dg_file_abort(file);
    else
        rc = dg_file_commit_take(file, err);
    free(path);
    return rc;
}

int dg_bundle_seal(const char *dir, struct dg_json *manifest, struct dg_error *err)
{
    char version[DG_VERSION_DIGITS + 1];
    struct dg_buffer text;
    char *path = dg_file_join(dir, DG_MANIFEST_FILE);
    dg_buffer_init(&text);
    int rc = path && !dg_json_lost() ? dg_manifest_check(manifest, err)
                                     : dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    if (!rc)
        rc = dg_version_compute(dir, manifest, NULL, version, err);
    if (rc)
        goto out;
    if (dg_json_set_string(manifest, "version", version) != 0 ||
        dg_json_write(manifest, 2, &text) != 0) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
        goto out;
    }
    dg_buffer_adds(&text, "\n");
    rc = text.failed ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest")
                     : dg_file_write(path, text.data, text.len, err);
out:
    dg_buffer_deinit(&text);
    free(path);
    return rc;
}

int dg_bundle_add_file(
    const struct dg_bundle *b, const char *kind, const char *file, struct dg_error *err)
{
    struct dg_json *manifest = dg_json_copy(dg_bundle_manifest(b)),
                   *files = dg_json_copy(dg_json_get(manifest, "files"));
    if (manifest)
        dg_json_remove(manifest, kind); /* information about an older file */
    int rc = !manifest || !files || dg_json_set_string(files, kind, file) ||
                     dg_json_set_take(manifest, "files", files)
                 ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest")
                 : dg_bundle_seal(dg_bundle_dir(b), manifest, err);
    dg_json_free(manifest);
    return rc;
}
