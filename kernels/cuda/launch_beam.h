/* Kernels of the search that the device keeps (beam.cu), as launch.h has them. A
 * hypothesis' number is place * width + its number in the place. One thread at a time per backend,
 * as backend.h says. */
#ifndef DG_KERNELS_CUDA_LAUNCH_BEAM_H
#define DG_KERNELS_CUDA_LAUNCH_BEAM_H

#include "kernels/cuda/launch.h"
#include "kernels/device_search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A step as it is sent; its slots and parts lie behind it. */
struct dg_k_step {
    uint32_t n_parts, n_rows;
    uint32_t stride; /* the largest k of all rows */
};

/* A sentence's part of it. Its rows and its next hypotheses begin at row0 and out0. */
struct dg_k_part {
    struct dg_device_search_part is;
    uint32_t row0, out0;
};

/* All of it stays where it is from step to step, so that a recorded step can be repeated. */
struct dg_k_device_search {
    uint32_t width, positions, memory; /* of a place, of a hypothesis, of a place */
    int32_t eos, never;
    double *total;     /* [places,width] log-probability; -inf: no hypothesis */
    int32_t *last;     /* [places,width] */
    int32_t *history;  /* [places,width,positions] */
    int32_t *memories; /* [places,memory] */
    const struct dg_k_step *step;
    const int32_t *given;          /* [n_rows] slots of this step's position */
    const struct dg_k_part *parts; /* [n_parts] */
    int32_t *ids, *pos, *force;    /* [M] */
    uint32_t *k;                   /* [M] */
    struct dg_k_seg *self, *cross; /* [M] */
    struct dg_k_tile *cross_tiles; /* [M] */
    const float *weights;          /* [rows,H,memory], as dg_device_search_limits has them */
    uint32_t H, first_head, n_heads;
    int32_t *parents, *pieces; /* [sum of all n_out] */
    int32_t *sources;          /* [n_rows] */
    float *candidates;         /* [n_rows,2,stride]: log-probabilities, then the bits of ids */
};

/* A sentence's first hypotheses, or those that the host went on with. */
struct dg_k_place {
    uint32_t place, n_hyps, t, n_memory;
    uint32_t total; /* its first in dg_k_places.totals, [n_hyps] */
    /* in dg_k_places.lists: last[n_hyps], memory[n_memory], history[n_hyps,t] */
    uint32_t lists;
};
struct dg_k_places {
    const struct dg_k_place *places; /* [n] */
    const double *totals;            /* [sum of n_hyps] */
    const int32_t *lists;            /* the places' lists, one after the other */
    uint32_t n;
};
void dg_launch_place(
    struct dg_cuda *cu, const struct dg_k_device_search *k, const struct dg_k_places *places);

/* The lists of a step of M rows: those beyond n_rows mean nothing and do nothing. */
void dg_launch_begin(struct dg_cuda *cu, const struct dg_k_device_search *k, uint32_t M);
/* Who lives on, from the candidates, and where each row looked. */
void dg_launch_select(struct dg_cuda *cu, const struct dg_k_device_search *k, uint32_t M);

#ifdef __cplusplus
}
#endif

#endif
