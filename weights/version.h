/* A bundle's version: one SHA-256 over its manifest (without the version itself) and its files, as
 * in FORMAT.md. Private to weights/. Reads every byte: for sealing, for `inspect --verify` and for
 * serving. Any thread. */
#ifndef DG_WEIGHTS_VERSION_H
#define DG_WEIGHTS_VERSION_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "weights/weights.h"

#define DG_VERSION_DIGITS 64

/* The manifest must have passed dg_manifest_check. Loaded weights are hashed in memory and not read
 * again, if all their bytes are still there; NULL: read the file. out: lower-case hexadecimal. */
int dg_version_compute(const char *dir, const struct dg_json *manifest,
    const struct dg_weights *weights, char out[DG_VERSION_DIGITS + 1], struct dg_error *err);

/* Append the manifest's canonical text: compact, keys sorted by their bytes at every level, no
 * "version" at the top. */
int dg_version_canonical(const struct dg_json *manifest, struct dg_buffer *b, struct dg_error *err);

#endif
