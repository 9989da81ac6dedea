/* What simd_int8.h needs in addition to vec_avx2.h: 32 bytes of weights at a time. INT8_VNNI:
 * vpdpbusd does a whole step. Any thread. */
#ifndef DG_KERNELS_CPU_VEC_INT8_AVX2_H
#define DG_KERNELS_CPU_VEC_INT8_AVX2_H

#include "kernels/cpu/vec_avx2.h"

#include <string.h>

enum { INT8_FINE_SHIFT = 0 };

/* The tile in 16 registers. Without VNNI two products of each step need registers too, and 4 rows
 * (8 sums) beat 6 by a tenth; with it, 12 sums hide the instruction's latency. */
#ifdef INT8_VNNI
enum { INT8_ROWS = 6, INT8_PANELS = 1, INT8_PAIRS = 0, INT8_FAR = 0 };
#else
enum { INT8_ROWS = 4, INT8_PANELS = 1, INT8_PAIRS = 1, INT8_FAR = 0 };
#endif

/* clang-format off */
static inline vec_int v_int_sub(vec_int a, vec_int b) { return _mm256_sub_epi32(a, b); }
static inline vec v_float(vec_int a) { return _mm256_cvtepi32_ps(a); }
static inline vec_int v_nearest(vec a) { return _mm256_cvtps_epi32(a); }
/* clang-format on */
#define v_in_register(a) __asm__("" : "+x"(a))
static inline vec_int v_bytes(const int8_t *w)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)w);
}

/* Broadcasts four bytes of activations to every lane. */
static inline vec_int v_four_bytes(const uint8_t *x)
{
    int32_t four;
    memcpy(&four, x, sizeof four);
    return _mm256_set1_epi32(four);
}

/* Lane i: sum + the products of its four activations and four weights, in int8.h's layout. */
static inline vec_int v_dot4(vec_int sum, vec_int x, vec_int w)
{
#ifdef INT8_VNNI
    return _mm256_dpbusd_avx_epi32(sum, x, w);
#else
    sum =
        _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(x, w), _mm256_set1_epi16(1)));
    __asm__("" : "+x"(sum));
    return sum;
#endif
}

/* The same for two groups whose four products, which are added in 16 bits, cannot overflow them. */
static inline vec_int v_dot8(vec_int sum, vec_int x0, vec_int w0, vec_int x1, vec_int w1)
{
#ifdef INT8_VNNI
    return v_dot4(v_dot4(sum, x0, w0), x1, w1);
#else
    __m256i four = _mm256_add_epi16(_mm256_maddubs_epi16(x0, w0), _mm256_maddubs_epi16(x1, w1));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(four, _mm256_set1_epi16(1)));
    __asm__("" : "+x"(sum));
    return sum;
#endif
}

/* q[8] = the lanes, clamped to 0 .. steps. */
static inline void v_narrow(uint8_t *q, vec_int a, int steps)
{
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    __m128i bytes = _mm_min_epu8(_mm_packus_epi16(words, words), _mm_set1_epi8((char)steps));
    _mm_storel_epi64((__m128i *)(void *)q, bytes);
}

#define INT8_NARROW4
/* The same for four vectors. They are packed within halves, so a permutation restores the order of
 * the groups of four bytes. */
static inline void v_narrow4(uint8_t *q, const vec_int a[4], int steps)
{
    const __m256i bytes =
        _mm256_packus_epi16(_mm256_packs_epi32(a[0], a[1]), _mm256_packs_epi32(a[2], a[3]));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i kept =
        _mm256_min_epu8(_mm256_permutevar8x32_epi32(bytes, order), _mm256_set1_epi8((char)steps));
    _mm256_storeu_si256((__m256i *)(void *)q, kept);
}

#endif
