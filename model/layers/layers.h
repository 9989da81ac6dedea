/* The boxes of the paper's Figure 1, written once for CPU and CUDA, serving and training:
 * embedding.c, attention.c, ffn.c, encoder.c, decoder.c; ssru.c replaces the decoder's
 * self-attention in small fast models. All act on packed rows (no padding): M rows of many
 * sentences one after another, with segments saying which rows belong together. The caller chooses
 * where results go (slots): serving gives every layer the same slots, training gives each layer its
 * own, because backward reads them. One thread at a time per backend. */
#ifndef DG_MODEL_LAYERS_LAYERS_H
#define DG_MODEL_LAYERS_LAYERS_H

#include "kernels/backend.h"
#include "model/config.h"
#include "model/layers/position_table.h"
#include "model/params.h"

/* Leading dimension of the logits, a multiple of 8: wide loads can read every row, whatever the
 * vocabulary's size, in 16 bits, too. */
static inline size_t dg_logits_ld(const struct dg_config *c)
{
    return ((size_t)c->target_vocab + 7) / 8 * 8;
}

/* Training's dropout; NULL in serving. */
struct dg_dropouts {
    /* P_drop of sublayer outputs and embeddings; of probabilities; after ReLU */
    float residual, attention, act;
    /* hash of (seed, step) */
    uint32_t step_key;
    /* [M] hash of (global sentence index, position, side) */
    const uint32_t *row_key;
};

enum dg_site {
    DG_SITE_EMBED,
    DG_SITE_SELF,
    DG_SITE_SELF_PROBS,
    DG_SITE_CROSS,
    DG_SITE_CROSS_PROBS,
    DG_SITE_FFN,
    DG_SITE_ACT
};

/* Fill in *drop for one site of the model and return it; NULL where nothing is dropped: d is NULL,
 * or the site's rate 0. side 0 encoder, 1 decoder. */
const struct dg_dropout *dg_dropout_at(const struct dg_dropouts *d, int side, uint32_t layer,
    enum dg_site site, struct dg_dropout *drop);

/* Output of LayerNorm(x + Sublayer(x)), and what its backward needs (buf NULL in serving). */
struct dg_norm_slots {
    /* [M,D]; serving may alias the residual */
    struct dg_rows y;
    /* [M,D] a pre-norm model's residual stream, in which x + Sublayer(x) replaces x; none: the
     * sublayer's input is the residual */
    struct dg_rows stream;
    /* [M,D] or none */
    struct dg_rows xhat;
    /* [M] or none (ld 1) */
    struct dg_rows rstd;
};

struct dg_self_slots {
    /* [M, 2*H*Dk+H*Dv]; of an SSRU [M, 2*D]: candidates and forget gates */
    struct dg_rows qkv;
    /* per segment [H,n_q,n_k], or none */
    struct dg_rows probs;
    /* [M, H*Dv] */
    struct dg_rows context;
    /* [M, D]: the sublayer's output */
    struct dg_rows sub;
    struct dg_norm_slots norm;
};

struct dg_cross_slots {
    /* [M, H*Dk] */
    struct dg_rows q;
    /* [R, H*Dk+H*Dv] of the packed memory; unused with a cache */
    struct dg_rows kv;
    /* per segment [H,n_q,n_k], or none */
    struct dg_rows probs;
    /* [M, H*Dv]; [M, D]: the sublayer's output */
    struct dg_rows context, sub;
    struct dg_norm_slots norm;
};

struct dg_ffn_slots {
    /* [M,F] before the activation, or none */
    struct dg_rows pre;
    /* [M,dg_relu_mask_ld(F)] of struct dg_linear, or none */
    struct dg_rows mask;
    /* [M,F] */
    struct dg_rows hidden;
    /* [M,D] */
    struct dg_rows sub;
    struct dg_norm_slots norm;
};

struct dg_enc_slots {
    /* in the first layer of a pre-norm stack: the norm before its first sublayer */
    struct dg_norm_slots begin;
    struct dg_self_slots self;
    struct dg_ffn_slots ffn;
};

struct dg_dec_slots {
    /* as in dg_enc_slots */
    struct dg_norm_slots begin;
    struct dg_self_slots self;
    struct dg_cross_slots cross;
    struct dg_ffn_slots ffn;
};

/* Cached keys and values: one pair of pools per decoder layer, rows = slots
 * (model/engine/cache.h). */
struct dg_kv_pools {
    /* [slots, H*Dk], [slots, H*Dv] */
    struct dg_rows k, v;
};

/* States of an SSRU decoder in cached steps: one pool per layer. */
struct dg_states {
    /* [dec_layers] of [slots, D] fp32 */
    const struct dg_rows *pools;
    /* [M] as in struct dg_ssru */
    const int32_t *from, *to;
};

