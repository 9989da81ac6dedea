/* bf16 with AVX512_BF16. Compiled with the matching compiler flags; called only if the machine
 * supports them (open.c). */
#include "kernels/cpu/bf16_avx512.h"
#include "kernels/cpu/vec_bf16_avx512.h"

/* The body builds on the vector. */
#include "kernels/cpu/simd_bf16.h"

#include <math.h>

static vec_mask first_lanes(size_t n)
{
    return v_first(n < VL ? n : VL);
}

void dg_bf16_avx512_round(const float *x, size_t K, uint16_t *q)
{
    size_t k = 0;
    for (; k + 32 <= K; k += 32) {
        const vec low = v_load(x + k), high = v_load(x + k + VL);
        _mm512_storeu_si512(q + k, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
    for (; k < K; k += 16) { /* an odd K's last element is stored with the zero after it */
        const vec some = v_load_part(x + k, first_lanes(K - k));
        _mm256_mask_storeu_epi16(
            q + k, first_lanes((K - k + 1) / 2 * 2), (__m256i)_mm512_cvtneps_pbh(some));
    }
}

/* Interleaves the two halves: element i of the lower one, then element i of the upper one. */
static inline __m512i halves_to_pairs(__m512bh halves)
{
    const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9,
        24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order, (__m512i)halves);
}

void dg_bf16_avx512_pair(const float *const rows[2], size_t n, uint16_t *q, size_t apart)
{
    for (size_t i = 0; i < n; i += 16, q += apart) {
        const vec_mask some = first_lanes(n - i);
        const vec first = rows[0] ? v_load_part(rows[0] + i, some) : v_zero(),
                  second = rows[1] ? v_load_part(rows[1] + i, some) : v_zero();
        _mm512_storeu_si512(q, halves_to_pairs(_mm512_cvtne2ps_pbh(second, first)));
    }
}

/* Cephes' polynomial after Cody and Waite's reduction, as in cpu/train/loops_exp.h; an instruction
 * multiplies by 2^n and handles overflow and underflow. */
static inline vec exp_of(vec x)
{
    x = _mm512_max_ps(_mm512_set1_ps(-200), x); /* -inf would become NaN; NaN stays NaN */
    const vec n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504088896341f)), 8);
    vec r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
    vec y = _mm512_set1_ps(1.9875691500e-4f);
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(1.3981999507e-3f));
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(8.3334519073e-3f));
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(4.1665795894e-2f));
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(1.6666665459e-1f));
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(5.0000001201e-1f));
    y = _mm512_fmadd_ps(_mm512_mul_ps(y, r), r, _mm512_add_ps(r, _mm512_set1_ps(1)));
    return _mm512_scalef_ps(y, n);
}

/* Returns e of 16 elements of row r from i on, zero beyond n; updates *sum and *most. */
static inline vec exps_16(const struct dg_bf16_exps *e, size_t r, size_t i, vec *sum, vec *most)
{
    const vec_mask some = i < e->n ? first_lanes(e->n - i) : 0;
    vec x = v_load_part(e->x[r] + i, some);
    if (e->bias)
        x = _mm512_add_ps(x, v_load_part(e->bias + i, some));
    const vec y = _mm512_maskz_mov_ps(some, exp_of(_mm512_sub_ps(x, _mm512_set1_ps(e->from[r]))));
    *sum = _mm512_add_ps(*sum, y);
    *most = _mm512_mask_max_ps(*most, some, *most, x);
    return y;
}

void dg_bf16_avx512_exps(struct dg_bf16_exps *e)
{
    vec sum[2] = {v_zero(), v_zero()},
        most[2] = {_mm512_set1_ps(-INFINITY), _mm512_set1_ps(-INFINITY)};
    for (size_t i = 0; i < e->n; i += 32) {
        vec y[2][2];
#pragma GCC unroll 2
        for (size_t r = 0; r < 2; r++)
#pragma GCC unroll 2
            for (size_t h = 0; h < 2; h++)
                y[r][h] = exps_16(e, r, i + h * VL, &sum[r], &most[r]);
        if (!e->rows[0])
            continue;
#pragma GCC unroll 2
        for (size_t r = 0; r < 2; r++)
            _mm512_storeu_si512(e->rows[r] + i, (__m512i)_mm512_cvtne2ps_pbh(y[r][1], y[r][0]));
#pragma GCC unroll 2
        for (size_t h = 0; h < 2; h++)
            if (i + h * VL < e->n)
                _mm512_storeu_si512(e->pairs + (i / VL + h) * e->apart,
                    halves_to_pairs(_mm512_cvtne2ps_pbh(y[1][h], y[0][h])));
    }
    for (size_t r = 0; r < 2; r++) {
        e->sum[r] = _mm512_reduce_add_ps(sum[r]);
        e->most[r] = _mm512_reduce_max_ps(most[r]);
    }
}

/* Transposes 16 rows of 16 words: words within 128 bits by pairs of rows, then by fours, then the
 * 128 bits themselves. */
static void turn_square(const uint32_t *from, size_t ld, uint32_t *to, size_t ldt)
{
    __m512i a[16], b[16];
#pragma GCC unroll 16
    for (size_t r = 0; r < 16; r++)
        a[r] = _mm512_loadu_si512(from + r * ld);
#pragma GCC unroll 8
    for (size_t r = 0; r < 16; r += 2) {
        b[r] = _mm512_unpacklo_epi32(a[r], a[r + 1]);
        b[r + 1] = _mm512_unpackhi_epi32(a[r], a[r + 1]);
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < 16; r += 4) {
        a[r] = _mm512_unpacklo_epi64(b[r], b[r + 2]);
        a[r + 1] = _mm512_unpackhi_epi64(b[r], b[r + 2]);
        a[r + 2] = _mm512_unpacklo_epi64(b[r + 1], b[r + 3]);
        a[r + 3] = _mm512_unpackhi_epi64(b[r + 1], b[r + 3]);
    }
    /* a[4 g + c], quarter q: column 4 q + c of rows 4 g .. 4 g + 3 */
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; c++) {
        const __m512i even01 = _mm512_shuffle_i32x4(a[c], a[c + 4], 0x88),
                      odd01 = _mm512_shuffle_i32x4(a[c], a[c + 4], 0xDD),
                      even23 = _mm512_shuffle_i32x4(a[c + 8], a[c + 12], 0x88),
                      odd23 = _mm512_shuffle_i32x4(a[c + 8], a[c + 12], 0xDD);
        _mm512_storeu_si512(to + c * ldt, _mm512_shuffle_i32x4(even01, even23, 0x88));
        _mm512_storeu_si512(to + (c + 4) * ldt, _mm512_shuffle_i32x4(odd01, odd23, 0x88));
        _mm512_storeu_si512(to + (c + 8) * ldt, _mm512_shuffle_i32x4(even01, even23, 0xDD));
        _mm512_storeu_si512(to + (c + 12) * ldt, _mm512_shuffle_i32x4(odd01, odd23, 0xDD));
    }
}

void dg_bf16_avx512_turn(const uint32_t *from, size_t ld, size_t n, uint32_t *to, size_t ldt)
{
    for (size_t i = 0; i < n; i += 16)
        turn_square(from + i, ld, to + i * ldt, ldt);
}

const struct dg_cpu_bf16 dg_bf16_avx512 = {.round = dg_bf16_avx512_round,
    .gemm = bf16_gemm,
    .gemm_turned = bf16_gemm_turned,
    .exps = dg_bf16_avx512_exps,
    .pair = dg_bf16_avx512_pair,
    .turn = dg_bf16_avx512_turn};
