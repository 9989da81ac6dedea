/* int8's bodies at the vector width of the file that includes this (a vec_*.h and a vec_int8_*.h
 * first). int8_plain.c is the definition. A tile is MR rows x NP panels of 16 outputs in registers,
 * over the whole of K: integer sums need no cut of K, and one panel (16 KB at K = 1024) stays in
 * the caches while all rows pass by. The weights come from memory once, so they are prefetched: by
 * a lone tile AHEAD bytes before their use, by several tiles a panel ahead, a share each. On one
 * Zen 3 core the base decoder's step (weights cold) reads 25-30 GB/s at 1 to 3 rows and computes
 * 181 GOP/s from 8 rows on, with paired sums 216 (two multiplications a step, the limit of the
 * unpaired form, are 189). */
#include "kernels/cpu/int8.h"

#include <math.h>

enum {
    PANEL = 16,
    PV = PANEL / VL, /* vectors per panel */
    AHEAD = 3072,
};

/* acc[MR][NP PV] = the sums of rows x .. against panels w ..; paired: two groups of four k at a
 * time. */
static inline __attribute__((always_inline)) void sum_tile(const int MR, const int NP,
    const bool paired, const struct dg_int8_gemm *g, const uint8_t *x, const int8_t *w,
    uintptr_t ahead, size_t step, vec_int acc[INT8_ROWS][INT8_PANELS * PV])
{
    const size_t panel = g->groups * 64 + 64;
#pragma GCC unroll 8
    for (int r = 0; r < MR; r++)
#pragma GCC unroll 8
        for (int v = 0; v < NP * PV; v++)
            acc[r][v] = v_int(0);
    size_t k = 0;
    for (; paired && k + 2 <= g->groups; k += 2, x += 8, w += 128, ahead += 2 * step) {
#pragma GCC unroll 8
        for (int p = 0; p < NP; p++) {
            v_prefetch(ahead + (size_t)p * panel);
            v_prefetch(ahead + (size_t)p * panel + step);
        }
        vec_int first[INT8_PANELS * PV];
#pragma GCC unroll 8
        for (int v = 0; v < NP * PV; v++) {
            first[v] = v_bytes(w + (size_t)(v / PV) * panel + v % PV * VL * 4);
            v_in_register(first[v]);
        }
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++) {
            vec_int a = v_four_bytes(x + (size_t)r * g->ldx),
                    b = v_four_bytes(x + (size_t)r * g->ldx + 4);
#pragma GCC unroll 8
            for (int v = 0; v < NP * PV; v++) {
                const int8_t *at = w + (size_t)(v / PV) * panel + v % PV * VL * 4;
                acc[r][v] = v_dot8(acc[r][v], a, first[v], b, v_bytes(at + 64));
            }
        }
    }
    for (; k < g->groups; k++, x += 4, w += 64, ahead += step) {
        vec_int b[INT8_PANELS * PV];
#pragma GCC unroll 8
        for (int v = 0; v < NP * PV; v++)
            b[v] = v_bytes(w + (size_t)(v / PV) * panel + v % PV * VL * 4);
#pragma GCC unroll 8
        for (int p = 0; p < NP; p++)
            v_prefetch(ahead + (size_t)p * panel);
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++) {
            vec_int a = v_four_bytes(x + (size_t)r * g->ldx);
#pragma GCC unroll 8
            for (int v = 0; v < NP * PV; v++)
                acc[r][v] = v_dot4(acc[r][v], a, b[v]);
        }
    }
}

/* One vector of outputs n .., n_left of them wanted. */
static inline __attribute__((always_inline)) void finish_vector(
    const struct dg_int8_gemm *g, size_t m, size_t n, vec_int sum, vec_int totals)
{
    const struct dg_int8_act act = g->acts[m];
    float *y = g->y + m * g->ldy + n;
    vec f = v_float(v_int_sub(sum, v_int_mul(totals, v_int((uint32_t)act.zero))));
    if (g->n - n >= VL) {
        f = v_mul(f, v_mul(v_all(act.scale), v_load(g->scales + n)));
        if (g->bias)
            f = v_add(f, v_load(g->bias + n));
        v_store(y, g->relu ? v_max(v_zero(), f) : f);
    } else {
        vec_mask part = v_first(g->n - n);
        f = v_mul(f, v_mul(v_all(act.scale), v_load_part(g->scales + n, part)));
        if (g->bias)
            f = v_add(f, v_load_part(g->bias + n, part));
        v_store_part(y, part, g->relu ? v_max(v_zero(), f) : f);
    }
}

