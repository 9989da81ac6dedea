/* Folders that are removed with all that is in them; links are removed and never followed. Any
 * thread. */
#ifndef DG_CONVERT_PULL_TREE_H
#define DG_CONVERT_PULL_TREE_H

#include "base/error.h"

#include <stdbool.h>

/* DG_EIO names what cannot be removed; nothing happens where there is nothing. */
int dg_tree_remove(const char *path, struct dg_error *err);
/* Put the folder `from` in the place of `to`, which may be there; what was there is removed. At no
 * time is there half of one. */
int dg_tree_replace(const char *from, const char *to, struct dg_error *err);

#endif
