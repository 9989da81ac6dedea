/* A bundle from trained parameters: weights, vocabularies, manifest with where it all came from,
 * model card. What `dragoman-server` loads. One thread at a time. */
#ifndef DG_TRAINER_RUN_EXPORT_H
#define DG_TRAINER_RUN_EXPORT_H

#include "base/json.h"
#include "model/config.h"
#include "trainer/prepare/prepare.h"
#include "trainer/data/prepared.h"
#include "trainer/recipe/recipe.h"
#include "trainer/score/calibrate.h"

struct dg_export {
    const char *dir; /* made when missing */
    const struct dg_recipe *recipe;
    const char *prepared_dir; /* whose vocabularies go in */
    const struct dg_prepared *prepared;
    const struct dg_config *config;
    const float *params;                    /* [n] host memory, in the order of a parameter block */
    bool full_precision;                    /* f32 whatever the recipe says: for validation */
    const struct dg_calibrated *calibrated; /* how it searches; NULL: as the recipe validates */
    const struct dg_json *training; /* the manifest's "training"; NULL: no model card either */
};

/* A bundle that lies there is no bundle any more until this one is whole. DG_EINVAL: prepared_dir
 * was made anew since `prepared` was opened. */
int dg_export(const struct dg_export *e, struct dg_error *err);
/* Manifest and card of an exported bundle once more, for another `training`: weights and
 * vocabularies stay as they are. */
int dg_export_seal(const struct dg_export *e, struct dg_error *err);

#endif
