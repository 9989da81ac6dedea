/* The search settings of a run's bundle: length penalty, beam and the threshold of low confidence,
 * chosen on the dev sets. One thread at a time. */
#ifndef DG_TRAINER_RUN_BUNDLE_SETTINGS_H
#define DG_TRAINER_RUN_BUNDLE_SETTINGS_H

#include "base/json.h"
#include "trainer/score/calibrate.h"

struct dg_run;

/* Calibrate the run's exported bundle (which stays as it is) and record the figures in `training`.
 * Free *out with dg_calibrated_free; if the calibration fails, *out holds nothing. DG_ECANCELED:
 * asked to stop. */
int dg_bundle_settings_choose(const struct dg_run *r, struct dg_calibrated *out,
    struct dg_json *training, struct dg_error *err);

#endif