/* Common data of the layers of one pass. */
struct dg_pass {
    struct dg_backend *be;
    const struct dg_config *config;
    /* NULL in serving */
    const struct dg_dropouts *drop;
    /* rows */
    size_t M;
};

/* Segments over M packed rows. */
struct dg_segs {
    const struct dg_attn_seg *segs;
    size_t n;
    /* if not DG_ATTN_SEGS, the backend has the segments */
    enum dg_attn_of of;
};

/* Decoder only: what its self-attention and cross-attention attend to. */
struct dg_context {
    struct dg_segs self, cross;
    /* [dec_layers] in a cached step: each segment of self has one query, whose key and value go to
     * its last slot. NULL: keys and values are the packed rows of this pass. */
    const struct dg_kv_pools *pools;
    /* with pools, in a model whose decoder is an SSRU */
    const struct dg_states *states;
    /* [R,D] encoder output, without a cache */
    struct dg_rows memory;
    size_t R;
};

/* y[M,D] = drop(table[ids] * scale + positions[pos]). side 0 source, 1 target. */
void dg_embedding_forward(const struct dg_pass *p, int side, const struct dg_params *w,
    const struct dg_position_table *positions, const int32_t *ids, const int32_t *pos,
    struct dg_rows y);

/* Positions that the rows of a self-attention attend to. */
struct dg_self_keys {
    const struct dg_segs *segs;
    /* the cache's; NULL: the pass's own keys and values */
    const struct dg_kv_pools *pool;
};

/* x[M,D] -> slots->norm.y[M,D] */
void dg_self_attention_forward(const struct dg_pass *p, int side, uint32_t layer,
    const struct dg_self_params *w, const struct dg_self_keys *keys, struct dg_rows x,
    const struct dg_self_slots *slots);
/* states NULL: each segment's rows start from the zero state. */
void dg_ssru_forward(const struct dg_pass *p, uint32_t layer, const struct dg_dec_params *w,
    const struct dg_segs *segs, const struct dg_states *states, struct dg_rows x,
    const struct dg_self_slots *slots);
void dg_cross_attention_forward(const struct dg_pass *p, uint32_t layer,
    const struct dg_cross_params *w, const struct dg_context *c, struct dg_rows x,
    const struct dg_cross_slots *slots);
void dg_ffn_forward(const struct dg_pass *p, int side, uint32_t layer,
    const struct dg_ffn_params *w, struct dg_rows x, const struct dg_ffn_slots *slots);

/* All layers, of which there is at least one. x[M,D] is the embedding; the result is
 * slots[last].ffn.norm.y. slots: [layers] structs, or one for all when stride is 0. */
struct dg_rows dg_encoder_forward(const struct dg_pass *p, const struct dg_params *w,
    const struct dg_segs *segs, struct dg_rows x, const struct dg_enc_slots *slots, size_t stride);
struct dg_rows dg_decoder_forward(const struct dg_pass *p, const struct dg_params *w,
    const struct dg_context *c, struct dg_rows x, const struct dg_dec_slots *slots, size_t stride);

/* norm->y = LayerNorm(r + drop(x)) with w (paper section 3.1): r is the sublayer's input, or in a
 * pre-norm model the residual stream, which becomes the sum. */
void dg_residual_norm(const struct dg_pass *p, const struct dg_norm_params *w,
    const struct dg_dropout *drop, struct dg_rows x, struct dg_rows input,
    const struct dg_norm_slots *norm);
/* Begin a pre-norm stack: the embedding x becomes the residual stream, and its norm with w goes to
 * norm->y. Returns the input of the first sublayer. */
struct dg_rows dg_stack_begin(const struct dg_pass *p, const struct dg_norm_params *w,
    struct dg_rows x, const struct dg_norm_slots *norm);

/* logits[M,Vt] = x[M,D] out_w^T + out_b */
void dg_output_forward(
    const struct dg_pass *p, const struct dg_params *w, struct dg_rows x, struct dg_rows logits);

/* Width of the scratch rows of dg_cross_cache_fill: all layers', if their weights are joined. */
static inline size_t dg_memory_kv_width(const struct dg_config *c, const struct dg_params *w)
{
    return (size_t)(w->memory_kv_w ? c->dec_layers : 1) * c->H * (c->Dk + c->Dv);
}

/* Compute the keys and values of memory[R,D] and write them to every decoder layer's pools
 * (slots[R]); kv is scratch [R, dg_memory_kv_width()]. If the width is that of all layers, the
 * pools are columns of one buffer, in the order of the layers: keys, values. */
void dg_cross_cache_fill(const struct dg_pass *p, const struct dg_params *w, struct dg_rows memory,
    const int32_t *slots, const struct dg_kv_pools *pools, struct dg_rows kv);

#endif
