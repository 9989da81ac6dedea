/* Converts Marian's arrays to our tensors. Private to convert/. One thread at a time. */
#ifndef DG_CONVERT_MARIAN_TENSORS_H
#define DG_CONVERT_MARIAN_TENSORS_H

#include "model/config.h"
#include "convert/marian/marian.h"
#include "convert/marian/options.h"
#include "convert/marian/arrays.h"
#include "weights/weights.h"

#define DG_MARIAN_POSITIONS "Wpos"

/* Add every parameter of the configuration to w, in the types that o->to asks for; with
 * o->input_scales, also the scale that the file has for the inputs of each matrix, as "NAME.in".
 * DG_EFORMAT names an array that is missing or of an unexpected shape, or that no parameter
 * uses. */
int dg_marian_tensors_add(struct dg_marian_arrays *arrays, const struct dg_config *c,
    const struct dg_marian_options *options, const struct dg_convert_marian *o,
    struct dg_weights_writer *w, struct dg_error *err);

#endif
