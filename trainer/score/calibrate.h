/* A bundle's default search settings: the length penalty and beam that translate development sets
 * best, as the paper chose 0.6 and 4 (section 6.1), and the confidence below which an answer is
 * flagged. One thread at a time. */
#ifndef DG_TRAINER_SCORE_CALIBRATE_H
#define DG_TRAINER_SCORE_CALIBRATE_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_config;

struct dg_calibrate_set {
    /* line-aligned files, plain or gzip */
    const char *source, *target;
    /* codes of one of the bundle's pairs, as its manifest has them */
    const char *source_lang, *target_lang;
};

/* Search settings, and the quality that they give. */
struct dg_calibrate_trial {
    uint32_t beam;
    float alpha;
    /* cap on the length that the penalty counts, as a multiple of the source's tokens; 0: no cap */
    float penalty_cap;
    /* means over the sets */
    double bleu, chrf;
    /* lowest brevity penalty of the sets: 1 if no set's answers are too short */
    double brevity;
};

/* One direction among the sets, and its own best length penalty. */
struct dg_calibrated_pair {
    const char *source_lang, *target_lang;
    struct dg_calibrate_trial chosen;
    /* `chosen` differs from the settings for all pairs */
    bool own;
};

struct dg_calibrate_options {
    const char *bundle;
    /* [n_sets]; their codes must outlive what dg_calibrate sets */
    const struct dg_calibrate_set *sets;
    size_t n_sets;
    /* number of lines from the start of each set; 0: all */
    uint64_t lines;
    /* 0: all cores that this process may use */
    int threads;
    /* called after each trial with the pair it is about (NULL: all sets); NULL: no callback */
    void (*tried)(
        void *arg, const struct dg_calibrated_pair *pair, const struct dg_calibrate_trial *t);
    void *arg;
    /* set to non-zero: return DG_ECANCELED; NULL: cannot be stopped */
    const volatile int *stop;
};

struct dg_calibrated {
    /* for all pairs; `before`: as the bundle was, including its penalties for single pairs */
    struct dg_calibrate_trial before, chosen;
    /* with the chosen settings, including the penalties for single pairs */
    struct dg_calibrate_trial after;
    /* [n_pairs], own */
    struct dg_calibrated_pair *pairs;
    size_t n_pairs;
    float low_confidence;
    /* lines translated; good ones among them: chrF of DG_CALIBRATE_GOOD or more */
    uint64_t sentences, good;
    /* how many of each are below low_confidence */
    uint64_t flagged, good_flagged;
    /* too few good ones, so low_confidence is the bundle's old value */
    bool kept_confidence;
};

enum { DG_CALIBRATE_GOOD = 60, DG_CALIBRATE_LEAST_GOOD = 100 };

/* Choose the settings by measuring. The bundle stays as it is. dg_calibrated_free frees what *out
 * holds; after an error that is nothing. */
int dg_calibrate(
    const struct dg_calibrate_options *o, struct dg_calibrated *out, struct dg_error *err);
void dg_calibrated_free(struct dg_calibrated *c);
/* Write the chosen values into a config, and the pairs' penalties into a manifest, which keeps
 * those of other pairs. DG_ENOMEM. */
int dg_calibrated_write(const struct dg_calibrated *c, struct dg_config *config,
    struct dg_json *manifest, struct dg_error *err);
/* Seal the bundle with the chosen values; pairs without a set keep their penalties. */
int dg_calibrate_seal(const char *bundle, const struct dg_calibrated *c, struct dg_error *err);

/* Append a trial (`tried`'s arguments) and what was chosen, in words without a line end. */
void dg_calibrate_say_trial(const struct dg_calibrated_pair *pair,
    const struct dg_calibrate_trial *t, struct dg_buffer *out);
void dg_calibrate_say_chosen(const struct dg_calibrated *c, struct dg_buffer *out);

/* The highest threshold with at most one in a hundred of good[n] below it, rounded down to a
 * thousandth. Sorts good. n >= 1. For dg_calibrate and tests. */
float dg_calibrate_threshold(double *good, size_t n);

#endif
