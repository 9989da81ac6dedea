/* A training run from recipe to bundle, in one folder:
 *   run.json        the resolved recipe, the paths of raw and prepared data, the origin of weights
 *                   and vocabulary, the model's dimensions
 *   data/           the prepared data, unless another folder was named
 *   checkpoints/    trainer/run/checkpoint_dir.h
 *   log.jsonl       trainer/run/trainlog.h
 *   bundle/         the bundle for `dragoman-server`, written at the end
 *   lock            held while a process trains here
 * One run at a time per folder.
 * One thread, main's; it starts the workers' own. */
#ifndef DG_TRAINER_RUN_RUN_H
#define DG_TRAINER_RUN_RUN_H

#include "trainer/recipe/recipe.h"
#include "trainer/update/step.h"

/* The device that a run asks for: `device`; without one, DRAGOMAN_DEVICE (NULL), else "cpu". */
const char *dg_run_device_word(const char *device);

struct dg_run_options {
    const char *dir;
    /* NULL: dir/data */
    const char *prepared;
    /* NULL, with `resume`: the run's own */
    const struct dg_recipe *recipe;
    /* [n_settings] `resume`: changes to the run's own recipe, "training.updates=9" */
    const char *const *settings;
    size_t n_settings;
    /* continue from the newest whole checkpoint; otherwise the folder must have no checkpoints */
    bool resume;
    /* read-only: take no lock, so another process may be training in the folder */
    bool look;
    /* no progress bar, no plan */
    bool quiet;
    /* skip scoring the dev and test sets at the end */
    bool no_scores;
    /* folder for event files; NULL: none */
    const char *tensorboard;
    /* set by a signal handler: save and return with *stopped; NULL: cannot be stopped */
    const volatile int *stop;
    /* kernels/device.h; NULL: as the environment says, else the CPU */
    const char *device, *precision;
    /* other processes that share every batch; NULL: none. Rank 0 leads: only it writes, validates
     * and exports */
    const struct dg_ranks *ranks;
};

/* *stopped: asked to stop, and saved. DG_ECANCELED, on all ranks: asked to stop before there was
 * anything to save. DG_EINTERNAL: diverged; the message names the last whole checkpoint. */
int dg_run(const struct dg_run_options *o, bool *stopped, struct dg_error *err);

/* How a recipe's training set is cut into batches. */
struct dg_dataset_options dg_run_batches(const struct dg_recipe *recipe);

/* Append the memory plan of a recipe to `out` as text; prepares its data. DG_ELIMIT, with the text
 * written, when the plan does not fit. */
int dg_run_plan(const struct dg_run_options *o, struct dg_buffer *out, struct dg_error *err);

/* Average checkpoints of a run (the last n, or the best n) into a bundle, with scores of the dev
 * and test sets. While the run is training, only into another folder; its own is only read then. */
struct dg_run_average {
    /* bundle NULL: dir/bundle */
    const char *dir, *bundle;
    /* 0: the recipe's */
    size_t n;
    bool best;
    bool no_scores;
    bool quiet;
};
int dg_run_average(const struct dg_run_average *o, struct dg_error *err);

#endif
