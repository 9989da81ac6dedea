/* int8 with ARM's matrix instruction (smmla; servers since 2021): two rows by two outputs by eight
 * k each. A lone row uses dot products. Compiled with the matching compiler flags; called only if
 * the machine supports them (open.c). */
#define INT8_DOTPROD
#include "kernels/cpu/vec_int8_neon.h"

/* The body builds on the vector. */
#include "kernels/cpu/simd_int8.h"

enum {
    PAIRS = 6,               /* pairs of rows in a tile; with 8 outputs 24 sums, of 32 registers */
    PAIRS_WIDE = 2,          /* up to this many pairs take a whole panel at a time */
    ROOM = 48 << 10,         /* bytes of interleaved rows; one pair fits up to K = 24,576 */
    WEIGHTS_KEPT = 128 << 10 /* bytes of panels that all tiles use before the next panels */
};

static inline int64x2_t v_eights(const uint8_t *x)
{
    return vreinterpretq_s64_u8(vld1q_u8(x));
}

/* Interleaves rows m .. m + rows - 1 into x[steps,pairs,2,8]: eight k of each row of a pair side by
 * side, zero beyond K and after the last row. */
static inline __attribute__((always_inline)) void put_side_by_side(
    const struct dg_int8_gemm *g, size_t m, size_t rows, const size_t pairs, int8_t *x)
{
    const size_t bytes = g->groups * 4, step = pairs * 16;
    for (size_t p = 0; p < pairs; p++) {
        const uint8_t *a = g->x + (m + 2 * p) * g->ldx, *b = 2 * p + 1 < rows ? a + g->ldx : NULL;
        int8_t *at = x + p * 16;
        size_t k = 0;
        for (; k + 64 <= bytes && b; k += 64)
#pragma GCC unroll 4
            for (size_t i = 0; i < 64; i += 16, at += 2 * step) {
                const int64x2_t first = v_eights(a + k + i), second = v_eights(b + k + i);
                vst1q_s64((int64_t *)(void *)at, vzip1q_s64(first, second));
                vst1q_s64((int64_t *)(void *)(at + step), vzip2q_s64(first, second));
            }
        for (; k < bytes; k += 8, at += step) {
            const size_t n = bytes - k < 8 ? bytes - k : 8;
            memset(at, 0, 16);
            memcpy(at, a + k, n);
            if (b)
                memcpy(at + 8, b + k, n);
        }
    }
}

/* Adds eight k to acc[P][V], the sums of a pair of rows with two outputs each. */
static inline __attribute__((always_inline)) void add_step(
    const int P, const int V, const int8_t *x, const int8_t *w, int32x4_t acc[PAIRS][8])
{
    int8x16_t twos[8]; /* [V,2,8] */
#pragma GCC unroll 4
    for (int v = 0; v < V; v += 2) {
        const int32x4_t low = v_bytes(w + v * 8), high = v_bytes(w + 64 + v * 8);
        twos[v] = vreinterpretq_s8_s32(vzip1q_s32(low, high));
        twos[v + 1] = vreinterpretq_s8_s32(vzip2q_s32(low, high));
    }
#pragma GCC unroll 6
    for (int p = 0; p < P; p++) {
        const int8x16_t rows = vld1q_s8(x + p * 16);
#pragma GCC unroll 8
        for (int v = 0; v < V; v++)
            acc[p][v] = vmmlaq_s32(acc[p][v], rows, twos[v]);
        if (p % 2)
            __asm__ volatile("" ::: "memory");
    }
}

/* Does all steps of add_step for six pairs, starting from zero. The compiler keeps 24 sums, four
 * weights and two pairs in 32 registers only when it is told which. */
