/* bf16 with AVX512_BF16. Compiled with its flags, entered only after the machine was asked
 * (open.c). */
#include "kernels/cpu/vec_bf16_avx512.h"

/* clang-format off: the body builds on the vector. */
#include "kernels/cpu/simd_bf16.h"
/* clang-format on */

static vec_mask first_lanes(size_t n)
{
    return v_first(n < VL ? n : VL);
}

static void round_row(const float *x, size_t K, uint16_t *q)
{
    size_t k = 0;
    for (; k + 32 <= K; k += 32) {
        const vec low = v_load(x + k), high = v_load(x + k + VL);
        _mm512_storeu_si512(q + k, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
    for (; k < K; k += 16) { /* an odd K's last element brings its zero along */
        const vec some = v_load_part(x + k, first_lanes(K - k));
        _mm256_mask_storeu_epi16(
            q + k, first_lanes((K - k + 1) / 2 * 2), (__m256i)_mm512_cvtneps_pbh(some));
    }
}

static void pair(const float *const rows[2], size_t n, uint16_t *q, size_t apart)
{
    const __m512i halves_to_pairs = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10,
        25, 9, 24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    for (size_t i = 0; i < n; i += 16, q += apart) {
        const vec_mask some = first_lanes(n - i);
        const vec first = rows[0] ? v_load_part(rows[0] + i, some) : v_zero(),
                  second = rows[1] ? v_load_part(rows[1] + i, some) : v_zero();
        _mm512_storeu_si512(q,
            _mm512_permutexvar_epi16(halves_to_pairs, (__m512i)_mm512_cvtne2ps_pbh(second, first)));
    }
}

/* 16 rows of 16 words turned over: words within 128 bits by pairs of rows, then by fours, then the
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

static void turn(const uint32_t *from, size_t ld, size_t n, uint32_t *to, size_t ldt)
{
    for (size_t i = 0; i < n; i += 16)
        turn_square(from + i, ld, to + i * ldt, ldt);
}

const struct dg_cpu_bf16 dg_bf16_avx512 = {
    .round = round_row, .gemm = bf16_gemm, .pair = pair, .turn = turn};
