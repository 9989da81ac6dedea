/* Sets of text and translation, as command lines name them. Main thread only. */
#ifndef DG_TRAINER_VERBS_SETS_H
#define DG_TRAINER_VERBS_SETS_H

#include "trainer/score/calibrate.h"
#include "weights/bundle.h"

struct dg_sets {
    /* [n] */
    struct dg_calibrate_set *list;
    /* [n] strings that the list points into */
    char **words;
    size_t n;
    /* the bundle whose language codes the list points to; NULL: the codes are those of `words` */
    struct dg_bundle *bundle;
};

/* Read words[n], each FROM:TO:SOURCE:TARGET; DG_EINVAL if one is not. Call dg_sets_free also after
 * a failure. */
int dg_sets_read(const char *const *words, size_t n, struct dg_sets *out, struct dg_error *err);
/* Replace the languages by those of the bundle's pairs ("ger" by "de"): its manifest names pairs by
 * its own codes. DG_EINVAL if it lacks such a pair. */
int dg_sets_match(struct dg_sets *s, const char *bundle, struct dg_error *err);
void dg_sets_free(struct dg_sets *s);

#endif
