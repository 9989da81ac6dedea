/* The guided-alignment loss of one segment of an attention call; see struct dg_guide. Const; any
 * thread. */
#ifndef DG_KERNELS_CPU_TRAIN_GUIDE_H
#define DG_KERNELS_CPU_TRAIN_GUIDE_H

#include "kernels/cpu/train/loops.h"

struct dg_guided_head {
    /* [H,n_q,n_k] */
    const float *probs;
    uint32_t n_q, n_k;
    /* [n_links] links of this segment, sorted by query */
    const struct dg_link *links;
    size_t n_links;
};

/* Adds the loss to g->sums, and writes its gradient with respect to the probabilities of each
 * guided head to adds[n_links]. */
void dg_guide_run(
    const struct dg_guide *g, const struct dg_guided_head *s, struct dg_loop_add *adds);

#endif
