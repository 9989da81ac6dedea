/* Source positions that the rows of a step attend to: cross-attention of the layer that the model's
 * config names, as computed by the step. Only model/engine includes this; one thread at a time, the
 * engine's. */
#ifndef DG_MODEL_ENGINE_ALIGN_H
#define DG_MODEL_ENGINE_ALIGN_H

#include "model/engine/live.h"
#include "model/layers/layers.h"

struct dg_align {
    /* heads whose weights are averaged */
    uint32_t first_head, n_heads;
    /* [dec_layers] the workspace's slots; in the alignment layer, cross-attention also writes its
     * weights */
    struct dg_dec_slots *slots;
    /* [H,n_q,n_k] of each sentence of the step, one after the other; fp32, room for
     * [max_rows,H,max_source] */
    struct dg_rows probs;
    /* [max_rows,H,max_source] the same on the host */
    float *weights;
    /* [max_rows] source position that each row attends to most */
    int32_t *sources;
};

/* Open e->align; call after the workspace is open. DG_ENOMEM. */
int dg_align_open(struct dg_engine *e, struct dg_error *err);
void dg_align_close(struct dg_engine *e);
/* Fill e->align.sources for a step's rows, from the weights that its cross_segs[n_segs] have
 * written. */
void dg_align_read(struct dg_engine *e, size_t n_segs);
/* [n] source positions of the best answer's pieces, if they are wanted or the answer, if not
 * forced, holds the unknown piece; else NULL. Borrowed from the beam. */
const int32_t *dg_align_answer(const struct dg_engine *e, const struct dg_live *s);

#endif
