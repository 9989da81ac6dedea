/* The parameters of a Transformer by name: ONE table (params.c) gives field, file name and shape,
 * for the server, the converters' checks, the trainer's parameter and gradient blocks. Gradients
 * and optimiser state use the same struct. The table is const: any thread. A struct's owner decides
 * its thread. */
#ifndef DG_MODEL_PARAMS_H
#define DG_MODEL_PARAMS_H

#include "base/error.h"
#include "kernels/backend.h"
#include "model/config.h"

struct dg_norm_params {
    /* [D] */
    struct dg_weight *gain, *bias;
};

/* Each sublayer has its own norm, and `end`, the norm of its output: in a post-norm model (the
 * paper) the same one, in a pre-norm model that of the next sublayer, or the stack's last norm.
 * dg_params_tie sets `end`. */

/* Self-attention's qkv is one matrix: rows of queries [H*Dk], keys [H*Dk], values [H*Dv]. */
struct dg_self_params {
    /* [2*H*Dk+H*Dv, D]; biases NULL when the model has none */
    struct dg_weight *qkv_w, *qkv_b;
    /* [D, H*Dv] */
    struct dg_weight *out_w, *out_b;
    struct dg_norm_params norm, end;
};

/* Used instead of the attention in the decoder's self (config.decoder DG_DECODER_SSRU). Rows of w:
 * candidates, then forget gates. */
struct dg_ssru_params {
    /* [2*D, D], [2*D] */
    struct dg_weight *w, *b;
};

struct dg_cross_params {
    /* [H*Dk, D] */
    struct dg_weight *q_w, *q_b;
    /* [H*Dk+H*Dv, D]: keys, then values */
    struct dg_weight *kv_w, *kv_b;
    /* [D, H*Dv] */
    struct dg_weight *out_w, *out_b;
    struct dg_norm_params norm, end;
};

struct dg_ffn_params {
    /* [F, D] */
    struct dg_weight *w1, *b1;
    /* [D, F] */
    struct dg_weight *w2, *b2;
    struct dg_norm_params norm, end;
};

struct dg_enc_params {
    struct dg_self_params self;
    struct dg_ffn_params ffn;
};

struct dg_dec_params {
    /* the norms of self are those of its attention or of ssru, whichever config.decoder says */
    struct dg_self_params self;
    struct dg_ssru_params ssru;
    struct dg_cross_params cross;
    struct dg_ffn_params ffn;
};

struct dg_params {
    /* [Vs,D] */
    struct dg_weight *src_embed;
    /* [Vt,D]; the same pointer as src_embed when tied */
    struct dg_weight *tgt_embed;
    /* [Vt,D]; the same pointer as tgt_embed when tied */
    struct dg_weight *out_w;
    /* [Vt] or NULL */
    struct dg_weight *out_b;
    /* [P,D] learned positions; NULL when sinusoidal */
    struct dg_weight *src_pos, *tgt_pos;
    /* a pre-norm model's last norms */
    struct dg_norm_params src_norm, tgt_norm;
    /* All decoder layers' cross.kv_w and kv_b in one, if the backend joins weights: keys and values
     * of layer 0, of layer 1, ... [dec_layers*(H*Dk+H*Dv), D]; else NULL. Not stored. */
    struct dg_weight *memory_kv_w, *memory_kv_b;
    struct dg_enc_params enc[DG_MAX_LAYERS];
    struct dg_dec_params dec[DG_MAX_LAYERS];
};

/* One row of the table for a configuration. */
struct dg_param_info {
    char name[64];
    /* Its stack, "encoder" or "decoder" (NULL: it belongs to no layer), and its name without stack
     * and layer: of "enc.2.self.qkv.w", "self.qkv.w". Static storage. */
    const char *stack, *part;
    uint32_t layer;
    /* [N,K]; vectors are [1,K] */
    uint32_t N, K;
    /* enum dg_use, or'ed; tied tables carry all their uses */
    unsigned use;
    /* of the struct dg_weight * in struct dg_params */
    size_t offset;
};

/* How many stored parameters this configuration has, and the i-th (order of the file). */
size_t dg_params_count(const struct dg_config *c);
void dg_params_info(const struct dg_config *c, size_t i, struct dg_param_info *out);
/* Elements of all stored parameters together: the size of a model, as papers give it. */
uint64_t dg_params_elements(const struct dg_config *c);
struct dg_weight **dg_params_slot(struct dg_params *p, const struct dg_param_info *info);
/* The name of the tensor that holds the output matrix; its bias is "out.b". */
const char *dg_params_output(const struct dg_config *c);
/* Point tgt_embed and out_w at the matrices they are tied to, and each sublayer's `end` at its
 * norm; call once all stored ones are set. */
void dg_params_tie(const struct dg_config *c, struct dg_params *p);

#endif
