/* Removes and replaces folders with everything in them; links are removed and never followed. Any
 * thread. */
#ifndef DG_CONVERT_PULL_TREE_H
#define DG_CONVERT_PULL_TREE_H

#include "base/error.h"

#include <stdbool.h>

/* DG_EIO: something in it cannot be removed. No effect if it does not exist. */
int dg_tree_remove(const char *path, struct dg_error *err);
/* Replace the folder `to`, if it exists, by `from`, in one step: a reader never finds half of a
 * folder. */
int dg_tree_replace(const char *from, const char *to, struct dg_error *err);

#endif
