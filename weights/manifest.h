/* The manifest of a bundle: checks its fields, and reads those that weights/ itself needs.
 * FORMAT.md describes the fields. Private to weights/. Any thread. */
#ifndef DG_WEIGHTS_MANIFEST_H
#define DG_WEIGHTS_MANIFEST_H

#include "base/error.h"
#include "base/json.h"

#define DG_MANIFEST_FILE "manifest.json"
#define DG_MANIFEST_FORMAT 1

/* The bundle's files, in the order in which the version covers them. */
enum dg_bundle_file {
    DG_FILE_WEIGHTS,
    DG_FILE_SOURCE_SPM,
    DG_FILE_TARGET_SPM,
    DG_FILE_SOURCE_VOCAB,
    DG_FILE_TARGET_VOCAB,
    DG_FILE_SHORTLIST,
    DG_FILE_COUNT,
};

/* The field's name in the manifest's "files". Static storage. */
const char *dg_manifest_file_key(enum dg_bundle_file file);
/* The file's name, borrowed from the manifest; NULL when the manifest names none. */
const char *dg_manifest_file(const struct dg_json *manifest, enum dg_bundle_file file);

/* Check every field except "model" and "decoding" (model/config.c reads those), including "version"
 * if present. DG_EINVAL names the field. */
int dg_manifest_check(const struct dg_json *manifest, struct dg_error *err);

#endif
