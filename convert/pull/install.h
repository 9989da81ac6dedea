/* Installs downloaded or local files as a bundle in the directory of models. The files are
 * unpacked, converted, quantised to int8, marked with their origin, and tested with one sentence,
 * all in a process without network access, before the bundle is moved into place. One thread at a
 * time. */
#ifndef DG_CONVERT_PULL_INSTALL_H
#define DG_CONVERT_PULL_INSTALL_H

#include "base/error.h"
#include "base/json.h"
#include "convert/pull/child.h"
#include "convert/pull/listing.h"

#include <stdbool.h>

struct dg_install_file {
    /* A file, or a directory (then the only entry). */
    const char *path;
    /* Recorded in the manifest; url is NULL for local files. */
    const char *url;
    char sha256[DG_SHA256_DIGITS + 1];
    uint64_t size;
    /* The source or the caller gave this hash or git's. */
    bool verified;
    /* For a compressed file: expected size and hash of the unpacked file; 0 and "": not known. */
    uint64_t unpacked_size;
    char unpacked_sha256[DG_SHA256_DIGITS + 1];
};

struct dg_install {
    /* The directory of models, and the name of the bundle's own directory in it (NULL: the
     * converter's). */
    const char *models, *name;
    /* "firefox/en-de"; kept in the manifest. */
    const char *source;
    /* The languages and the type are kept in the manifest, too. NULL: not given. */
    const char *source_lang, *target_lang, *licence;
    /* One of dg_install_types. */
    const char *type;
    const struct dg_install_file *files;
    size_t n_files;
    /* Translate a sentence with the bundle `dir`, and record it in the report. */
    int (*prove)(const char *dir, struct dg_child_report *r, struct dg_error *err);
};

/* Types that a model's matrices may be installed in, ended by NULL; the first is the default. */
extern const char *const dg_install_types[];

/* Check, before a long download, that `models` can be made and written to. */
int dg_install_check(const char *models, struct dg_error *err);

/* On failure `models` is unchanged. */
int dg_install(const struct dg_install *o, struct dg_child_report *out, struct dg_error *err);

/* Check that `name` may be written: it is a plain name, and anything there was installed by
 * dg_install. *manifest gets the existing manifest (owned by the caller), or NULL if there is none.
 * DG_EINVAL. */
int dg_install_look(
    const char *models, const char *name, struct dg_json **manifest, struct dg_error *err);

/* Remove the model installed under that name. DG_ENOTFOUND; DG_EINVAL: not installed by dg_install.
 */
int dg_install_remove(const char *models, const char *name, struct dg_error *err);

#endif
