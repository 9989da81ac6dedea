/* Finds the files of a model ("firefox/en-de:tiny") in the service's index. One thread at a
 * time. */
#ifndef DG_CONVERT_PULL_LOOKUP_H
#define DG_CONVERT_PULL_LOOKUP_H

#include "base/buffer.h"
#include "convert/pull/download.h"
#include "convert/pull/listing.h"

/* `index`: an https address or a file to use instead of the service's own index (for hf and
 * opus-mt: the hub's address, or a file with its answer about the repository); NULL: the service's.
 * DG_EINVAL: `source` has no known form; DG_ENOTFOUND: the service has no such model. */
int dg_lookup_find(struct dg_downloader *d, const char *source, const char *index,
    struct dg_listing *out, struct dg_error *err);

/* Append a line for each model of firefox, opus-mt or argos, without anything that could control a
 * terminal. */
int dg_lookup_list(struct dg_downloader *d, const char *service, const char *index,
    struct dg_buffer *out, struct dg_error *err);

/* The directory name for a source's bundle: its letters, digits, dots and underscores, with a
 * hyphen for each other run of characters. DG_EINVAL: the name would be empty or too long. */
int dg_lookup_name(const char *source, char out[128], struct dg_error *err);

#endif
