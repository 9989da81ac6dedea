/* Chooses the weights of a run's bundle: a mean over checkpoints is usually the best, but not one
 * that includes checkpoints of the warm-up. One thread at a time. */
#ifndef DG_TRAINER_RUN_WINNER_H
#define DG_TRAINER_RUN_WINNER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_run;

enum { DG_WINNER_TRIALS = 3 };

/* The mean of some checkpoints, and its perplexity. */
struct dg_winner_trial {
    /* "mean", "newest" or "best" */
    const char *name;
    /* [n] borrowed: the caller's, or the winner's own */
    const uint64_t *steps;
    size_t n;
    /* per target token of all dev sets together */
    double perplexity;
};

struct dg_winner {
    /* [n] */
    struct dg_winner_trial trials[DG_WINNER_TRIALS];
    size_t n;
    /* index of the lowest perplexity; the first one on ties */
    size_t chosen;
    /* steps of the trials of one checkpoint */
    uint64_t newest, best;
};

/* Compare the mean of steps[n], the newest due checkpoint of the run and the best validated one, by
 * their loss on the dev sets, of which there must be one. A candidate equal to an earlier one is
 * left out. `out` must stay where it is. Overwrites the workers' parameters: the run cannot train
 * on. DG_ECANCELED: asked to stop. */
int dg_winner_choose(
    struct dg_run *r, const uint64_t *steps, size_t n, struct dg_winner *out, struct dg_error *err);

#endif
