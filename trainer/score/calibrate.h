/* What a bundle's searches should be like when nobody says: the length penalty and beam that
 * translate development sets best, and the confidence below which an answer is flagged. One thread
 * at a time. */
#ifndef DG_TRAINER_SCORE_CALIBRATE_H
#define DG_TRAINER_SCORE_CALIBRATE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_calibrate_set {
    /* line-aligned files, plain or gzip */
    const char *source, *target;
    const char *source_lang, *target_lang;
};

/* One way to search, and how good it is. */
struct dg_calibrate_trial {
    uint32_t beam;
    float alpha;
    /* means over the sets */
    double bleu, chrf;
};

struct dg_calibrate_options {
    const char *bundle;
    const struct dg_calibrate_set *sets; /* [n_sets] */
    size_t n_sets;
    uint64_t lines; /* the first so many of each; 0: all */
    int threads;    /* 0: all that this process may use */
    /* told of each trial; NULL: nobody is */
    void (*tried)(void *arg, const struct dg_calibrate_trial *t);
    void *arg;
    const volatile int *stop; /* non-zero: DG_ECANCELED; NULL never */
};

struct dg_calibrated {
    struct dg_calibrate_trial before, chosen;
    float low_confidence;
    /* sentences translated; good ones of them: chrF of DG_CALIBRATE_GOOD or more */
    uint64_t sentences, good;
    /* of them below low_confidence */
    uint64_t flagged, good_flagged;
    /* too few good ones: low_confidence is the bundle's as it was */
    bool kept_confidence;
};

enum { DG_CALIBRATE_GOOD = 60, DG_CALIBRATE_LEAST_GOOD = 100 };

/* Measure; the bundle stays as it is. */
int dg_calibrate(
    const struct dg_calibrate_options *o, struct dg_calibrated *out, struct dg_error *err);
/* Seal the bundle with what was chosen. */
int dg_calibrate_seal(const char *bundle, const struct dg_calibrated *c, struct dg_error *err);

/* The highest threshold below which at most one in a hundred of good[n] is, rounded down to a
 * thousandth; good is sorted. n >= 1. For dg_calibrate, and for tests. */
float dg_calibrate_threshold(double *good, size_t n);

#endif
