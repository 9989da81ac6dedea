/* Converts the tensors of a MarianMT, M2M-100 or NLLB model to ours. Private to convert/. One
 * thread at a time. */
#ifndef DG_CONVERT_HUGGINGFACE_TENSORS_H
#define DG_CONVERT_HUGGINGFACE_TENSORS_H

#include "convert/huggingface/config.h"
#include "convert/huggingface/tensor_set.h"
#include "weights/weights.h"

/* The tables of a model, borrowed from its tensors. */
struct dg_hf_tables {
    /* [V,D]; with the same values where tied */
    const struct dg_safetensor *source, *target, *output;
    /* [1,Vt] or NULL */
    const struct dg_safetensor *bias;
    /* [P,D] stored position tables, or NULL */
    const struct dg_safetensor *positions[2];
};

/* Find the tables; sets the configuration's ties, output bias and positions (stored position tables
 * are sinusoids of a known convention, or else learned). DG_EFORMAT, DG_EUNSUP name the tensor. */
int dg_hf_tables_find(const struct dg_tensor_set *s, const struct dg_hf_options *o,
    struct dg_hf_tables *t, struct dg_config *c, struct dg_error *err);

/* Add every parameter of the configuration to w; matrices and tables are stored as `type`.
 * DG_EFORMAT names a tensor that is missing, of an unexpected shape or holds a NaN; DG_EUNSUP one
 * that no parameter uses. */
int dg_hf_tensors_add(const struct dg_tensor_set *s, const struct dg_hf_tables *t,
    const struct dg_hf_options *o, const struct dg_config *c, enum dg_type type,
    struct dg_weights_writer *w, struct dg_error *err);

#endif
