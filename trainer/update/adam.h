/* The optimiser's state and its update (paper section 5.3: Adam). The update works on slices of the
 * flat block, so that threads share it; a slice's bits do not depend on who computes it. One thread
 * at a time, unless stated otherwise. */
#ifndef DG_TRAINER_UPDATE_ADAM_H
#define DG_TRAINER_UPDATE_ADAM_H

#include "kernels/train.h"

struct dg_adam_options {
    double beta1, beta2, epsilon, weight_decay;
    /* decay of the averaged weights; 0: none are kept */
    double ema;
};

struct dg_adam_state {
    struct dg_adam_options options;
    /* borrowed */
    struct dg_train *train;
    /* [n] first and second moments */
    float *m, *v;
    /* [n] or NULL */
    float *ema;
    size_t n;
    /* updates done */
    uint64_t step;
};

/* Create the state, with moments zero. */
int dg_adam_open(const struct dg_adam_options *o, struct dg_train *train, size_t n,
    struct dg_adam_state **out, struct dg_error *err);
void dg_adam_close(struct dg_adam_state *a); /* NULL is fine */

/* Set the averaged weights to the parameters p[n]; call before the first update. */
void dg_adam_start(struct dg_adam_state *a, const float *p);

/* Inputs of an update. */
struct dg_adam_input {
    double rate, grad_scale;
    /* [n] gradients and parameters. */
    const float *g;
    float *p;
};

/* Apply update number `a->step`, which the caller has already incremented, to elements
 * begin..end-1. Any thread, disjoint slices; `train` is the calling worker's. */
void dg_adam_update(const struct dg_adam_state *a, struct dg_train *train,
    const struct dg_adam_input *in, size_t begin, size_t end);

#endif
