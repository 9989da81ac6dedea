/* Selection among the stored forms of a weight, for every backend's dg_ops.weight_new. Any
 * thread. */
#ifndef DG_KERNELS_WEIGHT_FORM_H
#define DG_KERNELS_WEIGHT_FORM_H

#include "kernels/backend.h"

/* Returns the first form of that layout and type; type -1: any. NULL: there is none. */
const struct dg_stored *dg_weight_form(
    const struct dg_weight_spec *spec, enum dg_layout layout, int type);

/* Finds the row-major form, fp32 if there are several: it loses nothing and needs no conversion.
 * Also validates the weight; an error says what is wrong with it. */
int dg_weight_rows(
    const struct dg_weight_spec *spec, const struct dg_stored **rows, struct dg_error *err);

/* Converts rows m .. m + n - 1 of K numbers to fp32: to[n,K]. */
void dg_stored_floats(const struct dg_stored *rows, size_t K, size_t m, size_t n, float *to);

#endif
