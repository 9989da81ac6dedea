/* Finds the files of a model ("firefox/en-de:tiny") in the service's index. One thread at a
 * time. */
#ifndef DG_CONVERT_PULL_LOOKUP_H
#define DG_CONVERT_PULL_LOOKUP_H

#include "base/buffer.h"
#include "convert/pull/download.h"
#include "convert/pull/listing.h"

/* `index`: an https address or a file to take in the place of the service's own index (of hf and
 * opus-mt: the hub itself, or a file with its answer about the repository); NULL: the service's.
 * DG_EINVAL: `source` is of no known form; DG_ENOTFOUND: the service has no such model. */
int dg_lookup_find(struct dg_downloader *d, const char *source, const char *index,
    struct dg_listing *out, struct dg_error *err);

/* Append what firefox, opus-mt or argos has, a line each, with nothing in it that could steer a
 * terminal. */
int dg_lookup_list(struct dg_downloader *d, const char *service, const char *index,
    struct dg_buffer *out, struct dg_error *err);

/* The directory that a source's bundle gets: its letters, digits, dots and hyphens, with a hyphen
 * for each other run of characters. DG_EINVAL: nothing would be left, or too much. */
int dg_lookup_name(const char *source, char out[128], struct dg_error *err);

#endif
