/* The vector of the simd_*.h bodies with AVX-512 (F, BW, VL, DQ): 16 floats. Included by avx512.c
 * and the files of AVX-512 and AMX for int8 and bf16 only. Any thread. */
#ifndef DG_KERNELS_CPU_VEC_AVX512_H
#define DG_KERNELS_CPU_VEC_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VL = 16,
    TILE_ROWS = 12,  /* rows of the matrix product's tile: 12 x 32 outputs in 24 of 32 registers */
    PANELS_MANY = 2, /* panels of a tile when there are several tiles */
    PANELS_ONE = 4,  /* of a lone row */
    PANELS_TWO = 3,  /* of two rows */
};

typedef __m512 vec;
typedef __mmask16 vec_mask;
typedef __m512i vec_int;

/* A line for each wrapper that fits into one. */
/* clang-format off */
static inline vec v_zero(void) { return _mm512_setzero_ps(); }
static inline vec v_all(float a) { return _mm512_set1_ps(a); }
static inline vec v_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void v_store(float *p, vec a) { _mm512_storeu_ps(p, a); }
/* fp16 to fp32 is exact; back, to the nearest, ties to even. */
static inline vec v_load_half(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline void v_store_half(uint16_t *p, vec a)
{
    _mm256_storeu_si256(
        (__m256i *)(void *)p, _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
/* Into the second-level cache: the first allows too few outstanding lines for what memory delivers
 * (Zen 4: half as fast). A macro, because GCC considers an inline function that only prefetches to
 * have no effect, and drops it. */
#define v_prefetch(at) _mm_prefetch((const char *)(at), _MM_HINT_T1)
static inline vec v_add(vec a, vec b) { return _mm512_add_ps(a, b); }
static inline vec v_sub(vec a, vec b) { return _mm512_sub_ps(a, b); }
static inline vec v_mul(vec a, vec b) { return _mm512_mul_ps(a, b); }
static inline vec v_div(vec a, vec b) { return _mm512_div_ps(a, b); }
static inline vec v_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); } /* a b + c */
static inline vec v_fnma(vec a, vec b, vec c) { return _mm512_fnmadd_ps(a, b, c); } /* c - a b */
static inline vec v_max(vec a, vec b) { return _mm512_max_ps(a, b); } /* NaN: b */
static inline vec v_min(vec a, vec b) { return _mm512_min_ps(a, b); } /* NaN: b */

/* The first n <= VL lanes. Lanes beyond are neither read nor written; loaded as zero. */
static inline vec_mask v_first(size_t n) { return (vec_mask)((1u << n) - 1); }
static inline vec v_load_part(const float *p, vec_mask m) { return _mm512_maskz_loadu_ps(m, p); }
static inline void v_store_part(float *p, vec_mask m, vec a) { _mm512_mask_storeu_ps(p, m, a); }
static inline vec v_select(vec_mask m, vec a, vec b) { return _mm512_mask_blend_ps(m, b, a); }

/* a < b ? 0 : c */
static inline vec v_zero_below(vec a, vec b, vec c)
{
    return _mm512_maskz_mov_ps((__mmask16)~_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), c);
}
static inline vec v_round(vec a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* a * 2^n, n whole and -126 .. 127 */
static inline vec v_scale(vec a, vec n)
{
    __m512i e =
        _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23);
    return _mm512_mul_ps(a, _mm512_castsi512_ps(e));
}

/* a * 2^n for positive a, n the last bits of b = n + 1.5 * 2^23; exponents do not overflow */
static inline vec v_add_exponent(vec a, vec b)
{
    __m512i n = _mm512_slli_epi32(_mm512_castps_si512(b), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), n));
}
/* bit i: a[i] >= b[i] */
static inline uint32_t v_at_least(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
/* clang-format on */

/* first, first + 1, ... */
static inline vec_int v_count(uint32_t first)
{
    return _mm512_add_epi32(_mm512_set1_epi32((int)first),
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
/* clang-format off */
static inline vec_int v_int(uint32_t a) { return _mm512_set1_epi32((int)a); }
static inline vec_int v_int_add(vec_int a, vec_int b) { return _mm512_add_epi32(a, b); }
static inline vec_int v_int_mul(vec_int a, vec_int b) { return _mm512_mullo_epi32(a, b); }
static inline vec_int v_int_xor(vec_int a, vec_int b) { return _mm512_xor_si512(a, b); }
static inline vec_int v_int_shift(vec_int a, int n) { return _mm512_srli_epi32(a, (unsigned)n); }
/* clang-format on */
/* a >= b ? c : 0, for a, b < 2^31 */
static inline vec v_keep(vec_int a, vec_int b, vec c)
{
    return _mm512_maskz_mov_ps(_mm512_cmpge_epi32_mask(a, b), c);
}

/* Adds the two halves: the rest is done with 8 lanes. */
static inline __m256 v_fold(vec a)
{
    return _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
}

/* The sums of 8 vectors' lanes, in one order: halves added, then neighbours, then pairs, then the
 * rest. */
static inline void v_sum8(const vec a[8], float out[8])
{
    __m256 t0 = _mm256_hadd_ps(v_fold(a[0]), v_fold(a[1])),
           t1 = _mm256_hadd_ps(v_fold(a[2]), v_fold(a[3]));
    __m256 t2 = _mm256_hadd_ps(v_fold(a[4]), v_fold(a[5])),
           t3 = _mm256_hadd_ps(v_fold(a[6]), v_fold(a[7]));
    __m256 u0 = _mm256_hadd_ps(t0, t1), u1 = _mm256_hadd_ps(t2, t3);
    _mm256_storeu_ps(out,
        _mm256_add_ps(_mm256_permute2f128_ps(u0, u1, 0x20), _mm256_permute2f128_ps(u0, u1, 0x31)));
}

static inline float v_sum(vec a)
{
    __m256 h = v_fold(a);
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline float v_largest(vec a)
{
    return _mm512_reduce_max_ps(a);
}

/* The sum in double, of lanes that are partial sums themselves. */
static inline double v_sum_double(vec a)
{
    return _mm512_reduce_add_pd(_mm512_add_pd(
        _mm512_cvtps_pd(_mm512_castps512_ps256(a)), _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1))));
}

#endif
