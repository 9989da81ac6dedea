/* Fetches, converts and installs models of other services. Prints its steps to standard output, and
 * download progress to standard error. One thread at a time, and no other thread may run. */
#ifndef DG_CONVERT_PULL_PULL_H
#define DG_CONVERT_PULL_PULL_H

#include "base/buffer.h"
#include "base/error.h"
#include "convert/pull/child.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_pull {
    /* The directory of models. */
    const char *models;
    /* The bundle's name; NULL: derived from its source. */
    const char *name;
    /* NULL: as the installed model has them, else as in the index or the model. */
    const char *source_lang, *target_lang;
    /* One of dg_install_types; NULL: the installed model's, else int8. */
    const char *type;
    /* Used instead of the service's index, see convert/pull/lookup.h; or NULL. */
    const char *index;
    /* Expected hash of the one file, in lower case; or NULL. */
    const char *sha256;
    /* See convert/pull/download.h; or NULL. */
    const char *ca_file;
    uint32_t stall_seconds;
    /* Folder for downloads; NULL: $XDG_CACHE_HOME/dragoman or ~/.cache/dragoman. A model's files
     * are in .download-NAME there, which is removed once the model is installed. */
    const char *cache;
    bool quiet;
    /* Skip installed models without asking an index. */
    bool if_missing;
    /* See convert/pull/install.h. */
    int (*prove)(const char *dir, struct dg_child_report *r, struct dg_error *err);
};

/* Nothing is fetched if the model is installed from the same files and with the same options. */
int dg_pull_source(const struct dg_pull *p, const char *source, struct dg_error *err);
/* Install files (or one directory) that are on disk already, without network access. */
int dg_pull_files(const struct dg_pull *p, char *const *paths, size_t n, struct dg_error *err);
/* Append the service's list of models. */
int dg_pull_list(
    const struct dg_pull *p, const char *service, struct dg_buffer *out, struct dg_error *err);

#endif