static inline __attribute__((always_inline)) void run_tile(const int MR, const int NP,
    const struct dg_int8_gemm *g, size_t m0, size_t n0, uintptr_t ahead, size_t step)
{
    const size_t panel = g->groups * 64 + 64;
    const int8_t *w = g->w + n0 / PANEL * panel;
    vec_int acc[INT8_ROWS][INT8_PANELS * PV];
    if (INT8_PAIRS && g->paired)
        sum_tile(MR, NP, true, g, g->x + m0 * g->ldx, w, ahead, step, acc);
    else
        sum_tile(MR, NP, false, g, g->x + m0 * g->ldx, w, ahead, step, acc);
#pragma GCC unroll 8
    for (int v = 0; v < NP * PV; v++) {
        size_t n = n0 + (size_t)v * VL;
        if (n >= g->n)
            break;
        vec_int totals = v_bytes(w + (size_t)(v / PV + 1) * panel - 64 + v % PV * VL * 4);
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++)
            finish_vector(g, m0 + (size_t)r, n, acc[r][v], totals);
    }
}

/* One call per height, so that each is compiled for its own. */
static inline __attribute__((always_inline)) void run_tile_rows(size_t rows, const int NP,
    const struct dg_int8_gemm *g, size_t m0, size_t n0, uintptr_t ahead, size_t step)
{
    switch (rows) {
#define ROWS_CASE(n)                                                                               \
    case n:                                                                                        \
        if (n <= INT8_ROWS)                                                                        \
            run_tile(n <= INT8_ROWS ? n : 1, NP, g, m0, n0, ahead, step);                          \
        break;
        ROWS_CASE(1)
        ROWS_CASE(2) ROWS_CASE(3) ROWS_CASE(4) ROWS_CASE(5) ROWS_CASE(6) ROWS_CASE(7) ROWS_CASE(8)
#undef ROWS_CASE
    }
}

/* All rows against NP panels. Tiles share the rows evenly: 5 rows are 3 + 2, not 4 + 1. */
static inline __attribute__((always_inline)) void run_panels(
    const int NP, const struct dg_int8_gemm *g, size_t n0)
{
    const size_t panel = g->groups * 64 + 64, tiles = (g->M + INT8_ROWS - 1) / INT8_ROWS;
    const size_t step = (64 + tiles - 1) / tiles;
    uintptr_t ahead =
        (uintptr_t)(g->w + n0 / PANEL * panel) + (tiles > 1 ? (size_t)NP * panel : AHEAD);
    for (size_t t = 0; t < tiles; t++, ahead += g->groups * step) {
        size_t m0 = g->M * t / tiles, m1 = g->M * (t + 1) / tiles;
        run_tile_rows(m1 - m0, NP, g, m0, n0, ahead, step);
    }
}

static void int8_gemm(const struct dg_int8_gemm *g)
{
    size_t n0 = 0;
    for (; n0 + (INT8_PANELS - 1) * PANEL < g->n; n0 += INT8_PANELS * PANEL)
        run_panels(INT8_PANELS, g, n0);
    for (; n0 < g->n; n0 += PANEL)
        run_panels(1, g, n0);
}

static struct dg_int8_act int8_quantize(const float *x, size_t K, uint8_t *q)
{
    struct dg_int8_act act = {0, 0};
    vec max = v_zero(), minus_min = v_zero(), odd = v_zero(); /* odd: x - x is 0, or NaN */
    size_t k = 0;
    for (; k < K; k += VL) {
        vec v = K - k >= VL ? v_load(x + k) : v_load_part(x + k, v_first(K - k));
        max = v_max(max, v);
        minus_min = v_max(minus_min, v_sub(v_zero(), v));
        odd = v_add(odd, v_sub(v, v));
    }
    float low = v_largest(minus_min), range = v_largest(max) + low;
    if (isnan(v_sum(odd))) {
        act.scale = NAN;
        range = 0;
    }
    float inverse = range >= 1e-30f ? 127.0f / range : 0;
    if (range >= 1e-30f)
        act = (struct dg_int8_act){range / 127.0f, (int32_t)rintf(low * inverse)};
    for (k = 0; k < K; k += VL) {
        vec v = K - k >= VL ? v_load(x + k) : v_load_part(x + k, v_first(K - k));
        v_narrow(q + k, v_int_add(v_nearest(v_mul(v, v_all(inverse))), v_int((uint32_t)act.zero)));
    }
    return act;
}
