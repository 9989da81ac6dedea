/* Shared by the files of output_bf16: its scratch, and one run of rows against the vocabulary.
 * output_bf16.c has the memory, the losses and the order of the steps, output_bf16_walk.c the walk
 * over the vocabulary, output_bf16_grads.c the rest of the gradients, once the walk knows every
 * row's sum. One thread at a time, as output_bf16.h says. */
#ifndef DG_KERNELS_CPU_TRAIN_OUTPUT_BF16_INTERNAL_H
#define DG_KERNELS_CPU_TRAIN_OUTPUT_BF16_INTERNAL_H

#include "kernels/cpu/train/operands_bf16.h"
#include "kernels/cpu/train/output_bf16.h"

#include <float.h>

enum {
    /* Tokens of the vocabulary and rows of a block: with their weights they take half of a
     * second-level cache. */
    DG_OUTPUT_BLOCK = 256,
    DG_OUTPUT_ROWS = 128,
    /* Rows of a band, whose e dw sums at a time: a number that keeps the band's panels from
     * beginning at the same lines of a cache. */
    DG_OUTPUT_BAND = 254,
    /* Extra rows that carry the sum of x. */
    DG_OUTPUT_EXTRA = 2
};

/* In shapes: BLOCK, ROWS and BAND are the constants above, M rows of x, D its columns, V tokens. */
struct dg_output_bf16 {
    const struct dg_cpu_bf16 *ops;
    const struct dg_loops *loops;
    /* All arrays below are parts of it. */
    char *memory;
    size_t bytes;
    /* [ROWS,BLOCK] each */
    float *logits;
    uint16_t *exps;
    /* Weights of a block, for logits [BLOCK/16][depth/2][16][2] and for dx [D/16][BLOCK/2][16][2].
     */
    uint16_t *forward, *back;
    /* [16,depth] */
    uint16_t *strip;
    /* [M,depth] */
    uint16_t *x;
    /* [bands][V/16][BAND/2][16][2] of e; the last band may be shorter */
    uint16_t *bands;
    /* [bands][D/16][BAND/2][16][2] of a x */
    uint16_t *scaled;
    /* [2,D] */
    float *scaled_rows;
    /* [2,rows]: a, cut to bf16, and the remainder */
    uint16_t *factors;
    /* [2,BLOCK] */
    float *bias_sums;
    /* [M+1]: the number that is subtracted from a row's logits, its largest logit, and its
     * target's */
    float *from, *most, *at_target;
    /* [M+1]: Z */
    double *sum;
    /* [D] */
    float *sum_w, *sum_x, *part_w;
};

/* One run of rows, as many as have their e within DG_OUTPUT_BYTES. */
struct dg_output_walk {
    struct dg_output_bf16 *o;
    const struct dg_output_rows *r;
    /* D padded */
    size_t depth;
    /* M and the extra rows, rounded up to whole pairs */
    size_t rows;
    /* panels of the vocabulary */
    size_t panels_v;
    /* Number of tokens that can occur, and the sum of their biases. */
    size_t possible;
    double sum_bias;
    /* The rows' `from` are their largest logits, known from an earlier walk. */
    bool from_known;
};

static inline size_t dg_output_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t dg_output_round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static inline bool dg_output_impossible(const struct dg_output_rows *r, size_t v)
{
    return r->bias && r->bias[v] < -FLT_MAX;
}

/* Returns where the pairs of rows m and m+1 are in panel p; *apart: the distance of panels, in
 * elements. */
static inline uint16_t *dg_output_band(
    const struct dg_output_walk *w, size_t m, size_t p, size_t *apart)
{
    const size_t band = m / DG_OUTPUT_BAND * DG_OUTPUT_BAND,
                 rows = dg_output_least(w->rows - band, DG_OUTPUT_BAND);
    *apart = rows * DG_PANEL;
    return w->o->bands + band * w->panels_v * DG_PANEL + p * *apart + (m - band) / 2 * DG_PANEL * 2;
}

/* Returns b: label smoothing's share for each token that can occur. */
static inline float dg_output_share(const struct dg_output_walk *w)
{
    return w->r->scale * w->r->epsilon / (float)w->possible;
}

/* Computes logits, their e and sums, and dx before it is divided by Z; does so once more, starting
 * from the largest logits, if a row's e may have left fp32's range. */
void dg_output_bf16_walk(struct dg_output_walk *w);
/* Finishes dx, and adds to dw and dbias, after the walk. */
void dg_output_bf16_grads(const struct dg_output_walk *w);

#endif
