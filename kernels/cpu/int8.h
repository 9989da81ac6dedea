/* int8 matrix products: s8 weights with a scale per output, u7 activations with a scale and a zero
 * point per row, exact int32 sums. y[m,n] = act((sum_k q[m,k] w[n,k] - zero_m sum_k w[n,k]) *
 * (scale_m scale_n) + bias[n]). Activations use only 7 bits (except fine ones, below) so that no
 * step of any instruction set saturates (two products are at most 2 * 127 * 127 = 32,258 in 16
 * bits). The sums are therefore the same whichever instructions add them, and the float formula is
 * the same operations in the same order everywhere, so that every path gives the same bits
 * (int8_plain.c is the definition). Any thread. */
#ifndef DG_KERNELS_CPU_INT8_H
#define DG_KERNELS_CPU_INT8_H

#include "kernels/backend.h"

/* Longest K: 2^17 is the largest power of two for which K * 127 * 127 is below 2^31. Longer
 * matrices multiply in fp32. */
#define DG_INT8_K_MAX ((size_t)1 << 17)

/* DG_LAYOUT_PANEL16_S8 (only of matrices whose sums may be paired, below): self-contained panels of
 * 16 outputs. panel[p] = int8 [ceil(K/4)][16][4], element [k/4][i][k%4] = matrix[16 p + i][k], zero
 * outside the matrix, then int32 [16]: sum over k of row 16 p + i. One 32- or 64-byte load holds
 * four k of 8 or 16 outputs, as vpmaddubsw and vpdpbusd need them. */
static inline size_t dg_int8_groups(size_t K)
{
    return (K + 3) / 4;
}
/* Bytes of a panel: its groups, then its sums. */
static inline size_t dg_int8_panel(size_t groups)
{
    return groups * 64 + 64;
}
static inline size_t dg_int8_panel_bytes(size_t K)
{
    return dg_int8_panel(dg_int8_groups(K));
}
static inline size_t dg_int8_packed_bytes(size_t N, size_t K)
{
    return (N + 15) / 16 * dg_int8_panel_bytes(K);
}

/* Without VNNI, pairing saves half of the additions in 32 bits: the products of 8 k are first added
 * in 16 bits, four to a sum (k mod 8 in {0,1,4,5} and in {2,3,6,7}). That is exact when no four
 * such weights of one sign add up to more than 32767 / 127. Quantising ensures this (quantize.c):
 * it costs a few rows a few percent of their resolution, and saves a quarter of the time on
 * AVX2. */
enum { DG_INT8_PAIRED = 258 };

/* Fine activations have more steps than 7 bits hold. Two products that are added in 16 bits are
 * still exact when no two neighbouring weights (k even, and k + 1) of one sign add up to more than
 * 32767 / 223. Quantising ensures this on request; (random) weights lose a quarter of their
 * resolution, and activations gain three quarters. Sums are not paired then. There are few enough
 * steps for q - 112 to fit a signed byte, which ARM's dot products need. */
enum {
    DG_INT8_STEPS = 127,
    DG_INT8_FINE_STEPS = 223,
    DG_INT8_FINE = 146,
    DG_INT8_FINE_SHIFT = 112
};
/* Longest K of fine activations: 2^16 * 223 * 127 is below 2^31. */
#define DG_INT8_FINE_K_MAX ((size_t)1 << 16)

/* Packs rows[N,K] into dg_int8_packed_bytes(N,K) bytes; returns whether sums may be paired. */
bool dg_int8_pack(const int8_t *rows, size_t N, size_t K, void *packed);
/* Returns the largest sum of four weights of one sign in a row that pairing adds up
 * (DG_INT8_PAIRED). */
int dg_int8_pair_sum(const int8_t *row, size_t K);
/* Returns the largest sum of two neighbouring weights of one sign in a row (DG_INT8_FINE). */
int dg_int8_two_sum(const int8_t *row, size_t K);
/* The same over all rows of a packed matrix. */
int dg_int8_packed_two_sum(const void *packed, size_t N, size_t K);
/* y[K] = row n, without its scale. */
void dg_int8_row(const void *packed, size_t n, size_t K, float *y);

/* How a row of activations was quantised: x[k] is about scale * (q[k] - zero), and 0 is exact. */
struct dg_int8_act {
    /* NaN when the row holds a value that is not finite: the outputs are NaN, too */
    float scale;
    /* 0 .. steps; for fine activations minus the instruction set's fine_shift */
    int32_t zero;
};

struct dg_int8_gemm {
    size_t M, n, groups;
    /* [M,4 groups], rows ldx apart */
    const uint8_t *x;
    size_t ldx;
    /* [M] */
    const struct dg_int8_act *acts;
    /* [ceil(n/16),groups,16,4]: panels from the block's first output on */
    const int8_t *w;
    /* [n] */
    const float *scales;
    /* [n] or NULL */
    const float *bias;
    /* [M,n], rows ldy apart */
    float *y;
    size_t ldy;
    bool relu;
    /* dg_int8_pack returned true for the weights, and activations are not fine */
    bool paired;
};

struct dg_cpu_int8 {
    /* Writes q[0..K); bytes from K to the next multiple of 64 may get any value, because they meet
     * zero weights. steps: DG_INT8_STEPS or DG_INT8_FINE_STEPS. */
    struct dg_int8_act (*quantize)(const float *x, size_t K, int steps, uint8_t *q);
    void (*gemm)(const struct dg_int8_gemm *g);
    /* Fine activations and their zero point are stored minus fine_shift: 0, or DG_INT8_FINE_SHIFT
     * where bytes are signed. */
    int fine_shift;
};

extern const struct dg_cpu_int8 dg_int8_plain;
#ifdef DG_X86
extern const struct dg_cpu_int8 dg_int8_avx2;       /* vpmaddubsw + vpmaddwd */
extern const struct dg_cpu_int8 dg_int8_avxvnni;    /* vpdpbusd, 32 bytes */
extern const struct dg_cpu_int8 dg_int8_avx512;     /* vpmaddubsw + vpmaddwd, 64 bytes */
extern const struct dg_cpu_int8 dg_int8_avx512vnni; /* vpdpbusd, 64 bytes */
extern const struct dg_cpu_int8 dg_int8_amx;        /* tdpbusd */
#endif
#ifdef DG_ARM
extern const struct dg_cpu_int8 dg_int8_neon;     /* smull, smlal, sadalp */
extern const struct dg_cpu_int8 dg_int8_neondot;  /* sdot */
extern const struct dg_cpu_int8 dg_int8_neoni8mm; /* smmla; a lone row: sdot */
#endif

#endif
