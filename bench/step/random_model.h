/* A weights file with random values scaled like trained ones, for timing untrained models: speed
 * depends on shapes, not on values. One thread, main's. */
#ifndef DG_BENCH_STEP_RANDOM_MODEL_H
#define DG_BENCH_STEP_RANDOM_MODEL_H

#include "model/config.h"
#include "weights/weights.h"

/* Write and open a temporary file that disappears when closed. int8: matrices and tied tables in
 * s8, as `dragoman quantize` makes them. */
int dg_random_weights(
    const struct dg_config *c, bool int8, struct dg_weights **out, struct dg_error *err);

#endif
