/* A run's origin by name and content, because paths of the training machine mean nothing to a
 * reader of the bundle. Any thread. */
#ifndef DG_TRAINER_RUN_PROVENANCE_H
#define DG_TRAINER_RUN_PROVENANCE_H

#include "trainer/recipe/recipe.h"

/* {"init": "NAME@VERSION", "vocabulary": "NAME@VERSION" or "FILE@HASH"}, each member only if the
 * recipe starts from a bundle or reuses a vocabulary. If that was deleted, there is no VERSION or
 * HASH. NULL when out of memory. Caller frees. */
struct dg_json *dg_provenance_find(const struct dg_recipe *r);

/* The recipe as a bundle records it: origins instead of paths, data files relative to the data
 * folder, files elsewhere by name only. NULL when out of memory. Caller frees. */
struct dg_json *dg_provenance_recipe(const struct dg_recipe *r, const struct dg_json *origin);

#endif
