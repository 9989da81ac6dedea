/* The search settings of a run's bundle: length penalty, beam and the threshold of low confidence,
 * chosen on the dev sets. One thread at a time. */
#ifndef DG_TRAINER_RUN_BUNDLE_SETTINGS_H
#define DG_TRAINER_RUN_BUNDLE_SETTINGS_H

#include "trainer/run/export.h"
#include "trainer/run/trainlog.h"

struct dg_bundle_settings {
    /* an export that is finished */
    const struct dg_export *e;
    struct dg_trainlog *log;
    /* do not say each trial */
    bool quiet;
    /* set to non-zero: return DG_ECANCELED; NULL: cannot be stopped */
    const volatile int *stop;
};

/* Calibrate the bundle (which stays as it is) and record the figures in `training`.
 * Free *out with dg_calibrated_free; if the calibration fails, *out holds nothing. */
int dg_bundle_settings_choose(const struct dg_bundle_settings *s, struct dg_calibrated *out,
    struct dg_json *training, struct dg_error *err);

#endif
