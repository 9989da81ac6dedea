/* Decides whether a bundle's shortlist is used by default, and for which pairs: translations with
 * the list and with the whole vocabulary are scored side by side, and the manifest keeps the
 * decision with its figures. A pair without a set does not use the list. One thread at a time; it
 * starts threads of its own. */
#ifndef DG_TRAINER_SCORE_LIST_GUARD_H
#define DG_TRAINER_SCORE_LIST_GUARD_H

#include "trainer/score/calibrate.h"

/* Largest loss of BLEU and of chrF with the list, for every set of a pair, at beams 1 and 4. */
#define DG_LIST_GUARD_TOLERANCE 0.1

struct dg_list_guard_trial {
    uint32_t beam;
    uint64_t lines;
    /* [0] with the list, [1] with the whole vocabulary */
    double bleu[2], chrf[2];
};

struct dg_list_guard {
    /* a bundle with a shortlist */
    const char *bundle;
    /* [n_sets] */
    const struct dg_calibrate_set *sets;
    size_t n_sets;
    /* number of lines from the start of each set; 0: all */
    uint64_t lines;
    /* 0: all cores that this process may use */
    int threads;
    /* called after each trial; NULL: no callback */
    void (*tried)(
        void *arg, const struct dg_calibrate_set *set, const struct dg_list_guard_trial *t);
    void *arg;
    /* set to non-zero: return DG_ECANCELED; NULL: cannot be stopped */
    const volatile int *stop;
};

/* Measure; the bundle stays as it is. *decision: the new value of the manifest's `shortlist`; the
 * caller frees it. DG_EINVAL: the bundle has no list, or there are no sets. */
int dg_list_guard_measure(
    const struct dg_list_guard *g, struct dg_json **decision, struct dg_error *err);
/* Measure, write the decision into the manifest and seal the bundle again. *decision as above. */
int dg_list_guard(const struct dg_list_guard *g, struct dg_json **decision, struct dg_error *err);
/* Write the decision in words, truncated to cap: for which pairs the list is used, and why. */
void dg_list_guard_say(const struct dg_json *decision, char *to, size_t cap);

#endif
