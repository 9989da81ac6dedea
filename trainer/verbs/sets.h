/* Sets of text and translation, as command lines name them. Main thread only. */
#ifndef DG_TRAINER_VERBS_SETS_H
#define DG_TRAINER_VERBS_SETS_H

#include "trainer/score/calibrate.h"

struct dg_sets {
    /* [n] */
    struct dg_calibrate_set *list;
    /* [n] strings that the list points into */
    char **words;
    size_t n;
};

/* Read words[n], each FROM:TO:SOURCE:TARGET; DG_EINVAL if one is not. Call dg_sets_free also after
 * a failure. */
int dg_sets_read(const char *const *words, size_t n, struct dg_sets *out, struct dg_error *err);
void dg_sets_free(struct dg_sets *s);

#endif
