/* Installs downloaded or local files as a bundle in the directory of models. They are unpacked,
 * converted, quantised to int8, marked with their origin, and tested with one sentence, all in a
 * process without network access, before the bundle gets its place. One thread at a time. */
#ifndef DG_CONVERT_PULL_INSTALL_H
#define DG_CONVERT_PULL_INSTALL_H

#include "base/error.h"
#include "base/json.h"
#include "convert/pull/child.h"
#include "convert/pull/listing.h"
#include "kernels/backend.h"

#include <stdbool.h>

struct dg_install_file {
    /* A file, or a directory (one alone). */
    const char *path;
    /* Recorded in the manifest; url is NULL for local files. */
    const char *url;
    char sha256[DG_SHA256_DIGITS + 1];
    uint64_t size;
    /* Its source says this hash or git's, or the caller did. */
    bool verified;
    /* Of a compressed file: the unpacked file's expected values; 0 and "": not known. */
    uint64_t unpacked_size;
    char unpacked_sha256[DG_SHA256_DIGITS + 1];
};

struct dg_install {
    /* The directory of models, and the bundle's own in it. */
    const char *models, *name;
    /* "firefox/en-de"; kept in the manifest. */
    const char *source;
    const char *source_lang, *target_lang, *licence;
    const struct dg_install_file *files;
    size_t n_files;
    bool int8;
    enum dg_type type;
    /* Translate a sentence with the bundle `dir`, into the report. */
    int (*prove)(const char *dir, struct dg_child_report *r, struct dg_error *err);
};

/* On failure nothing has changed in `models`. */
int dg_install(const struct dg_install *o, struct dg_child_report *out, struct dg_error *err);

/* May `name` be written: is it a plain name, and is nothing there that was not installed by this?
 * The existing manifest in *manifest (owned by the caller), NULL if there is none. DG_EINVAL. */
int dg_install_look(
    const char *models, const char *name, struct dg_json **manifest, struct dg_error *err);

/* Remove the model installed under that name. DG_ENOTFOUND; DG_EINVAL: not by this. */
int dg_install_remove(const char *models, const char *name, struct dg_error *err);

#endif
