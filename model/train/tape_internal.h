/* The tape's fields, for model/'s training files: activation slots of every layer and the rows of a
 * micro-batch. One thread at a time, as tape.h. */
#ifndef DG_MODEL_TRAIN_TAPE_INTERNAL_H
#define DG_MODEL_TRAIN_TAPE_INTERNAL_H

#include "model/train/tape.h"
#include "model/layers/layers.h"

/* Gradients during backward; one set serves all layers. R = max(S,T). */
struct dg_tape_scratch {
    /* [R,D] of the rows between sublayers */
    struct dg_rows dx;
    /* [S,D] of the encoder's output, summed over decoder layers */
    struct dg_rows dmemory;
    /* [R,D] of a pre-norm model's residual stream */
    struct dg_rows dstream;
    /* [R,D] of a sublayer's output; forward: the sublayer's output itself */
    struct dg_rows dsub;
    /* [R,F] */
    struct dg_rows dhidden;
    /* [R,H*Dv] */
    struct dg_rows dcontext;
    /* [R,2*H*Dk+H*Dv]; with an SSRU [R,2*D] if that is wider */
    struct dg_rows dqkv;
    /* [T,H*Dk], [S,H*Dk+H*Dv] */
    struct dg_rows dq, dkv;
    /* [chunk,V] in the activations' type; their gradient overwrites them */
    struct dg_rows logits;
};

/* One side of the packed rows. */
struct dg_tape_side {
    /* rows */
    size_t M;
    /* [M] */
    int32_t *ids, *pos;
    /* [M] */
    uint32_t *row_key;
    /* [n] */
    struct dg_attn_seg *self;
    /* [M,D]; in a pre-norm model the residual stream, which begins with them */
    struct dg_rows embed;
};

struct dg_tape {
    struct dg_config config;
    struct dg_train *train;
    struct dg_position_table positions;
    /* [buf_n] all activations; [wide_n] those that are fp32 on every device */
    struct dg_buf *buf, *wide;
    size_t buf_n, wide_n;
    /* ids, positions, keys and segments */
    void *host;
    size_t host_bytes;
    /* pairs; rows of logits at a time */
    size_t n, chunk;
    struct dg_tape_side source, target;
    /* [n] */
    struct dg_attn_seg *cross;
    /* [T] borrowed from the pairs */
    const int32_t *labels;
    struct dg_tape_scratch scratch;
    struct dg_enc_slots enc[DG_MAX_LAYERS];
    struct dg_dec_slots dec[DG_MAX_LAYERS];
};

/* Sizes of one micro-batch. */
struct dg_tape_sizes {
    size_t S, T;
    /* sums of n_q * n_k over the segments, one head */
    size_t self_s, self_t, cross;
    size_t chunk;
};

/* Hands out rows of both buffers; with NULL it only counts. */
struct dg_tape_cursor {
    struct dg_buf *buf, *wide;
    size_t at, wide_at;
};

/* Assign all slots of a micro-batch of these sizes (slots.c); returns the elements needed of each
 * buffer. */
struct dg_tape_cursor dg_tape_lay_out(struct dg_tape *t, const struct dg_tape_sizes *n);

/* Lay the slots out for these pairs and fill in ids, positions, keys and segments. */
int dg_tape_load(struct dg_tape *t, const struct dg_micro_batch *pairs, struct dg_error *err);

#endif
