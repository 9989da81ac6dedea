/* A beam search's state on the device: a step takes its pieces and slots from where the step before
 * it put them, so that the host need not read one step's candidates before it gives the next one
 * (model/engine/ahead.c). Optional: dg_ops.tracks.
 *
 * A track is a hypothesis: its last piece, its log-probability, and the cache slots of its
 * positions. A place holds one sentence: its tracks side by side and the slots of its memory. A
 * step names the places that it advances. The host takes the same decisions from the same
 * candidates when they have arrived (model/engine/beam.h): that is the definition, the device's
 * must be equal to them.
 *
 * Between `begin` and `end` ops take their lists from the step: dg_embed's ids and positions are
 * NULL, dg_attention.of says which of the step's pieces are meant. At most two steps are given
 * before the first is waited for. One thread at a time, the backend's. */
#ifndef DG_KERNELS_TRACKS_H
#define DG_KERNELS_TRACKS_H

#include "kernels/backend.h"

struct dg_tracks;

#define DG_TRACKS_WIDTH 32u

struct dg_tracks_most {
    uint32_t places;     /* sentences */
    uint32_t width;      /* tracks of a place, at most DG_TRACKS_WIDTH and rows */
    uint32_t rows;       /* tracks of one step */
    uint32_t positions;  /* of a track */
    uint32_t memory;     /* positions of a sentence's memory */
    uint32_t candidates; /* of a row */
    uint32_t Dv;         /* of one head: what a piece of an attention call is cut by */
    size_t V;
    /* Cross-attention's probabilities that rows are aligned by, fp32: a part whose first row is m
     * has its [H,n_in,n_memory] from element m * H * memory on. Heads first_head .. first_head +
     * n_heads - 1 count. */
    struct dg_rows weights;
    uint32_t H, first_head, n_heads;
    int32_t eos, never; /* </s>, and the piece that is never put out; -1: there is none */
};

/* What a place begins with. */
struct dg_tracks_sentence {
    uint32_t place, n_tracks, t; /* t positions each */
    const int32_t *memory;       /* [n_memory] slots */
    uint32_t n_memory;
    const int32_t *last;    /* [n_tracks] the piece that the next step reads; -1: the zero vector */
    const double *logprob;  /* [n_tracks] */
    const int32_t *history; /* [n_tracks,history_ld] slots of positions 0 .. t-1 */
    size_t history_ld;
};

/* A sentence's part of a step: its first n_in tracks are read, each at position t; n_out live
 * on. */
struct dg_tracks_part {
    uint32_t place, n_in, n_out, t, n_memory;
    uint32_t k;    /* candidates of each row, 1..most.candidates */
    int32_t force; /* >= 0: this piece comes next, and n_out is n_in */
    bool greedy;   /* the best candidate alone is looked at, not 2 n_out of them */
    bool no_eos;   /* </s> may not come yet */
};

struct dg_tracks_step {
    const struct dg_tracks_part *parts; /* [n_parts]; their rows lie behind one another */
    uint32_t n_parts, n_rows;           /* n_rows: the sum of all n_in */
    const int32_t *slots;               /* [n_rows] where each row's keys and values go */
};

/* What a step found, until the step after the next begins. */
struct dg_tracks_found {
    const float *logprob; /* [n_rows,ld], as dg_topk has them */
    const int32_t *ids;   /* [n_rows,ld] */
    size_t ld;
    /* [n_rows] the position of its memory that each row attends to most, summed over the heads;
     * ties: the smaller */
    const int32_t *sources;
    /* [sum of all n_out]: which of its sentence's rows each track comes from now, and its last
     * piece; -1: no candidate was left for it. */
    const int32_t *parents, *pieces;
};

struct dg_track_ops {
    /* *out NULL without an error: the host is to keep the search. */
    int (*open)(struct dg_backend *be, const struct dg_tracks_most *most, struct dg_tracks **out,
        struct dg_error *err);
    /* NULL is fine; waits for what was given */
    void (*close)(struct dg_backend *be, struct dg_tracks *tracks);
    /* n sentences into their places. */
    void (*place)(struct dg_backend *be, struct dg_tracks *tracks,
        const struct dg_tracks_sentence *s, uint32_t n);
    /* True: run the ops of *M rows (n_rows, and some that mean nothing). False: there is nothing to
     * run, the device repeats what it was shown before. */
    bool (*begin)(struct dg_backend *be, struct dg_tracks *tracks,
        const struct dg_tracks_step *step, size_t *M);
    /* The step's last part: candidates of logits[M,V], and who lives on. Does not wait. */
    void (*end)(struct dg_backend *be, struct dg_tracks *tracks, struct dg_rows logits);
    /* Wait for the oldest step that was not waited for. False: the device failed. */
    bool (*wait)(struct dg_backend *be, struct dg_tracks *tracks, struct dg_tracks_found *found);
    /* The host came to another decision: the device counts as failed. */
    void (*refute)(struct dg_backend *be, const char *what);
};

#endif
