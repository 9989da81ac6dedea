/* The vector of the simd_*.h bodies with AVX2, FMA and F16C: 8 floats. Included by avx2.c,
 * int8_avx2.c and int8_avxvnni.c only. Any thread. */
#ifndef DG_KERNELS_CPU_VEC_AVX2_H
#define DG_KERNELS_CPU_VEC_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VL = 8,
    TILE_ROWS = 6,   /* rows of the matrix product's tile: 6 x 16 outputs in 12 of 16 registers */
    PANELS_MANY = 1, /* panels of a tile when there are several tiles */
    PANELS_ONE = 4,  /* of a lone row */
    PANELS_TWO = 3,  /* of two rows */
};

typedef __m256 vec;
typedef __m256i vec_mask;
typedef __m256i vec_int;

/* A line for each wrapper that fits into one. */
/* clang-format off */
static inline vec v_zero(void) { return _mm256_setzero_ps(); }
static inline vec v_all(float a) { return _mm256_set1_ps(a); }
static inline vec v_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void v_store(float *p, vec a) { _mm256_storeu_ps(p, a); }
/* fp16 to fp32 is exact; back, to the nearest, ties to even. */
static inline vec v_load_half(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline void v_store_half(uint16_t *p, vec a)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
/* A macro, because GCC considers an inline function that only prefetches to have no effect, and
 * drops it. */
#define v_prefetch(at) _mm_prefetch((const char *)(at), _MM_HINT_T0)
static inline vec v_add(vec a, vec b) { return _mm256_add_ps(a, b); }
static inline vec v_sub(vec a, vec b) { return _mm256_sub_ps(a, b); }
static inline vec v_mul(vec a, vec b) { return _mm256_mul_ps(a, b); }
static inline vec v_div(vec a, vec b) { return _mm256_div_ps(a, b); }
static inline vec v_fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); } /* a b + c */
static inline vec v_fnma(vec a, vec b, vec c) { return _mm256_fnmadd_ps(a, b, c); } /* c - a b */
static inline vec v_max(vec a, vec b) { return _mm256_max_ps(a, b); } /* NaN: b */
static inline vec v_min(vec a, vec b) { return _mm256_min_ps(a, b); } /* NaN: b */

/* The first n < VL lanes. Lanes beyond are neither read nor written; loaded as zero. */
static inline vec_mask v_first(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline vec v_load_part(const float *p, vec_mask m) { return _mm256_maskload_ps(p, m); }
static inline void v_store_part(float *p, vec_mask m, vec a) { _mm256_maskstore_ps(p, m, a); }
/* clang-format on */
static inline vec v_select(vec_mask m, vec a, vec b)
{
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(m));
}

/* a < b ? 0 : c */
static inline vec v_zero_below(vec a, vec b, vec c)
{
    return _mm256_andnot_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ), c);
}
static inline vec v_round(vec a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* a * 2^n, n whole and -126 .. 127 */
static inline vec v_scale(vec a, vec n)
{
    __m256i e =
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(a, _mm256_castsi256_ps(e));
}

/* a * 2^n for positive a, n the last bits of b = n + 1.5 * 2^23; exponents do not overflow */
static inline vec v_add_exponent(vec a, vec b)
{
    __m256i n = _mm256_slli_epi32(_mm256_castps_si256(b), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), n));
}
/* bit i: a[i] >= b[i] */
static inline uint32_t v_at_least(vec a, vec b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ));
}

/* first, first + 1, ... */
static inline vec_int v_count(uint32_t first)
{
    return _mm256_add_epi32(
        _mm256_set1_epi32((int)first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
/* clang-format off */
static inline vec_int v_int(uint32_t a) { return _mm256_set1_epi32((int)a); }
static inline vec_int v_int_add(vec_int a, vec_int b) { return _mm256_add_epi32(a, b); }
static inline vec_int v_int_mul(vec_int a, vec_int b) { return _mm256_mullo_epi32(a, b); }
static inline vec_int v_int_xor(vec_int a, vec_int b) { return _mm256_xor_si256(a, b); }
static inline vec_int v_int_shift(vec_int a, int n) { return _mm256_srli_epi32(a, n); }
/* clang-format on */
/* a >= b ? c : 0, for a, b < 2^31 */
static inline vec v_keep(vec_int a, vec_int b, vec c)
{
    return _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a)), c);
}

/* The sums of 8 vectors' lanes, in one order: neighbours added, then pairs, then halves. */
static inline void v_sum8(const vec a[8], float out[8])
{
    __m256 t0 = _mm256_hadd_ps(a[0], a[1]), t1 = _mm256_hadd_ps(a[2], a[3]);
    __m256 t2 = _mm256_hadd_ps(a[4], a[5]), t3 = _mm256_hadd_ps(a[6], a[7]);
    __m256 u0 = _mm256_hadd_ps(t0, t1), u1 = _mm256_hadd_ps(t2, t3);
    _mm256_storeu_ps(out,
        _mm256_add_ps(_mm256_permute2f128_ps(u0, u1, 0x20), _mm256_permute2f128_ps(u0, u1, 0x31)));
}

static inline float v_sum(vec a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline float v_largest(vec a)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

/* The sum in double, of lanes that are partial sums themselves. */
static inline double v_sum_double(vec a)
{
    __m256d s = _mm256_add_pd(
        _mm256_cvtps_pd(_mm256_castps256_ps128(a)), _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)));
    __m128d h = _mm_add_pd(_mm256_castpd256_pd128(s), _mm256_extractf128_pd(s, 1));
    return _mm_cvtsd_f64(_mm_add_sd(h, _mm_unpackhi_pd(h, h)));
}

#endif
