/* Keeps the best share of a file of pairs, as scored by a model. A pair's score is its dual
 * conditional cross-entropy (Junczys-Dowmunt, 2018) if the model or a second one also translates
 * back: |H(t|s) - H(s|t)| + (H(t|s) + H(s|t)) / 2, with H in nats per token; otherwise H(t|s).
 * Lower is better. One thread at a time; the models use threads of their own. */
#ifndef DG_TRAINER_SYNTHETIC_FILTERED_H
#define DG_TRAINER_SYNTHETIC_FILTERED_H

#include "trainer/score/bulk.h"

#include <stdbool.h>

struct dg_filtered_options {
    /* forward's languages are those of source and target; back.bundle NULL: only forward. */
    struct dg_bulk_options forward, back;
    /* Line-aligned, plain or gzip. */
    const char *source, *target;
    /* Files to write: the kept pairs, in their order (a carriage return within a line becomes a
     * space); and the score of every pair of the input, one per line, "-" for a pair without
     * one. */
    const char *out_source, *out_target, *out_scores;
    /* Share of the pairs with a score to keep, 0 to 1. */
    double keep;
    bool quiet;
    /* Non-zero: save and return DG_ECANCELED; NULL never. */
    const volatile int *stop;
};

struct dg_filtered {
    /* Pairs in the input; pairs without a score (a side is not text, or is longer than the model's
     * positions); kept pairs. */
    uint64_t read, unscored, kept;
    /* Score of the last kept pair; mean scores of the kept and the dropped pairs. */
    double limit, mean_kept, mean_dropped;
};

/* Writes out_scores, then the kept pairs, each under its final name only when it is complete; the
 * same call later continues. Another `keep` uses the same scores. DG_EINVAL: an output is an input,
 * or exists and was made of something else (trainer/synthetic/growing.h). */
int dg_filtered_write(
    const struct dg_filtered_options *o, struct dg_filtered *out, struct dg_error *err);

#endif
