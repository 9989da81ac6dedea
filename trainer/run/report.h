/* The model card of a run's bundle, for people to read. Any thread. */
#ifndef DG_TRAINER_RUN_REPORT_H
#define DG_TRAINER_RUN_REPORT_H

#include "trainer/recipe/recipe.h"

/* Write DIR/MODEL_CARD.md from the manifest's "training" object. */
int dg_report_card(const char *dir, const struct dg_recipe *r, const struct dg_config *c,
    const struct dg_json *training, struct dg_error *err);

#endif
