/* Internals of pipelined steps: pipelined_step.c (submits steps), pipelined_read.c (reads them and
 * decides). One thread at a time per engine. */
#ifndef DG_MODEL_ENGINE_PIPELINED_INTERNAL_H
#define DG_MODEL_ENGINE_PIPELINED_INTERNAL_H

#include "kernels/device_search.h"
#include "model/engine/internal.h"

/* A sentence's part of a submitted step. */
struct dg_pipelined_part {
    /* NULL: the sentence has left */
    struct dg_live *s;
    /* its first row; the index of its first hypothesis among all those that live on */
    uint32_t row, out;
    /* rows; hypotheses that live on (fewer if candidates run out) */
    uint32_t n_in, n_out;
    /* candidates of each row */
    uint32_t want;
};

struct dg_pipelined_submitted {
    /* [n] of [max_sentences] */
    struct dg_pipelined_part *parts;
    uint32_t n;
};

struct dg_pipelined_step {
    struct dg_device_search *search;
    /* step i is in steps[i % 2] until it is read */
    struct dg_pipelined_submitted steps[2];
    uint64_t submitted, collected;
    /* Of the step being built: [max_sentences] each. */
    struct dg_device_search_part *parts;
    struct dg_device_search_sentence *newcomers;
    /* [max_rows] the last piece of each newcomer's hypothesis, and its log-probability */
    int32_t *last;
    double *logprob;
    /* [n_places] of [max_sentences]: free places on the device, a stack */
    int32_t *places;
    uint32_t n_places;
};

/* Mark the device's copy of s as stale: its parts of steps in flight are ignored when those are
 * read. */
void dg_pipelined_leave(struct dg_pipelined_step *ps, struct dg_live *s);

/* Read the oldest submitted step; returns the rows of sentences that are still there. */
uint32_t dg_pipelined_collect(struct dg_engine *e);

#endif
