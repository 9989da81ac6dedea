/* The inner kernels, one table per instruction set. Drivers (linear.c, norm.c, ...) split the work
 * over rows, columns and heads; a kernel computes its piece on one thread. plain.c is the
 * definition; avx2.c, avx512.c and neon.c instantiate the same bodies (simd_*.h) at their vector
 * width. Row stability: how a kernel groups rows, columns or queries never changes the order in
 * which one output is summed. */
#ifndef DG_KERNELS_CPU_ISA_H
#define DG_KERNELS_CPU_ISA_H

#include "kernels/backend.h"

/* y[M,n] = x[M,K] w^T. w is packed in panels of 16 outputs: w[n/16][K][16], the last one
 * zero-padded. */
struct dg_gemm {
    size_t M, n, K;
    /* [M,K], rows ldx apart */
    const float *x;
    size_t ldx;
    /* [ceil(n/16)][K][16] */
    const float *w;
    /* [M,n], rows ldy apart */
    float *y;
    size_t ldy;
};

/* A row's dropout, resolved: element e of the row is hashed with key; p = 0 means none. */
struct dg_mask {
    /* first: index of the row's element 0 */
    uint32_t key, first;
    float p;
};

struct dg_norm_row {
    /* [D]; r NULL: no residual */
    const float *x, *r;
    /* [D]; may be x or r */
    float *y;
    /* [D] */
    const float *gain, *bias;
    /* [D], [1] or NULL */
    float *xhat, *rstd;
    float eps;
    /* on x */
    struct dg_mask drop;
};

/* One step of an SSRU: see struct dg_ssru. */
struct dg_ssru_row {
    /* [D] candidate; forget gate before its sigmoid */
    const float *x, *f;
    /* [D]; NULL: zeros */
    const float *before;
    /* [D]; after may be before or x */
    float *after, *y;
};

/* Keys or values of one head: row j is data + (slots ? slots[j] : k0 + j) * ld, dim floats of it.
 * fp16 ones have halves instead of data. */
struct dg_kv {
    /* [.,dim], rows ld apart */
    const float *data;
    size_t ld, k0, dim;
    /* [keys], or NULL: adjacent from k0 on */
    const int32_t *slots;
    /* [.,dim], rows ld apart */
    const uint16_t *halves;
};

/* Query rows of one head that walk the keys together. */
struct dg_attn_tile {
    size_t n_q;
    /* [n_q,Dk], rows ldq apart */
    const float *q;
    size_t ldq;
    /* [n_q,.], rows lds apart: scores, then probabilities; room for a multiple of 8 */
    float *s;
    size_t lds;
    /* [n_q,Dv], rows ldo apart */
    float *out;
    size_t ldo;
};

/* A few query rows over neighbouring heads, as a cached step asks for them: every query sees every
 * key. */
struct dg_attn_step {
    size_t n_q, H;
    /* keys */
    size_t n;
    /* [n_q,H,Dk], rows ldq apart */
    const float *q;
    size_t ldq;
    /* the first head; the others follow in each row */
    struct dg_kv k, v;
    /* the n_next keys of the segment after this one, to be prefetched meanwhile */
    struct dg_kv next;
    size_t n_next;
    /* [H,n_q,lds]: probabilities afterwards; lds a multiple of 8, at least n */
    float *s;
    size_t lds;
    /* factor of the scores: 1/sqrt(Dk) */
    float scale;
    /* [n_q,H,Dv], rows ldo apart */
    float *out;
    size_t ldo;
};

struct dg_cpu_isa {
    const char *name;
    void (*gemm)(const struct dg_gemm *g);
    /* sum of a[i] b[i] */
    float (*dot)(const float *a, const float *b, size_t n);
    /* y[n] = act(y[n] + bias[n]); the values before the activation go to pre[n] unless it is NULL;
     * bias may be NULL */
    void (*finish)(float *y, float *pre, const float *bias, size_t n, enum dg_act act);
    /* y[n] = kept ? y / (1-p) : 0 */
    void (*dropout)(float *y, size_t n, struct dg_mask mask);
    /* y = (v - mean) / σ * gain + bias, v = r + drop(x) */
    void (*norm)(const struct dg_norm_row *row, size_t D);
    void (*ssru)(const struct dg_ssru_row *row, size_t D);
    /* s[i,j] = q_i k_{j0+j}, j < n */
    void (*scores)(const struct dg_attn_tile *t, const struct dg_kv *k, size_t j0, size_t n);
    /* out_i += sum_j s[i,j] v_{j0+j}, j < n, in the order of j */
    void (*weigh)(const struct dg_attn_tile *t, const struct dg_kv *v, size_t j0, size_t n);
    /* scores, exponentials and weighted sum of a step, with the same bits as the functions around
     * this one; NULL: nothing is faster than those, head by head */
    void (*step)(const struct dg_attn_step *t);
    /* largest of x[n]; -inf when n is 0 */
    float (*max)(const float *x, size_t n);
    /* s[n] = exp(scale * (s - max)); s[j] is added to lane j % 16 of sum[16] */
    void (*exp_sum)(float *s, size_t n, float max, float scale, float *sum);
    /* s[n] *= a */
    void (*scale)(float *s, size_t n, float a);
    /* widen: y[n] = x[n], exact. narrow: the nearest fp16 (ties to even), at most the largest */
    void (*widen)(float *y, const uint16_t *x, size_t n);
    void (*narrow)(uint16_t *y, const float *x, size_t n);
    /* sum of exp(x - max) for long rows: partial sums in double; next[n], the row that comes after,
     * is prefetched meanwhile */
    double (*sum_exp)(const float *x, size_t n, float max, const float *next);
    /* most[r] = largest of run r of x[n]: `length` values each, the last run shorter */
    void (*run_max)(const float *x, size_t n, size_t length, float *most);
    /* the i with x[i] >= low, ascending, into at[n]; returns how many */
    size_t (*at_least)(const float *x, size_t n, float low, uint32_t *at);
};

extern const struct dg_cpu_isa dg_cpu_plain;
#ifdef DG_X86
extern const struct dg_cpu_isa dg_cpu_avx2;
extern const struct dg_cpu_isa dg_cpu_avx512;
#endif
#ifdef DG_ARM
extern const struct dg_cpu_isa dg_cpu_neon;
#endif

#endif
