/* Which weights a run's bundle gets: a mean over checkpoints is mostly the best, but one that
 * reaches into the warm-up is not. One thread at a time. */
#ifndef DG_TRAINER_RUN_WINNER_H
#define DG_TRAINER_RUN_WINNER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_run;

enum { DG_WINNER_TRIALS = 3 };

/* Some checkpoints' mean, and how good it is. */
struct dg_winner_trial {
    /* "mean", "newest" or "best" */
    const char *name;
    /* [n]; dg_winner_free frees them */
    uint64_t *steps;
    size_t n;
    /* per target token of all dev sets together */
    double perplexity;
};

struct dg_winner {
    /* [n] */
    struct dg_winner_trial trials[DG_WINNER_TRIALS];
    size_t n;
    /* of the lowest perplexity; the first of equals */
    size_t chosen;
};

/* Compare the mean of steps[n], the newest of the run's checkpoints that were due and the one that
 * validated best, by their loss on the dev sets, of which there must be one. A candidate equal to
 * an earlier one is left out. Overwrites the workers' parameters: the run trains no further.
 * DG_ECANCELED: asked to stop. */
int dg_winner_choose(
    struct dg_run *r, const uint64_t *steps, size_t n, struct dg_winner *out, struct dg_error *err);
void dg_winner_free(struct dg_winner *w);

#endif
