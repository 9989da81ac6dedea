/* Internals of a run: run.c opens and loops, open.c makes or finds folder and data, model.c
 * parameters, optimiser and threads, saved.c keeps the recipe, validate.c measures, finish.c
 * averages and exports, bundle_list.c adds a shortlist. No other file includes it. One thread at a
 * time. */
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
    struct dg_recipe *own_recipe; /* NULL: the caller's */
    const struct dg_recipe *recipe;
    char *data_dir, *prepared_dir, *checkpoint_dir, *validation_dir, *bundle_dir, *log_path;
    int lock;          /* file descriptor, -1: none */
    int prepared_lock; /* likewise: while it is open, the prepared folder is not replaced */
    struct dg_prepared *prepared;
    struct dg_json *origin; /* trainer/run/provenance.h; NULL before a new run is saved */
    bool has_config;        /* `config` was saved with the run */
    struct dg_config config;
    struct dg_dataset *data;
    struct dg_training_plan plan;
    struct dg_device device; /* one for each worker */
    struct dg_training_place place;
    struct dg_crew *workers;
    struct dg_exchange *exchange; /* NULL: a single process */
    bool stopping;                /* some rank was asked to stop, or the leading one so far */
    struct dg_adam_state *optimizer;
    struct dg_param_block
        *averaged; /* NULL without ema: the parameters that are validated and exported */
    struct dg_checkpoint_dir *keeper;
    struct dg_trainlog *log;
    uint64_t epoch, epoch_tokens; /* of the batches until now */
    double seconds;               /* trained in earlier sessions of this run */
    uint64_t start_ns;            /* this session began */
    uint64_t checkpoint_ns;       /* last checkpoint that was due, validations since left out */
    double tokens_per_s;          /* of the last log line */
};

/* The one of the ranks that writes, or the only process. */
static inline bool dg_run_leads(const struct dg_run *r)
{
    return !r->o->ranks || r->o->ranks->rank == 0;
}

/* Threads of all ranks together: what decides the order of sums. */
static inline int dg_run_threads(const struct dg_run *r)
{
    return r->workers->n * (r->o->ranks ? (int)r->o->ranks->ranks : 1);
}

/* run.c */
/* Called by all ranks: wait for the leading rank and get whether any rank asks to stop. */
int dg_run_wait(const struct dg_run *r, bool *flag, struct dg_error *err);

/* open.c */
void dg_run_init(struct dg_run *r, const struct dg_run_options *o);
int dg_run_paths(struct dg_run *r, struct dg_error *err);
int dg_run_device(struct dg_run *r, struct dg_error *err); /* chosen, and tried: it can train */
/* Prepared folder, configuration, training set, plan. */
int dg_run_data(struct dg_run *r, struct dg_error *err);

/* model.c */
/* Workers and optimiser; fresh, from a bundle or resumed. */
int dg_run_model(struct dg_run *r, struct dg_error *err);

/* saved.c */
int dg_run_save(struct dg_run *r, struct dg_error *err); /* state of the folder for a new run */
/* Apply a resumed run's settings to the recipe: they hold for later resumes and for the bundles. */
int dg_run_save_settings(const struct dg_run *r, struct dg_error *err);
/* The saved recipe with this session's settings over it, origin and configuration. */
int dg_run_load(struct dg_run *r, struct dg_error *err);
/* resume.c */
int dg_run_check_inputs(const struct dg_run *r, struct dg_error *err);
/* Was the checkpoint made from this prepared data, which is in dir? */
int dg_run_check_data(const struct dg_prepared *p, const char *dir, const struct dg_checkpoint *c,
    struct dg_error *err);
int dg_run_resume(struct dg_run *r, const struct dg_checkpoint *c, struct dg_error *err);
void dg_run_warn_other_bits(struct dg_run *r, const struct dg_checkpoint *c);

void dg_run_close(struct dg_run *r);
/* Give back what only training needs. Several ranks keep it: their exchange holds it. */
void dg_run_release(struct dg_run *r);

/* validate.c */
/* Validate on the dev sets, at least one; *score follows the run's stop_metric, higher is better.
 * DG_ECANCELED: asked to stop; nothing was scored. */
int dg_run_validate(struct dg_run *r, float *score, struct dg_error *err);
/* The parameters to use: averaged ones if the recipe keeps them. */
struct dg_param_block *dg_run_best_params(struct dg_run *r);
/* The dev sets as those that a bundle is measured with; the caller frees them. */
struct dg_calibrate_set *dg_run_dev_sets(
    const struct dg_prepared *p, const struct dg_recipe *recipe, size_t *n);
/* Scores of all sets of a kind by a bundle, as an array for a manifest. NULL on failure;
 * DG_ECANCELED: `stop` (NULL: never) was set. */
struct dg_json *dg_run_scores(const struct dg_prepared *p, const struct dg_recipe *recipe,
    const char *kind, const char *bundle, const volatile int *stop, struct dg_error *err);

/* finish.c */
/* *stopped: asked to stop while the bundle was scored; it is whole, and without scores. */
int dg_run_finish(struct dg_run *r, bool *stopped, struct dg_error *err);

#endif
