/* Marian's arrays as our tensors. Private to convert/. */
#ifndef DG_CONVERT_MARIAN_TENSORS_H
#define DG_CONVERT_MARIAN_TENSORS_H

#include "model/config.h"
#include "convert/marian/options.h"
#include "convert/npz.h"
#include "weights/weights.h"

#define DG_MARIAN_POSITIONS "Wpos"

/* Add every parameter of the configuration to w; matrices and tables stored as `type`. DG_EFORMAT
 * names an array that is missing or of another shape than expected, and one that no parameter
 * wants. */
int dg_marian_tensors_add(struct dg_npz *npz, const struct dg_config *c,
    const struct dg_marian_options *o, enum dg_type type, struct dg_weights_writer *w,
    struct dg_error *err);

#endif
