/* What int8 costs, layer by layer: each matrix's outputs in fp32 beside its outputs in int8 from
 * the same activations, on given sentences (or on random rows). The sentences go through the fp32
 * model; a backend in between multiplies twice. One thread. */
#ifndef DG_CLI_LAYER_ERRORS_H
#define DG_CLI_LAYER_ERRORS_H

#include "base/error.h"

#include <stddef.h>

struct dg_layer_error {
    char name[64];
    /* of the outputs: sums of (int8 - fp32)^2 and fp32^2 */
    double squared_error, squared;
};

struct dg_layer_errors {
    /* [n], in the model's order */
    struct dg_layer_error *layers;
    size_t n;
};

/* Compare `bundle` with `quantised`, which was made from it. sentences NULL: random rows. */
int dg_layer_errors_measure(const char *bundle, const char *quantised, const char *sentences,
    struct dg_layer_errors *out, struct dg_error *err);
void dg_layer_errors_free(struct dg_layer_errors *e);

/* sqrt(squared_error / squared). */
double dg_layer_error_relative(const struct dg_layer_error *e);

#endif
