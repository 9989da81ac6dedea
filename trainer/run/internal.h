/* Internals of a run: run.c opens and loops, open.c makes or finds folder and data, model.c sets up
 * parameters, optimiser and threads, saved.c keeps the recipe, resume.c restores a checkpoint,
 * validate.c measures, finish.c averages and exports, winner.c chooses the weights,
 * bundle_settings.c the search, bundle_list.c adds a shortlist. Only these files include it. One
 * thread at a time. */
#ifndef DG_TRAINER_RUN_INTERNAL_H
#define DG_TRAINER_RUN_INTERNAL_H

#include "kernels/device.h"
#include "trainer/run/checkpoint_dir.h"
#include "trainer/run/trainlog.h"
#include "trainer/prepare/prepare.h"
#include "trainer/data/prepared.h"
#include "trainer/run/report.h"
#include "trainer/run/training_plan.h"
#include "trainer/run/run.h"
#include "trainer/score/calibrate.h"
#include "trainer/update/schedule.h"

struct dg_run {
    const struct dg_run_options *o;
    /* NULL: the caller's */
    struct dg_recipe *own_recipe;
    const struct dg_recipe *recipe;
    char *prepared_dir, *checkpoint_dir, *validation_dir, *bundle_dir, *log_path;
    /* file descriptor, -1: none */
    int lock;
    /* file descriptor, -1: none; while it is open, the prepared folder is not replaced */
    int prepared_lock;
    struct dg_prepared *prepared;
    /* trainer/run/provenance.h; NULL before a new run is saved */
    struct dg_json *origin;
    /* `config` was saved with the run */
    bool has_config;
    struct dg_config config;
    struct dg_dataset *data;
    /* of data */
    struct dg_dataset_worst worst;
    struct dg_training_plan plan;
    /* one for each worker */
    struct dg_device device;
    struct dg_training_place place;
    struct dg_crew *workers;
    /* NULL: a single process */
    struct dg_exchange *exchange;
    /* some rank was asked to stop; during a validation only the leading rank knows */
    bool stopping;
    struct dg_adam_state *optimizer;
    /* averaged weights for validation and export; NULL without ema */
    struct dg_param_block *averaged;
    struct dg_checkpoint_dir *keeper;
    struct dg_trainlog *log;
    /* of the latest batch; target tokens of that epoch so far */
    uint64_t epoch, epoch_tokens;
    /* trained in earlier sessions of this run */
    double seconds;
    /* start of this session's training */
    uint64_t start_ns;
    /* time of the last due checkpoint, moved on by the time that saving and validating took */
    uint64_t checkpoint_ns;
    /* rate of the last log line */
    double tokens_per_s;
};

/* True for the rank that writes, or for the only process. */
static inline bool dg_run_leads(const struct dg_run *r)
{
    return !r->o->ranks || r->o->ranks->rank == 0;
}

/* Threads of all ranks together: their number decides the order of sums. */
static inline int dg_run_threads(const struct dg_run *r)
{
    return r->workers->n * (r->o->ranks ? (int)r->o->ranks->ranks : 1);
}

/* run.c */
/* Called by all ranks: wait for all of them, then set *flag on each if any rank has set it. */
int dg_run_wait(const struct dg_run *r, bool *flag, struct dg_error *err);

/* open.c */
void dg_run_init(struct dg_run *r, const struct dg_run_options *o);
/* Set up folder and recipe, and load the initial model's configuration, if there is one. */
int dg_run_open(struct dg_run *r, struct dg_error *err);
/* Choose the device and check that it can train the model. */
int dg_run_device(struct dg_run *r, struct dg_error *err);
/* Set up prepared folder, configuration, training set and memory plan. */
int dg_run_data(struct dg_run *r, struct dg_error *err);
/* Check the plan, with the shortlist that the leading rank will learn. */
int dg_run_check_plan(struct dg_run *r, struct dg_error *err);

/* model.c */
/* Set up workers and optimiser: fresh, from a bundle or resumed. */
int dg_run_model(struct dg_run *r, struct dg_error *err);

/* saved.c */
/* Write run.json for a new run. */
int dg_run_save(struct dg_run *r, struct dg_error *err);
/* Save a resumed run's recipe with its settings: they hold for later resumes and for bundles. */
int dg_run_save_settings(const struct dg_run *r, struct dg_error *err);
/* Load run.json: the saved recipe with this session's settings, the origin, the configuration. */
int dg_run_load(struct dg_run *r, struct dg_error *err);
/* resume.c */
int dg_run_check_inputs(const struct dg_run *r, struct dg_error *err);
/* DG_EINVAL unless the checkpoint was made from the run's prepared data. */
int dg_run_check_data(const struct dg_run *r, const struct dg_checkpoint *c, struct dg_error *err);
int dg_run_resume(struct dg_run *r, const struct dg_checkpoint *c, struct dg_error *err);
void dg_run_warn_other_bits(struct dg_run *r, const struct dg_checkpoint *c);

void dg_run_close(struct dg_run *r);
/* Free workers, optimiser and averaged weights, which only training needs. With several ranks it
 * does nothing: their exchange uses the memory. */
void dg_run_release(struct dg_run *r);

/* validate.c */
/* Validate on the dev sets, at least one; *score follows the run's stop_metric, higher is better.
 * DG_ECANCELED: asked to stop; nothing was scored. */
int dg_run_validate(struct dg_run *r, float *score, struct dg_error *err);
/* Loss sums of all dev sets together. params NULL: the workers' own. */
int dg_run_dev_loss(
    struct dg_run *r, struct dg_params *params, struct dg_loss_sums *all, struct dg_error *err);
/* The [n] dev sets in the form that measures a bundle; the caller frees the array. */
struct dg_calibrate_set *dg_run_dev_sets(const struct dg_run *r, size_t *n);
/* Append the scores of the run's bundle on each set of a kind to the array `all`, for a manifest.
 * DG_ECANCELED: asked to stop. */
int dg_run_scores(
    const struct dg_run *r, const char *kind, struct dg_json *all, struct dg_error *err);

/* finish.c */
/* Make the run's bundle. *stopped: asked to stop while weights were compared, before there was a
 * new bundle, or while the bundle was scored, which is whole then but has no scores; the log says
 * which. */
int dg_run_finish(struct dg_run *r, bool *stopped, struct dg_error *err);

#endif
