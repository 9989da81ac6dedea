/* The inner loops of training, built once per instruction set from loops.c, loops_loss.c and
 * loops_attention.c by the compiler's vectoriser (see CMakeLists.txt); the baseline build is the
 * definition. All const; any thread. */
#ifndef DG_KERNELS_CPU_TRAIN_LOOPS_H
#define DG_KERNELS_CPU_TRAIN_LOOPS_H

#include "kernels/cpu/isa.h"
#include "kernels/train.h"

struct dg_loop_norm {
    /* [D] */
    const float *dy, *xhat;
    /* [D] */
    const float *gain;
    float rstd;
    /* [D] or NULL; may be dr */
    const float *dsum;
    /* [D]; dr may be dy */
    float *dx, *dr;
    /* [D], added to */
    float *dgain, *dbias;
    struct dg_mask drop;
};

/* One position of an SSRU; positions run from the last of a segment to the first: see struct
 * dg_ssru_grad. */
struct dg_loop_ssru {
    /* [D] the position's state and the one before it; before NULL: zeros */
    const float *c, *before;
    /* [D] */
    const float *f, *dy;
    /* [D] in: the share of dc from the position after; out: the candidate's gradient */
    float *dx;
    /* [D] */
    float *df;
    /* [D] out: the share of dc for the position before (its dx), or NULL */
    float *earlier;
};

/* A value that is added to one element of a gradient of probabilities. */
struct dg_loop_add {
    uint32_t row, column;
    float value;
};

/* One head of one segment. Matrices are row-major with the given distance between rows. */
struct dg_loop_head {
    size_t n_q, n_k, Dk, Dv;
    bool causal;
    /* 1/sqrt(Dk) */
    float scale;
    /* [n_q,Dk], [n_k,Dk], [n_k,Dv] */
    const float *q, *k, *v;
    /* [n_q,n_k], dense */
    const float *probs;
    /* [n_q,Dv] */
    const float *dout;
    /* [n_q,Dk], [n_k,Dk], [n_k,Dv]: written */
    float *dq, *dk, *dv;
    size_t ldq, ldk, ldv, lddout, lddq, lddk, lddv;
    /* [n_q] or NULL: dropout of the probabilities */
    const uint32_t *row_key;
    /* the dropout's site, and the element index of key 0 */
    uint32_t site, first;
    float p;
    /* [n_adds] added to the gradient of probs, sorted by row */
    const struct dg_loop_add *adds;
    size_t n_adds;
    /* [dg_loop_head_scratch()] */
    float *scratch;
};

/* One row of the vocabulary: see struct dg_loss. */
struct dg_loop_loss {
    /* [V] in: logits; out: their gradient when want_grad */
    float *x;
    size_t V;
    int32_t target;
    float epsilon, scale;
    bool want_grad;
    /* out */
    double smoothed, nll;
    /* out */
    bool correct;
};

struct dg_loops {
    const char *isa;
    /* y[n] *= mask / (1-p) */
    void (*drop)(float *y, size_t n, struct dg_mask mask);
    /* dy[n] *= (y > 0) * scale */
    void (*relu)(float *dy, const float *y, size_t n, float scale);
    void (*swish)(float *dy, const float *pre, size_t n);
    void (*gelu)(float *dy, const float *pre, size_t n);
    /* out[N] += sum over M rows of x[M,N] */
    void (*column_sum)(float *out, const float *x, size_t ldx, size_t M, size_t N);
    /* y[n] += a * x[n] */
    void (*axpy)(float *y, const float *x, float a, size_t n);
    void (*norm)(const struct dg_loop_norm *row, size_t D);
    void (*ssru)(const struct dg_loop_ssru *row, size_t D);
    void (*loss)(struct dg_loop_loss *row);
    void (*head)(const struct dg_loop_head *h);
    void (*sum)(const float *const *parts, size_t n_parts, float *out, size_t n);
    double (*square_sum)(const float *x, size_t n);
    void (*adam)(const struct dg_adam *op, size_t n);
};

/* Floats of scratch that one head of [n_q,n_k] needs. */
static inline size_t dg_loop_head_scratch(size_t n_q, size_t n_k, size_t Dv)
{
    size_t padded = (n_k + 15) / 16 * 16;
    return (2 * n_q + Dv) * padded;
}

extern const struct dg_loops dg_loops_plain;
#ifdef DG_X86
extern const struct dg_loops dg_loops_avx2;
extern const struct dg_loops dg_loops_avx512;
#endif

#endif
