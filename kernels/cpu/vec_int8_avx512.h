/* What simd_int8.h needs in addition to vec_avx512.h: 64 bytes of weights at a time. INT8_VNNI:
 * vpdpbusd does a whole step. Any thread. */
#ifndef DG_KERNELS_CPU_VEC_INT8_AVX512_H
#define DG_KERNELS_CPU_VEC_INT8_AVX512_H

#include "kernels/cpu/vec_avx512.h"

#include <string.h>

enum { INT8_FINE_SHIFT = 0 };

/* 16 sums of 32 registers: 8 rows x 2 panels need 10 loads for 16 steps, so that loads are never
 * the limit. */
#ifdef INT8_VNNI
enum { INT8_ROWS = 8, INT8_PANELS = 2, INT8_PAIRS = 0, INT8_FAR = 1 };
#else
enum { INT8_ROWS = 8, INT8_PANELS = 2, INT8_PAIRS = 1, INT8_FAR = 1 };
#endif

/* clang-format off */
static inline vec_int v_int_sub(vec_int a, vec_int b) { return _mm512_sub_epi32(a, b); }
static inline vec v_float(vec_int a) { return _mm512_cvtepi32_ps(a); }
static inline vec_int v_nearest(vec a) { return _mm512_cvtps_epi32(a); }
#define v_in_register(a) __asm__("" : "+v"(a))
static inline vec_int v_bytes(const int8_t *w) { return _mm512_loadu_si512(w); }
/* clang-format on */

/* Broadcasts four bytes of activations to every lane. */
static inline vec_int v_four_bytes(const uint8_t *x)
{
    int32_t four;
    memcpy(&four, x, sizeof four);
    return _mm512_set1_epi32(four);
}

/* Lane i: sum + the products of its four activations and four weights, in int8.h's layout. */
static inline vec_int v_dot4(vec_int sum, vec_int x, vec_int w)
{
#ifdef INT8_VNNI
    return _mm512_dpbusd_epi32(sum, x, w);
#else
    sum =
        _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(x, w), _mm512_set1_epi16(1)));
    __asm__("" : "+v"(sum));
    return sum;
#endif
}

/* The same for two groups whose four products, which are added in 16 bits, cannot overflow them. */
static inline vec_int v_dot8(vec_int sum, vec_int x0, vec_int w0, vec_int x1, vec_int w1)
{
#ifdef INT8_VNNI
    return v_dot4(v_dot4(sum, x0, w0), x1, w1);
#else
    __m512i four = _mm512_add_epi16(_mm512_maddubs_epi16(x0, w0), _mm512_maddubs_epi16(x1, w1));
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(four, _mm512_set1_epi16(1)));
    __asm__("" : "+v"(sum));
    return sum;
#endif
}

/* q[16] = the lanes, clamped to 0 .. steps. */
static inline void v_narrow(uint8_t *q, vec_int a, int steps)
{
    __m512i kept =
        _mm512_min_epi32(_mm512_max_epi32(a, _mm512_setzero_si512()), _mm512_set1_epi32(steps));
    _mm_storeu_si128((__m128i *)(void *)q, _mm512_cvtepi32_epi8(kept));
}

#endif
