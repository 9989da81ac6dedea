/* The forms in which a weight is stored, for every backend that takes it in (dg_ops.weight_new).
 * Any thread. */
#ifndef DG_KERNELS_WEIGHT_FORM_H
#define DG_KERNELS_WEIGHT_FORM_H

#include "kernels/backend.h"

/* The first form of that layout and type; type -1: any. NULL: there is none. */
const struct dg_stored *dg_weight_form(
    const struct dg_weight_spec *spec, enum dg_layout layout, int type);

/* The form by rows, fp32 where there are several: nothing is lost, and nothing has to be converted.
 * An error says what is wrong with the weight. */
int dg_weight_rows(
    const struct dg_weight_spec *spec, const struct dg_stored **rows, struct dg_error *err);

/* Rows m .. m + n - 1 of K numbers as fp32 -> to[n,K]. */
void dg_stored_floats(const struct dg_stored *rows, size_t K, size_t m, size_t n, float *to);

#endif
