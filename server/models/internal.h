/* Shared by load.c, memory_plan.c, models.c, opening.c, way.c, ways.c and served.c. Any thread,
 * with the lock if a field says so. */
#ifndef DG_SERVER_MODELS_INTERNAL_H
#define DG_SERVER_MODELS_INTERNAL_H

#include "base/executor.h"
#include "server/models/languages.h"
#include "server/models/models.h"
#include "server/models/opening.h"

#include <pthread.h>

/* Guarded by the lock of the models. */
struct dg_model_openings {
    /* waiting requests, in order of arrival */
    struct dg_opening *line, **end;
    size_t n;
    struct dg_work work;
    bool stopped;
    uint64_t opened, closed, failed;
    /* the most that an open bundle took in addition to its weights file */
    size_t most_beside;
};

struct dg_models {
    struct dg_models_options o;
    /* the pivot in canonical form; "": off */
    char pivot_code[DG_LANGUAGE_MAX];
    /* one load at a time; never taken while lock is held */
    pthread_mutex_t load_lock;
    /* one bundle is opened at a time; never taken while lock is held */
    pthread_mutex_t open_lock;
    pthread_mutex_t lock;
    /* guarded by lock */
    struct dg_listing **list;
    size_t n;
    struct dg_model_openings opening;
};

/* Without the lock: open the listed bundle, if it has not changed. The caller gets the one
 * reference to *out. */
int dg_models_open_listed(
    struct dg_models *m, const struct dg_listing *l, struct dg_served **out, struct dg_error *err);
/* With the lock: l is open from now on as s, whose reference it takes over. */
void dg_models_is_open_take(struct dg_models *m, struct dg_listing *l, struct dg_served *s);
/* With the lock: the bytes that l takes when open; an estimate before its first opening. */
size_t dg_models_estimate(const struct dg_models *m, const struct dg_listing *l);
/* True if the models in memory and this many bytes more are within the memory for models. */
bool dg_models_fit(const struct dg_models *m, size_t more);
void dg_opening_init(struct dg_models *m);

/* how long the first in line waits before each further model has to make room */
#define DG_OPENING_PATIENCE_NS 50000000ull

/* With the lock: marks bundles as leaving, those that have been open longest first: they take no
 * new requests until o has its models. One for each DG_OPENING_PATIENCE_NS that o has waited, with
 * those marked before. */
void dg_opening_make_room(
    const struct dg_models *m, const struct dg_opening *o, uint64_t waited_ns);

/* Open the bundle in dir with an engine for each worker, and have each engine translate a sentence.
 * The caller gets the one reference to *out. */
int dg_served_open(const struct dg_models_options *o, const char *dir, struct dg_served **out,
    struct dg_error *err);

/* List the bundle at path, or those in the directory path, sorted so that the same directory always
 * gives the same choice of models. DG_EIO: a folder cannot be entered. The caller frees dirs[*n],
 * also after a failure. */
int dg_models_bundles(const char *path, char *dirs[DG_MODELS_MAX], size_t *n, struct dg_error *err);

#endif
