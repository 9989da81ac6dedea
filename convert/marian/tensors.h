/* Converts Marian's arrays to our tensors. Private to convert/. One thread at a time. */
#ifndef DG_CONVERT_MARIAN_TENSORS_H
#define DG_CONVERT_MARIAN_TENSORS_H

#include "model/config.h"
#include "convert/marian/options.h"
#include "convert/marian/arrays.h"
#include "weights/weights.h"

#define DG_MARIAN_POSITIONS "Wpos"

/* How matrices and tables are stored: as `type`; with keep_int8, those that are int8 in the file
 * stay int8. */
struct dg_marian_storage {
    enum dg_type type;
    bool keep_int8;
    /* Also store the scale that the file has for the inputs of each matrix: "NAME.in". */
    bool input_scales;
};

/* Add every parameter of the configuration to w. DG_EFORMAT names an array that is missing or of an
 * unexpected shape, or that no parameter uses. */
int dg_marian_tensors_add(struct dg_marian_arrays *arrays, const struct dg_config *c,
    const struct dg_marian_options *o, const struct dg_marian_storage *storage,
    struct dg_weights_writer *w, struct dg_error *err);

#endif
