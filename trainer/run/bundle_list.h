/* The vocabulary shortlist of a run's bundle (weights/shortlist.h): learnt from the training pairs,
 * measured on the development sets, used where it keeps the quality. One thread at a time. */
#ifndef DG_TRAINER_RUN_BUNDLE_LIST_H
#define DG_TRAINER_RUN_BUNDLE_LIST_H

#include "trainer/run/export.h"

struct dg_trainlog;

struct dg_bundle_list {
    /* exported, and there is a dev set; `shortlist` becomes *decision */
    struct dg_export *e;
    /* is told what came of it */
    struct dg_trainlog *log;
    /* non-zero: DG_ECANCELED; NULL never */
    const volatile int *stop;
};

/* Write the list and seal the bundle with the decision, which the caller frees; NULL: sentences
 * would need more than half of the vocabulary, for which lists are not made. Until it is measured
 * the list is not used: a bundle that is left earlier says so. */
int dg_bundle_list_add(
    const struct dg_bundle_list *o, struct dg_json **decision, struct dg_error *err);

#endif
