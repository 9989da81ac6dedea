/* What models.c and served.c share. */
#ifndef DG_SERVER_MODELS_INTERNAL_H
#define DG_SERVER_MODELS_INTERNAL_H

#include "server/models/models.h"

/* Open the bundle in dir with an engine for each worker, and let each translate a sentence. Held
 * once. */
int dg_served_open(const struct dg_models_options *o, const char *dir, struct dg_served **out,
    struct dg_error *err);

/* The bundle at path, or those in the directory path, sorted, so that the same directory always
 * gives the same choice of models: dirs[*n], each to be freed, also after a failure. */
int dg_models_bundles(const char *path, char *dirs[DG_MODELS_MAX], size_t *n, struct dg_error *err);

#endif
