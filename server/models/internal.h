/* What models.c, way.c and served.c share. Any thread, with the lock where a
 * field says so.
 */
#ifndef DG_SERVER_MODELS_INTERNAL_H
#define DG_SERVER_MODELS_INTERNAL_H

#include "server/models/languages.h"
#include "server/models/models.h"

#include <pthread.h>

struct dg_models {
    struct dg_models_options o;
    char aliases[1024], pivot[DG_LANGUAGE_MAX];
    /* one load at a time; never taken while lock is held */
    pthread_mutex_t load_lock;
    pthread_mutex_t lock;
    /* guarded by lock */
    struct dg_served **list;
    size_t n;
};

/* Open the bundle in dir with an engine for each worker, and let each translate a sentence. Held
 * once. */
int dg_served_open(const struct dg_models_options *o, const char *dir, struct dg_served **out,
    struct dg_error *err);

/* The bundle at path, or those in the directory path, sorted, so that the same directory always
 * gives the same choice of models: dirs[*n], each to be freed, also after a failure. */
int dg_models_bundles(const char *path, char *dirs[DG_MODELS_MAX], size_t *n, struct dg_error *err);

#endif
