/* Writes trained parameters as a bundle that `dragoman-server` loads: weights, vocabularies, a
 * manifest with their origin, a model card. One thread at a time. */
#ifndef DG_TRAINER_RUN_EXPORT_H
#define DG_TRAINER_RUN_EXPORT_H

#include "base/json.h"
#include "model/config.h"
#include "trainer/prepare/prepare.h"
#include "trainer/data/prepared.h"
#include "trainer/recipe/recipe.h"
#include "trainer/score/calibrate.h"

struct dg_export {
    /* created if missing */
    const char *dir;
    const struct dg_recipe *recipe;
    /* folder to copy the vocabularies from */
    const char *prepared_dir;
    const struct dg_prepared *prepared;
    const struct dg_config *config;
    /* [n] host memory, in the order of a parameter block */
    const float *params;
    /* write weights as f32 whatever the recipe says; used for validation */
    bool full_precision;
    /* search settings of the bundle; NULL: the recipe's for validation */
    const struct dg_calibrated *calibrated;
    /* the manifest's "shortlist", whose file is in dir; NULL: there is none */
    const struct dg_json *shortlist;
    /* the manifest's "training"; NULL: no model card either */
    const struct dg_json *training;
};

/* Write the bundle. An existing bundle in `dir` is invalid until this one is complete. DG_EINVAL:
 * prepared_dir was replaced after `prepared` was opened. */
int dg_export(const struct dg_export *e, struct dg_error *err);
/* Write manifest and card of an exported bundle again, with changed `training`, `calibrated` or
 * `shortlist`. Weights and vocabularies stay as they are. */
int dg_export_seal(const struct dg_export *e, struct dg_error *err);
/* Delete the shortlist's file in `dir`, if there is one. The manifest stays as it is. */
void dg_export_remove_shortlist(const struct dg_export *e);

#endif
