/* A bundle from trained parameters: weights, vocabularies, a manifest with their origin, a model
 * card. What `dragoman-server` loads. One thread at a time. */
#ifndef DG_TRAINER_RUN_EXPORT_H
#define DG_TRAINER_RUN_EXPORT_H

#include "base/json.h"
#include "model/config.h"
#include "trainer/prepare/prepare.h"
#include "trainer/data/prepared.h"
#include "trainer/recipe/recipe.h"
#include "trainer/score/calibrate.h"

struct dg_export {
    /* made when missing */
    const char *dir;
    const struct dg_recipe *recipe;
    /* whose vocabularies go in */
    const char *prepared_dir;
    const struct dg_prepared *prepared;
    const struct dg_config *config;
    /* [n] host memory, in the order of a parameter block */
    const float *params;
    /* always f32: for validation */
    bool full_precision;
    /* how it searches; NULL: as the recipe validates */
    const struct dg_calibrated *calibrated;
    /* the manifest's "shortlist", whose file is in dir; NULL: there is none */
    const struct dg_json *shortlist;
    /* the manifest's "training"; NULL: no model card either */
    const struct dg_json *training;
};

/* An existing bundle there is invalid until this one is complete. DG_EINVAL: prepared_dir was
 * replaced after `prepared` was opened. */
int dg_export(const struct dg_export *e, struct dg_error *err);
/* Manifest and card of an exported bundle once more, for another `training`: weights and
 * vocabularies stay as they are. */
int dg_export_seal(const struct dg_export *e, struct dg_error *err);
/* The file of a shortlist in dir, if there is one; the manifest stays as it is. */
void dg_export_remove_shortlist(const struct dg_export *e);

#endif
