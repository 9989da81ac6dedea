/* The best share of a file of pairs, by a model's judgement. A pair's score is its dual conditional
 * cross-entropy (Junczys-Dowmunt, 2018) if the model or a second one also translates back: |H(t|s)
 * - H(s|t)| + (H(t|s) + H(s|t)) / 2, H in nats a token; else H(t|s). Lower is better. One thread at
 * a time; the models' own threads work. */
#ifndef DG_TRAINER_SYNTHETIC_FILTERED_H
#define DG_TRAINER_SYNTHETIC_FILTERED_H

#include "trainer/score/bulk.h"

#include <stdbool.h>

struct dg_filtered_options {
    /* forward's languages are those of source and target; back.bundle NULL: only forward. */
    struct dg_bulk_options forward, back;
    /* Line-aligned, plain or gzip. */
    const char *source, *target;
    /* Files to write: pairs that stay, in their order; and the score of every pair of the input, a
     * line each, "-" for one that has none. */
    const char *out_source, *out_target, *out_scores;
    /* Share of the pairs with a score that stays, 0 to 1. */
    double keep;
    bool quiet;
    /* Non-zero: saved, and DG_ECANCELED; NULL never. */
    const volatile int *stop;
};

struct dg_filtered {
    /* Pairs of the input; without a score (a side that is no text, or is longer than the model's
     * positions); that stay. */
    uint64_t read, unscored, kept;
    /* Scores: of the last pair that stays, and the mean over those that do and those that do not.
     */
    double limit, mean_kept, mean_dropped;
};

/* Writes all files at once, or only out_scores' ".part", from which the same call later
 * continues. */
int dg_filtered_write(
    const struct dg_filtered_options *o, struct dg_filtered *out, struct dg_error *err);

#endif
