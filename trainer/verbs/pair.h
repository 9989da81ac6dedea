/* The languages between which a verb's bundle translates. Main thread only. */
#ifndef DG_TRAINER_VERBS_PAIR_H
#define DG_TRAINER_VERBS_PAIR_H

#include "base/error.h"
#include "weights/bundle.h"

/* Find the bundle's one pair of these languages (NULL: any), as the bundle spells them (borrowed
 * from it). DG_EINVAL: it has none, or several, so that any choice may be wrong. */
int dg_pair_find(const struct dg_bundle *b, const char *from, const char *to, const char **source,
    const char **target, struct dg_error *err);

#endif
