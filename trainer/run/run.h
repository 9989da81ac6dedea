/* A training run from recipe to bundle, in one folder:
 *   run.json        the resolved recipe, where its data lies, which prepared folder, what it began
 *                   with, the model's dimensions
 *   data/           the prepared data, unless another folder was named
 *   checkpoints/    trainer/run/checkpoint_dir.h
 *   log.jsonl       trainer/run/trainlog.h
 *   bundle/         what `dragoman-server` loads, written at the end
 *   lock            held while a process trains here
 * One run at a time per folder.
 * One thread, main's; it starts the workers' own. */
#ifndef DG_TRAINER_RUN_RUN_H
#define DG_TRAINER_RUN_RUN_H

#include "trainer/recipe/recipe.h"
#include "trainer/update/step.h"

struct dg_run_options {
    const char *dir;
    /* NULL: dir/data */
    const char *prepared;
    /* `resume`: NULL takes the run's own */
    const struct dg_recipe *recipe;
    const char *const *
        /* [n_settings] `resume`: changes to the run's own recipe, "training.updates=9" */
        settings;
    size_t n_settings;
    /* continue from the newest complete checkpoint; otherwise the folder must have none */
    bool resume;
    /* write nothing into the folder: a process that trains in it is no obstacle */
    bool look;
    /* no progress bar, no plan */
    bool quiet;
    /* of dev and test sets at the end */
    bool no_scores;
    /* folder for event files; NULL: none */
    const char *tensorboard;
    /* set by a signal handler: save and come back with *stopped; NULL never */
    const volatile int *stop;
    /* kernels/device.h; NULL: the environment's, else the CPU */
    const char *device, *precision;
    /* other processes that share every batch; NULL: none. Rank 0 leads: only it writes, validates
     * and exports */
    const struct dg_ranks *ranks;
};

/* *stopped: it was asked to stop and has saved. DG_ECANCELED: asked to before there was anything to
 * save; all ranks return it. DG_EINTERNAL: diverged, the last checkpoint is whole and named. */
int dg_run(const struct dg_run_options *o, bool *stopped, struct dg_error *err);

/* How a recipe's training set is cut into batches. */
struct dg_dataset_options dg_run_batches(const struct dg_recipe *recipe);

/* The memory plan of a recipe, as text; prepares its data. DG_ELIMIT, with the text, when it does
 * not fit. */
int dg_run_plan(const struct dg_run_options *o, struct dg_buffer *out, struct dg_error *err);

/* Average checkpoints of a run (the last n, or the best n) into a bundle; with scores of the dev
 * and test sets. Into another folder, also during the run. */
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
