/* Where a run begins, by name and content: paths of the machine it was made on mean nothing to
 * a reader of the bundle. Any thread. */
#ifndef DG_TRAINER_RUN_PROVENANCE_H
#define DG_TRAINER_RUN_PROVENANCE_H

#include "trainer/recipe/recipe.h"

/* {"init": "NAME@VERSION", "vocabulary": "NAME@VERSION" or "FILE@HASH"}, a member only where the
 * recipe begins with a bundle or takes a vocabulary over. What is not there any more has no
 * VERSION. NULL when memory is out. Caller frees. */
struct dg_json *dg_provenance_find(const struct dg_recipe *r);

/* The recipe as a bundle shows it: origins instead of paths, data files relative to the data
 * folder, a file that lies elsewhere by its name alone. NULL when memory is out. Caller frees. */
struct dg_json *dg_provenance_recipe(const struct dg_recipe *r, const struct dg_json *origin);

#endif
