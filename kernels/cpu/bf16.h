/* bf16 matrix products: weights keep the 16 bits that the bundle holds (half of fp32's memory
 * traffic), activations are rounded to bf16 row by row, and sums are fp32. Used only where the
 * processor has vdpbf16ps; elsewhere bf16 weights are widened to fp32 at load (weight.c).
 * Guarantee: one order of additions per output, whatever M, position, threads and alignment are, so
 * that on one processor a row always has the same bits. bf16_plain.c is the definition and follows
 * the published descriptions: vdpbf16ps has one chain over pairs of k in order; AMX sums blocks of
 * 16 pairs, with even and odd k in separate chains, and then adds the blocks. Rounding within a
 * pair is up to the processor, so the last bits may differ between processor models. They do differ
 * from the results of widened weights, whose activations stay fp32. */
#ifndef DG_KERNELS_CPU_BF16_H
#define DG_KERNELS_CPU_BF16_H

#include "kernels/backend.h"

/* Longest K, so that a few rounded rows always fit the scratch space. Longer matrices are
 * widened. */
#define DG_BF16_K_MAX ((size_t)1 << 17)

/* Packed: panels of 16 outputs, panel[p] = uint16 [ceil(K/2)][16][2], element [k/2][i][k%2] =
 * matrix[16 p + i][k], zero outside the matrix. One 64-byte load holds two k of 16 outputs, as
 * vdpbf16ps wants them. */
static inline size_t dg_bf16_pairs(size_t K)
{
    return (K + 1) / 2;
}
static inline size_t dg_bf16_panel(size_t K)
{
    return dg_bf16_pairs(K) * 32;
}
/* Elements of the packed form of [N,K]. */
static inline size_t dg_bf16_packed(size_t N, size_t K)
{
    return (N + 15) / 16 * dg_bf16_panel(K);
}

/* Pack rows[N,K] into packed[dg_bf16_packed(N,K)]. */
void dg_bf16_pack(const uint16_t *rows, size_t N, size_t K, uint16_t *packed);
/* y[K] = row n, exactly. */
void dg_bf16_row(const uint16_t *packed, size_t n, size_t K, float *y);

/* Most pairs of a product whose left matrix is in panels (gemm_turned). */
enum { DG_BF16_TURNED_PAIRS = 256 };

struct dg_bf16_gemm {
    size_t M, n, pairs;
    /* [M,2 pairs], rows ldx apart, zero beyond K */
    const uint16_t *x;
    size_t ldx;
    /* [ceil(n/16),pairs,16,2]: panels from the block's first output on */
    const uint16_t *w;
    /* [M,n], rows ldy apart */
    float *y;
    size_t ldy;
    /* y += instead of y =: the finished sum is added to y, or, with AMX, the sum starts from y */
    bool add;
};

/* Two rows of a softmax, e = exp(x + bias - from), rounded for the two products that a trainer's
 * loss uses them in. e of -inf is 0. */
struct dg_bf16_exps {
    /* [n]; bias NULL: none */
    const float *x[2], *bias;
    size_t n;
    float from[2];
    /* output [n up to the next multiple of 32] each: e, zero from n on; NULL: neither these nor
     * pairs are written */
    uint16_t *rows[2];
    /* output [ceil(n/16)][16][2] in the layout of dg_cpu_bf16.pair: the two rows' e in pairs,
     * `apart` elements from block to block */
    uint16_t *pairs;
    size_t apart;
    /* out: sum of e before rounding; the largest x + bias, unless one is NaN */
    float sum[2], most[2];
};

struct dg_cpu_bf16 {
    /* q[0..K) = the nearest bf16 of x[0..K), ties to even; q[K] = 0 when K is odd. Values beyond
     * the largest bf16 by half a step or more become infinity. NaN stays a (quiet) NaN. Values
     * below the smallest normal number may become zero; products treat them as zero. */
    void (*round)(const float *x, size_t K, uint16_t *q);
    /* y[M,n] = x w^T */
    void (*gemm)(const struct dg_bf16_gemm *g);
    /* The same with x in panels of 16 rows, like w; ldx is not read. At most DG_BF16_TURNED_PAIRS
     * pairs. For training. */
    void (*gemm_turned)(const struct dg_bf16_gemm *g);
    /* For training. */
    void (*exps)(struct dg_bf16_exps *rows);
    /* Rounds two rows as `round` does and interleaves them into pairs, 16 by 16: q[i/16 * apart +
     * i%16 * 2 + r] = row r's element i of n; zero from n to the next multiple of 16, and where a
     * row is NULL. */
    void (*pair)(const float *const rows[2], size_t n, uint16_t *q, size_t apart);
    /* Transposes 16 rows of n pairs, n a multiple of 16: to[i,r] = from[r,i], rows ld and ldt pairs
     * apart. */
    void (*turn)(const uint32_t *from, size_t ld, size_t n, uint32_t *to, size_t ldt);
};

extern const struct dg_cpu_bf16 dg_bf16_plain;       /* what vdpbf16ps does */
extern const struct dg_cpu_bf16 dg_bf16_plain_tiles; /* what AMX does */
#ifdef DG_X86
extern const struct dg_cpu_bf16 dg_bf16_avx512; /* vdpbf16ps, 64 bytes */
extern const struct dg_cpu_bf16 dg_bf16_amx;    /* tdpbf16ps */
#endif

#endif
