/* Teacher forcing with everything kept: the log-probabilities of a given target and all attention
 * weights. For pictures, alignments and tests (cached steps must equal it); the engine's steps
 * never use it. */
#ifndef DG_MODEL_TRACE_H
#define DG_MODEL_TRACE_H

#include "model/model.h"

struct dg_trace {
    uint32_t S, T, H, enc_layers, dec_layers;
    float *logprob;  /* [T] of the target's pieces */
    float *enc_self; /* [enc_layers,H,S,S] */
    float *dec_self; /* [dec_layers,H,T,T]; zero above the diagonal */
    float *cross;    /* [dec_layers,H,T,S] */
};

/* source[S], target[T] ids with </s> as the model wants them. Allocates; dg_trace_deinit frees.
 * DG_ELIMIT when over the model's positions. One thread at a time per backend. */
int dg_trace_run(const struct dg_model *m, struct dg_backend *be, const int32_t *source, uint32_t S,
    const int32_t *target, uint32_t T, struct dg_trace *out, struct dg_error *err);
void dg_trace_deinit(struct dg_trace *t); /* a zeroed one is fine */

/* weights[H,T,S]: those of one decoder layer's cross-attention alone, the same bits; layer counts
 * from 0. No layer behind it is computed, and no logits. Errors and threads as above. */
int dg_trace_cross(const struct dg_model *m, struct dg_backend *be, const int32_t *source,
    uint32_t S, const int32_t *target, uint32_t T, uint32_t layer, float *weights,
    struct dg_error *err);

/* Take the device's memory that dg_trace_cross needs for at most so many pieces, and give it back
 * to the backend, which keeps it. */
int dg_trace_reserve(
    const struct dg_model *m, struct dg_backend *be, uint32_t S, uint32_t T, struct dg_error *err);

#endif