static inline void add_six_pairs(
    const int8_t *x, const int8_t *w, size_t steps, int32x4_t acc[PAIRS][8])
{
#define ZERO(a) "movi %" #a ".4s, #0\n\t"
#define ROW(v, a, b, c, d)                                                                         \
    "smmla %" #a ".4s, " #v ".16b, v4.16b\n\t"                                                     \
    "smmla %" #b ".4s, " #v ".16b, v5.16b\n\t"                                                     \
    "smmla %" #c ".4s, " #v ".16b, v6.16b\n\t"                                                     \
    "smmla %" #d ".4s, " #v ".16b, v7.16b\n\t"
#define STEP(w0, w1, x0, x1, x2)                                                                   \
    "ldp q0, q1, [%25, #" w0 "\n\t"                                                                \
    "ldp q2, q3, [%25, #" w1 "\n\t"                                                                \
    "zip1 v4.4s, v0.4s, v2.4s\n\t"                                                                 \
    "zip2 v5.4s, v0.4s, v2.4s\n\t"                                                                 \
    "zip1 v6.4s, v1.4s, v3.4s\n\t"                                                                 \
    "zip2 v7.4s, v1.4s, v3.4s\n\t"                                                                 \
    "ldp q0, q1, [%24, #" x0 "\n\t"                                                                \
    "ldp q2, q3, [%24, #" x1 "\n\t" ROW(v0, 0, 1, 2, 3)                                            \
        ROW(v1, 4, 5, 6, 7) "ldp q0, q1, [%24, #" x2 "\n\t" ROW(v2, 8, 9, 10, 11)                  \
            ROW(v3, 12, 13, 14, 15) ROW(v0, 16, 17, 18, 19) ROW(v1, 20, 21, 22, 23)
    /* clang-format off */
    __asm__(ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7) ZERO(8) ZERO(9) ZERO(10) ZERO(11)
        ZERO(12) ZERO(13) ZERO(14) ZERO(15) ZERO(16) ZERO(17) ZERO(18) ZERO(19) ZERO(20) ZERO(21) ZERO(22) ZERO(23)
        "sub %24, %24, #32\n\t" /* the last loads of an iteration advance the pointers */
        "sub %25, %25, #64\n\t"
        "lsr x9, %26, #2\n\t"
        "cbz x9, 2f\n"
        "1:\n\t"
        STEP("64]", "128]", "32]", "64]", "96]")
        STEP("192]", "256]", "128]", "160]", "192]")
        STEP("320]", "384]", "224]", "256]", "288]")
        STEP("448]", "512]!", "320]", "352]", "384]!")
        "subs x9, x9, #1\n\t"
        "b.ne 1b\n"
        "2:\n\t"
        "ands x9, %26, #3\n\t"
        "b.eq 4f\n"
        "3:\n\t"
        STEP("64]", "128]!", "32]", "64]", "96]!")
        "subs x9, x9, #1\n\t"
        "b.ne 3b\n"
        "4:"
#define SUMS(p) "=&w"(acc[p][0]), "=&w"(acc[p][1]), "=&w"(acc[p][2]), "=&w"(acc[p][3])
        : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), "+&r"(x), "+&r"(w)
        : "r"(steps)
        : "x9", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "memory", "cc");
    /* clang-format on */
#undef SUMS
#undef STEP
#undef ROW
#undef ZERO
}

/* Rows m .. and eight outputs from n on. */
struct part {
    size_t m, rows, n;
    /* [8]: sums of weights (int8.h) */
    const int8_t *totals;
};

/* finish_vectors for eight outputs, all of which exist: a row's values are loaded once for both
 * vectors. sums[rows][2] */
static inline __attribute__((always_inline)) void finish_eights(const bool biased, const bool relu,
    const struct dg_int8_gemm *g, const struct part *at, const vec_int (*sums)[2])
{
    const size_t n = at->n;
    const vec_int total[2] = {v_bytes(at->totals), v_bytes(at->totals + 16)};
    const vec scales[2] = {v_load(g->scales + n), v_load(g->scales + n + VL)};
    const vec bias[2] = {
        biased ? v_load(g->bias + n) : v_zero(), biased ? v_load(g->bias + n + VL) : v_zero()};
    const struct dg_int8_act *act = g->acts + at->m;
    float *y = g->y + at->m * g->ldy + n;
    const size_t rows = at->rows, ldy = g->ldy;
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++, act++, y += ldy) {
        /* scale and zero point */
        const int32x2_t both = vld1_s32((const int32_t *)(const void *)act);
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            vec f = v_float(vmlsq_lane_s32(sums[r][h], total[h], both, 1));
            f = v_mul(f, vmulq_lane_f32(scales[h], vreinterpret_f32_s32(both), 0));
            if (biased)
                f = v_add(f, bias[h]);
            v_store(y + h * VL, relu ? v_max(v_zero(), f) : f);
        }
    }
}

static __attribute__((noinline)) void finish_rows(
    const struct dg_int8_gemm *g, const struct part *at, const vec_int (*sums)[2])
{
    const size_t n = at->n;
    if (n + 8 > g->n) {
        for (size_t r = 0; r < at->rows; r++)
            for (size_t h = 0; h < 2 && n + h * VL < g->n; h++)
                finish_vectors(
                    1, g, at->m + r, n + h * VL, &sums[r][h], 1, v_bytes(at->totals + h * 16));
    } else if (g->bias && g->relu) {
        finish_eights(true, true, g, at, sums);
    } else if (g->bias) {
        finish_eights(true, false, g, at, sums);
    } else {
        finish_eights(false, g->relu, g, at, sums);
    }
}

/* Finishes eight outputs from at->n on, of 2 P rows or one fewer; their sums are in acc from column
 * v on. */
