/* The backward of each box of Figure 1, whose forward is in attention.c, ffn.c and ssru.c. Only
 * backward.c uses it. One thread at a time, the tape's.
 *
 * Throughout, dx [M,D] is the gradient of the rows between sublayers. In a post-norm model these
 * are the residual, too: add_norm's backward leaves the residual's share in dx, and the sublayer's
 * own share is added by the last product of its backward. In a pre-norm model the residual stream
 * has a gradient of its own, dstream, which every norm's backward adds to, and that last product
 * writes dx. */
#ifndef DG_MODEL_TRAIN_SUBLAYERS_H
#define DG_MODEL_TRAIN_SUBLAYERS_H

#include "model/train/tape_internal.h"

/* Common data of the layers' backward. */
struct dg_down {
    struct dg_tape *t;
    /* NULL: none */
    const struct dg_tape_watch *watch;
    /* NULL: none */
    const struct dg_dropouts *drop;
    int side;
    size_t M;
    /* [M,D] */
    struct dg_rows dx;
    /* [M,D] of the residual stream; none in a post-norm model */
    struct dg_rows dstream;
    /* guides the cross-attention of decoder layer guided_layer; NULL: none */
    const struct dg_guide *guide;
    uint32_t guided_layer;
    /* [S,D] the encoder's output, for the decoder's layers */
    struct dg_rows memory;
};

static inline uint32_t dg_down_layers(const struct dg_down *d)
{
    return d->side ? d->t->config.dec_layers : d->t->config.enc_layers;
}

/* For each: x[M,D] is the sublayer's input, d->dx the gradient of its output; adds to the gradients
 * in g. */
void dg_ffn_backward(const struct dg_down *d, uint32_t layer, const struct dg_ffn_params *w,
    const struct dg_ffn_params *g, struct dg_rows x, const struct dg_ffn_slots *s);
/* DG_ENOMEM */
int dg_self_backward(const struct dg_down *d, uint32_t layer, const struct dg_self_params *w,
    const struct dg_self_params *g, struct dg_rows x, const struct dg_self_slots *s,
    struct dg_error *err);
int dg_cross_backward(const struct dg_down *d, uint32_t layer, const struct dg_cross_params *w,
    const struct dg_cross_params *g, struct dg_rows x, const struct dg_cross_slots *s,
    struct dg_error *err);
void dg_ssru_backward(const struct dg_down *d, uint32_t layer, const struct dg_dec_params *w,
    const struct dg_dec_params *g, struct dg_rows x, const struct dg_self_slots *s);
/* Backward of dg_stack_begin: dstream becomes the embeddings' gradient. */
void dg_begin_backward(const struct dg_down *d, const struct dg_norm_params *w,
    const struct dg_norm_params *g, const struct dg_norm_slots *s);
/* Backward of one side's embeddings, from dx, in a pre-norm model from dstream. */
void dg_embedding_backward(const struct dg_down *d, const struct dg_tape_side *side,
    const struct dg_weight *table, struct dg_weight *dtable, struct dg_weight *dpositions);

#endif
