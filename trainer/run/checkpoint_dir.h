/* The folder of a run's checkpoints. "index.json" is the marker: written last, it names every whole
 * checkpoint with its validation score; files that it does not name are left-overs. Keeps the last
 * and the best, deletes the others only after the marker is safe. One thread at a time. */
#ifndef DG_TRAINER_RUN_CHECKPOINT_DIR_H
#define DG_TRAINER_RUN_CHECKPOINT_DIR_H

#include "trainer/run/checkpoint.h"

#include <stdbool.h>

enum dg_kept_kind {
    DG_KEPT_DUE,
    DG_KEPT_EXTRA /* written because the run was stopped, or for its score: deleted with the next
                     one, unless it is among the best; does not count as one of the last */
};

struct dg_kept {
    uint64_t step;
    /* higher is better; NaN: was not validated. As many digits as index.json keeps */
    float score;
    enum dg_kept_kind kind;
};

struct dg_checkpoint_dir {
    char *dir;
    /* [n], ascending steps */
    struct dg_kept *kept;
    size_t n, cap;
    size_t keep_last, keep_best;
    /* best score of the run so far, kept or not; NaN: none yet */
    float best;
    /* its origin; 0: none, or not in the index */
    uint64_t best_step;
    /* validations since that one */
    uint64_t bad;
    /* latest step that was: one that comes again is not counted again */
    uint64_t validated;
};

/* Make or read the folder. */
int dg_checkpoint_dir_open(const char *dir, size_t keep_last, size_t keep_best,
    struct dg_checkpoint_dir **out, struct dg_error *err);
void dg_checkpoint_dir_close(struct dg_checkpoint_dir *k); /* NULL is fine */

/* Delete leftovers of a killed run: temporary files and checkpoints that the marker does not name.
 * Only for the run that owns the folder. */
void dg_checkpoint_dir_clean(const struct dg_checkpoint_dir *k);

/* Path of the checkpoint of a step. Caller frees; NULL on out of memory. */
char *dg_checkpoint_dir_path(const struct dg_checkpoint_dir *k, uint64_t step);

/* Write a checkpoint and the marker, then delete what need not be kept. On failure the earlier
 * state stays intact. */
int dg_checkpoint_dir_add(struct dg_checkpoint_dir *k, const struct dg_checkpoint_state *s,
    const struct dg_checkpoint_blocks *b, enum dg_kept_kind kind, struct dg_error *err);
/* The newest checkpoint, if it is of this step and there is an older one: the model in it turned
 * out to be beyond recovery. */
int dg_checkpoint_dir_forget(struct dg_checkpoint_dir *k, uint64_t step, struct dg_error *err);
bool dg_checkpoint_dir_has(const struct dg_checkpoint_dir *k, uint64_t step);
/* NULL: it is not kept. Valid until the list changes. */
const struct dg_kept *dg_checkpoint_dir_find(const struct dg_checkpoint_dir *k, uint64_t step);

/* A validation of the model at `step`, which may be kept or not; NaN is worse than everything.
 * Counts best and bad. One that was not due is given its score if that is the best: a run that was
 * not stopped there would have kept it for nothing else. */
int dg_checkpoint_dir_score(
    struct dg_checkpoint_dir *k, uint64_t step, float score, struct dg_error *err);
/* The same score for a checkpoint of that step that was written after the validation: counts
 * nothing. */
int dg_checkpoint_dir_attach(
    struct dg_checkpoint_dir *k, uint64_t step, float score, struct dg_error *err);

/* The newest checkpoint that is whole; damaged ones are skipped and their number told.
 * DG_ENOTFOUND: none. One that cannot be read for another reason is an error: it may be whole. */
int dg_checkpoint_dir_newest(const struct dg_checkpoint_dir *k, struct dg_checkpoint **out,
    size_t *damaged, struct dg_error *err);
/* Continue the run from this step: later checkpoints become leftovers for dg_checkpoint_dir_clean.
 * Best, bad and validated stay, so that repeated validations do not count twice; a new run (step 0)
 * has none. The next write of the marker records it. */
void dg_checkpoint_dir_go_on(struct dg_checkpoint_dir *k, uint64_t step);

/* Steps of the last n that were due (the newest one where none was), or of the n with the best
 * score (ties: later), ascending; returns how many there are. */
size_t dg_checkpoint_dir_last(const struct dg_checkpoint_dir *k, size_t n, uint64_t *steps);
size_t dg_checkpoint_dir_best(const struct dg_checkpoint_dir *k, size_t n, uint64_t *steps);

#endif
