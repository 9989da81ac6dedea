/* Sets of text and translation as command lines name them. One thread, main's. */
#ifndef DG_TRAINER_VERBS_SETS_H
#define DG_TRAINER_VERBS_SETS_H

#include "trainer/score/calibrate.h"

struct dg_sets {
    /* [n] */
    struct dg_calibrate_set *list;
    /* [n] what the list points into */
    char **words;
    size_t n;
};

/* Read words[n], each FROM:TO:SOURCE:TARGET. dg_sets_free also after a failure. DG_EINVAL. */
int dg_sets_read(const char *const *words, size_t n, struct dg_sets *out, struct dg_error *err);
void dg_sets_free(struct dg_sets *s);

#endif
