/* The folder of a run's checkpoints. "index.json" is the marker: written last, it names every whole
 * checkpoint with its validation score; files that it does not name are leftovers. Keeps the last
 * and the best checkpoints and deletes the others only after the marker is safe. One thread at a
 * time. */
#ifndef DG_TRAINER_RUN_CHECKPOINT_DIR_H
#define DG_TRAINER_RUN_CHECKPOINT_DIR_H

#include "trainer/run/checkpoint.h"

#include <stdbool.h>

enum dg_kept_kind {
    DG_KEPT_DUE,
    /* written because the run was stopped, or for its score: deleted when the next one is written,
     * unless it is among the best; does not count as one of the last */
    DG_KEPT_EXTRA
};

struct dg_kept {
    uint64_t step;
    /* validation score, higher is better; NaN: not validated. A float, as index.json keeps no more
     * digits */
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
    /* step of `best`; 0: none, or the index does not record it */
    uint64_t best_step;
    /* validations since `best_step` */
    uint64_t bad;
    /* latest validated step: validations up to it, repeated after a resume, do not count as bad
     * again */
    uint64_t validated;
};

/* Create or read the folder. */
int dg_checkpoint_dir_open(const char *dir, size_t keep_last, size_t keep_best,
    struct dg_checkpoint_dir **out, struct dg_error *err);
void dg_checkpoint_dir_close(struct dg_checkpoint_dir *k); /* NULL is fine */

/* Delete leftovers of a killed run: temporary files and checkpoints that the marker does not name.
 * Only for the run that owns the folder. */
void dg_checkpoint_dir_clean(const struct dg_checkpoint_dir *k);

/* Path of the checkpoint of a step. Caller frees. */
char *dg_checkpoint_dir_path(const struct dg_checkpoint_dir *k, uint64_t step);

/* Write a checkpoint and the marker, then delete checkpoints that need not be kept. On failure the
 * earlier state stays intact. */
int dg_checkpoint_dir_add(struct dg_checkpoint_dir *k, const struct dg_checkpoint_state *s,
    const struct dg_checkpoint_blocks *b, enum dg_kept_kind kind, struct dg_error *err);
/* Delete the newest checkpoint if it is of this step and there is an older one: its model turned
 * out to be beyond recovery. */
int dg_checkpoint_dir_forget(struct dg_checkpoint_dir *k, uint64_t step, struct dg_error *err);
/* Return the entry of a step, valid until the list changes; NULL if that step is not kept. */
struct dg_kept *dg_checkpoint_dir_find(const struct dg_checkpoint_dir *k, uint64_t step);

/* Record a validation of the model at `step`, whose checkpoint may be kept or not; NaN is worse
 * than everything. Updates `best` and `bad`. A checkpoint that was not due gets its score only if
 * that is the best: a run that was not stopped there would have kept it for no other reason. */
int dg_checkpoint_dir_score(
    struct dg_checkpoint_dir *k, uint64_t step, float score, struct dg_error *err);
/* Set the score of a checkpoint of that step that was written after the validation. Leaves `best`
 * and `bad` as they are. */
int dg_checkpoint_dir_attach(
    struct dg_checkpoint_dir *k, uint64_t step, float score, struct dg_error *err);

/* Open the newest whole checkpoint; *damaged counts newer ones that were skipped. DG_ENOTFOUND:
 * none is whole. A checkpoint that cannot be read for another reason is an error: it may be
 * whole. */
int dg_checkpoint_dir_newest(const struct dg_checkpoint_dir *k, struct dg_checkpoint **out,
    size_t *damaged, struct dg_error *err);
/* Continue the run from this step: later checkpoints become leftovers for dg_checkpoint_dir_clean.
 * Keeps `best`, `bad` and `validated`, so that repeated validations do not count twice; a new run
 * (step 0) resets them. The next write of the marker records the change. */
void dg_checkpoint_dir_go_on(struct dg_checkpoint_dir *k, uint64_t step);

/* Write the steps of the last n due checkpoints (the newest one if none was due), or of the n with
 * the best score (ties: later ones win), ascending. Return how many there are. */
size_t dg_checkpoint_dir_last(const struct dg_checkpoint_dir *k, size_t n, uint64_t *steps);
size_t dg_checkpoint_dir_best(const struct dg_checkpoint_dir *k, size_t n, uint64_t *steps);

#endif
