/* bf16's product over the vector of the file that includes this (a vec_bf16_*.h first), 16 floats
 * wide. bf16_plain.c is the definition. A tile is MR rows x NP panels of 16 outputs in registers
 * over the whole of K: 16 sums, enough to hide vdpbf16ps's latency. Few rows walk four panels side
 * by side, because memory feeds several streams faster than one (measured for int8, simd_int8.h);
 * no prefetch, because none could be measured. A sum's chain is the same in every tile. */
#include "kernels/cpu/bf16.h"

enum { BF16_PANEL = 16, BF16_STREAMS = 4, BF16_FEW = 4, BF16_ROWS = 8, BF16_PANELS = 2 };
_Static_assert((int)VL == (int)BF16_PANEL, "a vector is a panel wide");

static inline __attribute__((always_inline)) void bf16_tile(
    const int MR, const int NP, const struct dg_bf16_gemm *g, size_t m0, size_t n0)
{
    const size_t panel = g->pairs * 2 * BF16_PANEL;
    const uint16_t *x = g->x + m0 * g->ldx, *w = g->w + n0 / BF16_PANEL * panel;
    vec acc[BF16_ROWS][BF16_STREAMS];
#pragma GCC unroll 8
    for (int r = 0; r < MR; r++)
#pragma GCC unroll 4
        for (int v = 0; v < NP; v++)
            acc[r][v] = v_zero();
    for (size_t k = 0; k < g->pairs; k++, x += 2, w += 2 * BF16_PANEL) {
        vec_pairs b[BF16_STREAMS];
#pragma GCC unroll 4
        for (int v = 0; v < NP; v++)
            b[v] = v_pairs(w + (size_t)v * panel);
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++) {
            vec_pairs a = v_pair(x + (size_t)r * g->ldx);
#pragma GCC unroll 4
            for (int v = 0; v < NP; v++)
                acc[r][v] = v_dot2(acc[r][v], a, b[v]);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < NP; v++) {
        size_t n = n0 + (size_t)v * VL;
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++) {
            float *y = g->y + (m0 + (size_t)r) * g->ldy + n;
            if (g->n - n >= VL)
                v_store(y, acc[r][v]);
            else
                v_store_part(y, v_first(g->n - n), acc[r][v]);
        }
    }
}

/* One call per height, so that each is compiled for its own. */
static inline __attribute__((always_inline)) void bf16_tile_rows(
    size_t rows, const int most, const int NP, const struct dg_bf16_gemm *g, size_t m0, size_t n0)
{
    switch (rows) {
/* clang-format off */
#define ROWS_CASE(r) \
    case r: \
        if (r <= most) \
            bf16_tile(r <= most ? r : 1, NP, g, m0, n0); \
        break;
        ROWS_CASE(1) ROWS_CASE(2) ROWS_CASE(3) ROWS_CASE(4)
        ROWS_CASE(5) ROWS_CASE(6) ROWS_CASE(7) ROWS_CASE(8)
#undef ROWS_CASE
        /* clang-format on */
    }
}

/* All rows against NP panels at a time, from column n0 on. Tiles share the rows evenly: 9 rows are
 * 5 + 4, not 8 + 1. Returns the first column not done. */
static inline __attribute__((always_inline)) size_t bf16_panels(
    const int most, const int NP, const struct dg_bf16_gemm *g, size_t n0)
{
    const size_t tiles = (g->M + (size_t)most - 1) / (size_t)most;
    for (; n0 + (size_t)(NP - 1) * BF16_PANEL < g->n; n0 += (size_t)NP * BF16_PANEL)
        for (size_t t = 0; t < tiles; t++) {
            size_t m0 = g->M * t / tiles, m1 = g->M * (t + 1) / tiles;
            bf16_tile_rows(m1 - m0, most, NP, g, m0, n0);
        }
    return n0;
}

static void bf16_gemm(const struct dg_bf16_gemm *g)
{
    if (g->M <= BF16_FEW)
        bf16_panels(BF16_FEW, 1, g, bf16_panels(BF16_FEW, BF16_STREAMS, g, 0));
    else
        bf16_panels(BF16_ROWS, 1, g, bf16_panels(BF16_ROWS, BF16_PANELS, g, 0));
}
