/* A model's dimensions and conventions, read from the manifest's "model" object. Plain data: any
 * thread, while none changes it. */
#ifndef DG_MODEL_CONFIG_H
#define DG_MODEL_CONFIG_H

#include "base/error.h"
#include "base/json.h"
#include "kernels/backend.h"

#include <stdbool.h>
#include <stdint.h>

enum dg_positions {
    DG_POS_PAPER,  /* sin, cos interleaved; 10000^(2i/d)            ("paper") */
    DG_POS_MARIAN, /* sin half | cos half; 10000^(i/(d/2-1))        ("marian") */
    DG_POS_HALVES, /* sin half | cos half; 10000^(2i/d)             ("halves") */
    DG_POS_LEARNED /* parameters src.pos, tgt.pos [max_positions,D] ("learned") */
};

/* The decoder's sublayer over its own pieces. */
enum dg_decoder {
    DG_DECODER_ATTENTION, /* masked self-attention, the paper's ("attention") */
    DG_DECODER_SSRU       /* a recurrent unit: struct dg_ssru in kernels/backend.h ("ssru") */
};

/* Most layers of either stack; most elements of a row (feed-forward: four times as many), and
 * learned positions. */
#define DG_MAX_LAYERS 64
#define DG_MAX_WIDTH 65536

struct dg_config {
    uint32_t source_vocab, target_vocab;
    uint32_t D, F, H, Dk, Dv;
    /* The decoder's sizes if they differ from the encoder's; 0: they do not. H * Dk and H * Dv are
     * the same on both sides, and dec_H divides both. */
    uint32_t dec_F, dec_H;
    uint32_t enc_layers, dec_layers;
    float norm_eps;
    /* √D in the paper */
    float embed_scale;
    enum dg_positions positions;
    /* 0, 1 or 2 */
    uint32_t first_position;
    /* learned positions only, else 0 */
    uint32_t max_positions;
    enum dg_act act;
    enum dg_decoder decoder;
    /* x + f(LN(x)) and a last norm per stack; the paper: LN(x + f(x)) */
    bool pre_norm;
    bool attention_bias, output_bias;
    /* source table = target table */
    bool tied_embeddings;
    /* target table = pre-softmax matrix */
    bool tied_output;
    /* ids in the target vocabulary; eos in the source too */
    int32_t eos, unk;
    /* first input of the decoder; -1 is the zero vector */
    int32_t start;
    /* the encoder's input ends with </s> */
    bool source_eos;
    /* Decoding defaults */
    uint32_t beam;
    float alpha;
    /* output limit = source pieces without </s> + this (dg_config_output_limit) */
    uint32_t extra_length;
    /* the output limit is also at most this many times the source pieces with </s>; 0: no such
     * limit */
    float length_factor;
    /* a sentence of more tokens, counting </s> and a language token, is split; 0: the caller
     * decides */
    uint32_t max_source;
    /* answers whose pieces have a lower mean log-probability are flagged; default -0.8 */
    float low_confidence;
    /* type of cached keys and values; not in the manifest: dg_model_open chooses it */
    enum dg_type kv;
    /* Cross-attention for alignments, counted from 1: a decoder layer (0: the last but one, or the
     * only one) and one of its heads (0: the mean of all). The manifest's "alignment_layer" and
     * "alignment_head", which dg_config_write does not write */
    uint32_t align_layer, align_head;
    /* id that no search chooses, though the softmax counts it (padding); -1: none */
    int32_t never;
};

#define DG_LOW_CONFIDENCE (-0.8f)
#define DG_LOW_CONFIDENCE_TEXT "-0.8"

static inline uint32_t dg_config_dec_F(const struct dg_config *c)
{
    return c->dec_F ? c->dec_F : c->F;
}

static inline uint32_t dg_config_dec_H(const struct dg_config *c)
{
    return c->dec_H ? c->dec_H : c->H;
}

/* The base model of the paper over a vocabulary of V. */
void dg_config_base(struct dg_config *c, uint32_t V);

/* Read and check the manifest's "model" and "decoding" objects, and its "alignment_layer" and
 * "alignment_head", which the model must have; DG_EINVAL / DG_EUNSUP name the field. */
int dg_config_read(const struct dg_json *manifest, struct dg_config *c, struct dg_error *err);
/* The same of the bundle in dir. */
int dg_config_load(const char *dir, struct dg_config *c, struct dg_error *err);
/* Write them into a manifest. */
int dg_config_write(const struct dg_config *c, struct dg_json *manifest);
/* Check that every dimension is within its limits and consistent with the others. */
int dg_config_check(const struct dg_config *c, struct dg_error *err);

/* Most pieces of an answer to n_source pieces, both counted with </s>, where a request names no
 * limit. n_terms: pieces of terms that the answer must contain besides (0: none); with terms,
 * extra_length is counted from the source's pieces with </s>. */
uint32_t dg_config_output_limit(const struct dg_config *c, uint32_t n_source, uint32_t n_terms);

#endif