static inline __attribute__((always_inline)) void finish_pairs(const int P,
    const struct dg_int8_gemm *g, const struct part *at, int32x4_t acc[PAIRS][8], const int v)
{
    vec_int sums[2 * PAIRS][2];
#pragma GCC unroll 6
    for (int p = 0; p < P; p++) /* 2 x 2 blocks [row,output] to rows */
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            const int64x2_t a = vreinterpretq_s64_s32(acc[p][v + 2 * h]),
                            b = vreinterpretq_s64_s32(acc[p][v + 2 * h + 1]);
            sums[2 * p][h] = vreinterpretq_s32_s64(vzip1q_s64(a, b));
            sums[2 * p + 1][h] = vreinterpretq_s32_s64(vzip2q_s64(a, b));
        }
    finish_rows(g, at, (const vec_int(*)[2])sums);
}

/* P pairs of rows from m on (the last may be one row) against 2 V outputs from n on. */
static inline __attribute__((always_inline)) void run_pairs(const int P, const int V,
    const struct dg_int8_gemm *g, const int8_t *x, const int8_t *w, struct part at)
{
    int32x4_t acc[PAIRS][8];
    at.totals = w + g->groups * 64;
    const size_t steps = (g->groups + 1) / 2;
    if (P == PAIRS) {
        add_six_pairs(x, w, steps, acc);
    } else {
#pragma GCC unroll 6
        for (int p = 0; p < P; p++)
#pragma GCC unroll 8
            for (int v = 0; v < V; v++)
                acc[p][v] = v_int(0);
        for (size_t i = 0; i < steps / 2; i++, x += 32 * P, w += 256) {
            if (P <= PAIRS_WIDE)
#pragma GCC unroll 4
                for (int j = 0; j < 4; j++)
                    v_prefetch(w + AHEAD + j * 64);
            add_step(P, V, x, w, acc);
            add_step(P, V, x + P * 16, w + 128, acc);
#pragma GCC unroll 6
            for (int p = 0; p < P; p++)
#pragma GCC unroll 8
                for (int v = 0; v < V; v++)
                    v_in_register(acc[p][v]);
        }
        if (steps % 2)
            add_step(P, V, x, w, acc);
    }
    finish_pairs(P, g, &at, acc, 0);
    if (V == 8 && at.n + 8 < g->n) {
        at.n += 8, at.totals += 32;
        finish_pairs(P, g, &at, acc, 4);
    }
}

/* One function per tile height, specialised for it: all columns n0 .. n1 - 1. */
#define RUN_PAIRS(P, V)                                                                            \
    static __attribute__((noinline)) void run_pairs_##P(const struct dg_int8_gemm *g,              \
        const int8_t *x, size_t m, size_t rows, size_t n0, size_t n1)                              \
    {                                                                                              \
        const size_t panel = dg_int8_panel(g->groups);                                             \
        for (size_t n = n0; n < n1; n += 2 * V)                                                    \
            run_pairs(P, V, g, x, g->w + n / PANEL * panel + n % PANEL * 4,                        \
                (struct part){m, rows, n, NULL});                                                  \
    }
RUN_PAIRS(1, 8)
RUN_PAIRS(2, 8)
RUN_PAIRS(3, 4)
RUN_PAIRS(4, 4)
RUN_PAIRS(5, 4)
RUN_PAIRS(6, 4)
#undef RUN_PAIRS

static void int8_gemm_mm(const struct dg_int8_gemm *g)
{
    static void (*const run[PAIRS])(const struct dg_int8_gemm *, const int8_t *, size_t, size_t,
        size_t,
        size_t) = {run_pairs_1, run_pairs_2, run_pairs_3, run_pairs_4, run_pairs_5, run_pairs_6};
    int8_t x[ROOM] __attribute__((aligned(64)));
    const size_t fit = ROOM / ((g->groups + 1) / 2 * 16), most = fit < PAIRS ? fit : PAIRS,
                 pairs = (g->M + 1) / 2, panel = dg_int8_panel(g->groups);
    if (g->M < 2 || !most) {
        int8_gemm(g);
        return;
    }
    const size_t tiles = (pairs + most - 1) / most, kept = WEIGHTS_KEPT / panel * PANEL,
                 columns = tiles == 1 ? g->n
                           : kept     ? kept
                                      : PANEL;
    for (size_t n0 = 0; n0 < g->n; n0 += columns) {
        const size_t n1 = g->n - n0 < columns ? g->n : n0 + columns;
        for (size_t t = 0; t < tiles; t++) {
            const size_t m0 = 2 * (pairs * t / tiles), end = 2 * (pairs * (t + 1) / tiles),
                         m1 = end < g->M ? end : g->M;
            if (m1 - m0 > 2 * PAIRS - 2) /* specialised for PAIRS */
                put_side_by_side(g, m0, m1 - m0, PAIRS, x);
            else
                put_side_by_side(g, m0, m1 - m0, (m1 - m0 + 1) / 2, x);
            run[(m1 - m0 + 1) / 2 - 1](g, x, m0, m1 - m0, n0, n1);
        }
    }
}

const struct dg_cpu_int8 dg_int8_neoni8mm = {
    .quantize = int8_quantize, .gemm = int8_gemm_mm, .fine_shift = DG_INT8_FINE_SHIFT};
