/* The error of int8, layer by layer: compares each matrix's fp32 and int8 outputs for the same
 * activations, on given sentences or on random rows. The sentences run through the fp32 model; a
 * backend in between does both multiplications. One thread. */
#ifndef DG_CLI_LAYER_ERRORS_H
#define DG_CLI_LAYER_ERRORS_H

#include "base/error.h"

#include <stddef.h>

struct dg_layer_error {
    char name[64];
    /* sums over the outputs: (int8 - fp32)^2 and fp32^2 */
    double squared_error, squared;
};

struct dg_layer_errors {
    /* [n], in the model's order */
    struct dg_layer_error *layers;
    size_t n;
};

/* Compare `bundle` with `quantised`, which was made from it. sentences NULL: random rows. */
int dg_layer_errors_measure(const char *bundle, const char *quantised, char *sentences,
    struct dg_layer_errors *out, struct dg_error *err);
void dg_layer_errors_free(struct dg_layer_errors *e);

/* sqrt(squared_error / squared). */
double dg_layer_error_relative(const struct dg_layer_error *e);

#endif
