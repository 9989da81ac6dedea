/* Whether a bundle's shortlist is used by default, and for which pairs: translations with it and
 * with the whole vocabulary are scored side by side, and the manifest keeps the decision with its
 * figures. One
 * thread at a time; threads of its own work. */
#ifndef DG_TRAINER_SCORE_LIST_GUARD_H
#define DG_TRAINER_SCORE_LIST_GUARD_H

#include "trainer/score/calibrate.h"

/* BLEU and chrF may each be lower by so much, for every set of a pair, greedily and at beam 4. */
#define DG_LIST_GUARD_TOLERANCE 0.1

struct dg_list_guard_trial {
    uint32_t beam;
    uint64_t lines;
    /* with the list, with the whole vocabulary */
    double bleu[2], chrf[2];
};

struct dg_list_guard {
    /* a bundle with a shortlist */
    const char *bundle;
    /* [n_sets] */
    const struct dg_calibrate_set *sets;
    size_t n_sets;
    /* first lines of each set; 0: all */
    uint64_t lines;
    /* 0: all that this process may use */
    int threads;
    /* told of each trial; NULL: nobody is */
    void (*tried)(
        void *arg, const struct dg_calibrate_set *set, const struct dg_list_guard_trial *t);
    void *arg;
    /* non-zero: DG_ECANCELED; NULL never */
    const volatile int *stop;
};

/* Measure; the bundle stays as it is. *decision: what the manifest's `shortlist` is to be; the
 * caller frees it. DG_EINVAL: the bundle has no list. */
int dg_list_guard_measure(
    const struct dg_list_guard *g, struct dg_json **decision, struct dg_error *err);
/* Measure, write the decision into the manifest and seal the bundle again. *decision as above. */
int dg_list_guard(const struct dg_list_guard *g, struct dg_json **decision, struct dg_error *err);
/* The decision in words, cut at cap: for which pairs the list is used, and why. */
void dg_list_guard_say(const struct dg_json *decision, char *to, size_t cap);

#endif
