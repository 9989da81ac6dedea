/* Beam search with its state on the device: a step takes its ids and cache slots from where the
 * previous step put them, so that the host need not read one step's candidates before it submits
 * the next step (model/engine/pipelined_step.c). Optional: dg_ops.device_search. The host makes the
 * same decisions from the same candidates when they have arrived (model/engine/beam.h): the host's
 * decisions are the definition, and the device's must equal them. One thread at a time, the
 * backend's.
 *
 * A place holds the state of one sentence: its hypotheses side by side, each with its last piece,
 * its log-probability and the slots of its positions, and the slots of the sentence's memory. A
 * step names the places that it advances.
 *
 * Example: a sentence with a beam of 2, in place 5, and a second step that finds candidates as
 * below.
 *   place    place 5: one hypothesis, last -1 (nothing yet), logprob 0, no positions
 *   begin    part {place 5, n_in 1, n_out 2, t 0, k 4}, slots {32}: row 0 writes position 0 there
 *   end      the best four of row 0: "Ein" -0.3, "Der" -1.5, </s> -4, "Die" -5. The first two
 *            live on as rows 0 and 1; parents {0,0}, pieces {Ein, Der}
 *   begin    part {place 5, n_in 2, n_out 2, t 1, k 4}, slots {33, 48}; nothing has been read yet
 *   end      row 0: "Hund" -2 ..., row 1: "Hund" -0.5 ...: totals -2.3 and -2.0; the hypotheses
 *            swap, their slots become {32, 48} and {32, 33}; parents {1,0}
 *   wait     the host gets the first step's candidates, comes to {0,0} as well, and submits on
 *
 * Between `begin` and `end`, ops take their lists from the step: dg_embed's ids and positions are
 * NULL, and dg_attention.of says which of the step's segments are used. At most two steps may be
 * submitted before the first is waited for. */
#ifndef DG_KERNELS_DEVICE_SEARCH_H
#define DG_KERNELS_DEVICE_SEARCH_H

#include "kernels/backend.h"

struct dg_device_search;

#define DG_DEVICE_SEARCH_WIDTH 32u

struct dg_device_search_limits {
    /* sentences */
    uint32_t places;
    /* hypotheses of a place, at most DG_DEVICE_SEARCH_WIDTH and rows */
    uint32_t width;
    /* rows of one step */
    uint32_t rows;
    /* positions of a hypothesis */
    uint32_t positions;
    /* positions of a sentence's memory */
    uint32_t memory;
    /* candidates of a row */
    uint32_t candidates;
    size_t V;
    /* Cross-attention probabilities from which rows are aligned, fp32 [rows,H,memory]: a part whose
     * first row is m has its [H,n_in,n_memory] at element m * H * memory. Only heads first_head ..
     * first_head + n_heads - 1 count. */
    struct dg_rows weights;
    uint32_t H, first_head, n_heads;
    /* ids of </s> and of the piece that is never output; -1: there is none */
    int32_t eos, never;
};

/* Initial state of a place. All arrays are in host memory and are copied. */
struct dg_device_search_sentence {
    uint32_t place;
    /* hypotheses, with t positions each */
    uint32_t n_hyps, t;
    /* [n_memory] slots */
    const int32_t *memory;
    uint32_t n_memory;
    /* [n_hyps] the piece that the next step reads; -1: the zero vector */
    const int32_t *last;
    /* [n_hyps] */
    const double *logprob;
    /* [n_hyps,history_ld] slots of positions 0 .. t-1 */
    const int32_t *history;
    size_t history_ld;
};

/* One sentence's part of a step: its first n_in hypotheses are evaluated, each at position t; n_out
 * survive. */
struct dg_device_search_part {
    uint32_t place, n_in, n_out, t, n_memory;
    /* candidates of each row, 1..limits.candidates */
    uint32_t k;
    /* >= 0: this piece comes next, and n_out is n_in */
    int32_t force;
    /* consider only the best candidate, not the best 2 n_out */
    bool greedy;
    /* </s> is not allowed yet */
    bool no_eos;
};

struct dg_device_search_step {
    /* [n_parts]; their rows are adjacent, in this order */
    const struct dg_device_search_part *parts;
    /* n_rows: the sum of all n_in */
    uint32_t n_parts, n_rows;
    /* [n_rows] cache slot for each row's keys and values */
    const int32_t *slots;
    /* Minimum number of rows to run; those beyond n_rows are padding. While an engine is opened, it
     * lets the device run every row count once (n_parts and n_rows 0). */
    uint32_t rows;
};

/* Results of a step, borrowed: those of step k until step k + 2 begins. */
struct dg_device_search_found {
    /* [n_rows,ld] each, as in dg_topk */
    const float *logprob;
    const int32_t *ids;
    size_t ld;
    /* [n_rows] the memory position that each row attends to most, summed over the heads; ties: the
     * smaller */
    const int32_t *sources;
    /* [sum of all n_out] each: the row, within its sentence, that a hypothesis now extends, and its
     * last piece; piece -1: no candidate was left for it. */
    const int32_t *parents, *pieces;
};

struct dg_device_search_ops {
    /* *out NULL without an error: the host must keep the search itself. Errors: DG_ENOMEM, or why
     * the device failed. */
    int (*open)(struct dg_backend *be, const struct dg_device_search_limits *limits,
        struct dg_device_search **out, struct dg_error *err);
    /* NULL is fine; waits for submitted steps. */
    void (*close)(struct dg_backend *be, struct dg_device_search *search);
    /* Returns the smallest row count above M that steps are padded to; 0: there is none. */
    uint32_t (*next_rows)(const struct dg_device_search *search, uint32_t M);
    /* Puts n sentences into their places. */
    void (*place)(struct dg_backend *be, struct dg_device_search *search,
        const struct dg_device_search_sentence *s, uint32_t n);
    /* Begins a step. True: run the ops with *M rows (n_rows and some padding). False: run nothing;
     * the device replays what it recorded for this row count, or it has failed. */
    bool (*begin)(struct dg_backend *be, struct dg_device_search *search,
        const struct dg_device_search_step *step, size_t *M);
    /* Ends a step: finds the candidates of logits[M,V] and selects the surviving hypotheses. Does
     * not wait. False: the device could not record or replay the step; run the ops and call end
     * again (which then returns true). */
    bool (*end)(struct dg_backend *be, struct dg_device_search *search, struct dg_rows logits);
    /* Waits for the oldest step that has not been waited for. False: the device failed. */
    bool (*wait)(struct dg_backend *be, struct dg_device_search *search,
        struct dg_device_search_found *found);
    /* The host's decision differs from the device's; `what` says in what. Marks the device as
     * failed. */
    void (*refute)(struct dg_backend *be, const char *what);
};

#endif
