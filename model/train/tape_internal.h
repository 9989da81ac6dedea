/* The tape as model/'s training files see it: activation slots of every layer and the rows of a
 * micro-batch. One thread at a time, as tape.h. */
#ifndef DG_MODEL_TRAIN_TAPE_INTERNAL_H
#define DG_MODEL_TRAIN_TAPE_INTERNAL_H

#include "model/train/tape.h"
#include "model/layers/layers.h"

/* Gradients on their way down; one set serves all layers. R = max(S,T). */
struct dg_tape_scratch {
    struct dg_rows dx;      /* [R,D] of the rows between sublayers */
    struct dg_rows dmemory; /* [S,D] of the encoder's output, summed over decoder layers */
    struct dg_rows dsub; /* [R,D] of a sublayer's output; forward: the sublayer's output itself */
    struct dg_rows dhidden;  /* [R,F] */
    struct dg_rows dcontext; /* [R,H*Dv] */
    struct dg_rows dqkv;     /* [R,2*H*Dk+H*Dv] */
    struct dg_rows dq, dkv;  /* [T,H*Dk], [S,H*Dk+H*Dv] */
    struct dg_rows logits;   /* [chunk,V] */
    struct dg_rows dlogits;  /* the same, or [chunk,V] apart (dg_train.narrow) */
};

/* One side of the packed rows. */
struct dg_tape_side {
    size_t M;                 /* rows */
    int32_t *ids, *pos;       /* [M] */
    uint32_t *row_key;        /* [M] */
    struct dg_attn_seg *self; /* [n] */
    struct dg_rows embed;     /* [M,D] */
    const struct dg_weight *positions;
};

struct dg_tape {
    struct dg_config config;
    struct dg_train *train;
    uint32_t max_positions;
    struct dg_weight *sinusoids; /* NULL with learned positions */
    float *sinusoid_rows;
    struct dg_buf *buf, *wide; /* all activations; those that are fp32 on every device */
    size_t buf_n, wide_n;      /* their elements */
    void *host;                /* ids, positions, keys and segments */
    size_t host_bytes;
    size_t n, chunk; /* pairs; rows of logits at a time */
    struct dg_tape_side source, target;
    struct dg_attn_seg *cross; /* [n] */
    const int32_t *labels;     /* [T] borrowed from the pairs */
    struct dg_tape_scratch scratch;
    struct dg_enc_slots enc[DG_MAX_LAYERS];
    struct dg_dec_slots dec[DG_MAX_LAYERS];
};

/* Lay the slots out for these pairs and fill in ids, positions, keys and segments. */
int dg_tape_load(struct dg_tape *t, const struct dg_micro_batch *pairs, struct dg_error *err);

#endif
