/* The open model's fields, for model/ only. Const after open: any thread. */
#ifndef DG_MODEL_MODEL_INTERNAL_H
#define DG_MODEL_MODEL_INTERNAL_H

#include "model/layers/position_table.h"
#include "model/model.h"
#include "model/params.h"

struct dg_model {
    struct dg_config config;
    /* With a shortlist: the output matrix and its bias in their stored row-major form; NULL: there
     * is none. */
    const struct dg_stored *out_rows, *out_biases;
    /* that matrix' scale for dg_ops.weight_round_inputs; 0: none */
    float out_input_scale;
    /* borrowed; NULL: none */
    const struct dg_shortlist *shortlist;
    /* borrowed; NULL: none */
    const struct dg_byte_pieces *bytes;
    /* weights taken by dg_model_own_take; NULL: another owns them */
    struct dg_weights *own;
    /* backend on whose device the parameters are */
    struct dg_backend *be;
    struct dg_params params;
    struct dg_position_table positions;
};

#endif
