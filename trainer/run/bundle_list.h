/* The vocabulary shortlist of a run's bundle (weights/shortlist.h): learnt from the training pairs,
 * measured on the development sets, used if it keeps the quality. One thread at a time. */
#ifndef DG_TRAINER_RUN_BUNDLE_LIST_H
#define DG_TRAINER_RUN_BUNDLE_LIST_H

#include "trainer/run/export.h"

struct dg_run;

/* True if the recipe asks for a list, the data have a dev set to measure it on, and the vocabulary
 * is large enough for one. */
bool dg_bundle_list_wanted(const struct dg_run *r);
/* Estimated memory for learning a run's list, after training has released its own; 0: no list is
 * wanted. */
size_t dg_bundle_list_bytes(const struct dg_run *r);

/* Write the list of the run's bundle, which was exported as e says, and seal the bundle with the
 * decision, which the caller frees and e->shortlist points to. *decision is NULL if sentences would
 * need more than half of the vocabulary: no list is made then. Until it is measured the list is
 * marked as unused, so an interrupted bundle does not use it. DG_ECANCELED: asked to stop. */
int dg_bundle_list_add(
    const struct dg_run *r, struct dg_export *e, struct dg_json **decision, struct dg_error *err);

#endif
