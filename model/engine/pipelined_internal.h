/* Pipelined steps as their own two files see them: pipelined_step.c (submitted), pipelined_read.c
 * (read and decided). One thread at a time per engine. */
#ifndef DG_MODEL_ENGINE_PIPELINED_INTERNAL_H
#define DG_MODEL_ENGINE_PIPELINED_INTERNAL_H

#include "kernels/device_search.h"
#include "model/engine/internal.h"

/* A sentence's part of a submitted step. */
struct dg_pipelined_part {
    /* NULL: it has left */
    struct dg_live *s;
    /* its first row, and its first among the hypotheses that live on */
    uint32_t row, out;
    /* rows; hypotheses that live on, as far as there are candidates */
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
    /* Of the step that is being made: [max_sentences] each. */
    struct dg_device_search_part *parts;
    struct dg_device_search_sentence *newcomers;
    /* [max_rows] the last piece of each newcomer's hypothesis, and its log-probability */
    int32_t *last;
    double *logprob;
    /* [n_places] of [max_sentences]: free places on the device, a stack */
    int32_t *places;
    uint32_t n_places;
};

/* The device's copy of s is stale: its part of steps in flight is ignored when they are read. */
void dg_pipelined_leave(struct dg_pipelined_step *ps, struct dg_live *s);

/* Read the oldest step; returns its rows, of sentences that are still there. */
uint32_t dg_pipelined_collect(struct dg_engine *e);

#endif
