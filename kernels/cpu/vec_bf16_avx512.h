/* What simd_bf16.h needs in addition to vec_avx512.h: pairs of bf16, and vdpbf16ps. Any thread. */
#ifndef DG_KERNELS_CPU_VEC_BF16_AVX512_H
#define DG_KERNELS_CPU_VEC_BF16_AVX512_H

#include "kernels/cpu/vec_avx512.h"

#include <string.h>

typedef __m512i vec_pairs;

static inline vec_pairs v_pairs(const uint16_t *w)
{
    return _mm512_loadu_si512(w);
}

/* Broadcasts two activations to every lane. */
static inline vec_pairs v_pair(const uint16_t *x)
{
    int32_t two;
    memcpy(&two, x, sizeof two);
    return _mm512_set1_epi32(two);
}

/* Lane i: sum + the products of its two activations and two weights. */
static inline vec v_dot2(vec sum, vec_pairs x, vec_pairs w)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)w);
}

#endif
