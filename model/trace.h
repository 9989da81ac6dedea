/* Teacher forcing that keeps everything: the log-probabilities of a given target and all attention
 * weights. For pictures and tests (cached steps must give the same); the engine's steps never use
 * it. One thread at a time per backend. */
#ifndef DG_MODEL_TRACE_H
#define DG_MODEL_TRACE_H

#include "model/model.h"

struct dg_trace {
    uint32_t S, T, H, dec_H, enc_layers, dec_layers;
    /* [T] of the target's pieces */
    float *logprob;
    /* [enc_layers,H,S,S] */
    float *enc_self;
    /* [dec_layers,dec_H,T,T]; zero above the diagonal, and all zero if the decoder has no
     * self-attention */
    float *dec_self;
    /* [dec_layers,dec_H,T,S] */
    float *cross;
};

/* Ids, with </s> where the model needs it. */
struct dg_trace_ids {
    /* [S] */
    const int32_t *source;
    uint32_t S;
    /* [T] */
    const int32_t *target;
    uint32_t T;
};

/* Allocates the arrays of *out, which dg_trace_deinit frees. DG_ELIMIT: more pieces than the model
 * has positions. One thread at a time per backend. */
int dg_trace_run(const struct dg_model *m, struct dg_backend *be, const struct dg_trace_ids *ids,
    struct dg_trace *out, struct dg_error *err);
void dg_trace_deinit(struct dg_trace *t); /* a zeroed one is fine */

#endif
