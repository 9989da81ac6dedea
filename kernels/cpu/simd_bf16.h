/* The bf16 product at the vector width, 16 floats, of the file that includes this (a vec_bf16_*.h
 * first). bf16_plain.c is the definition. A tile is MR rows x NP panels of 16 outputs in registers
 * over the whole of K: 16 sums and more, enough to hide vdpbf16ps's latency. Up to eight rows walk
 * panels that are far apart, prefetched past the first-level cache, as int8 does (simd_int8.h): on
 * a Zen 4 core a tenth faster with one row, a third with eight. A sum's chain is the same in every
 * tile. Any thread. */
#include "kernels/cpu/bf16.h"

enum { BF16_PANEL = 16, BF16_STREAMS = 4, BF16_FEW = 4, BF16_ROWS = 8, BF16_PANELS = 2 };
_Static_assert((int)VL == (int)BF16_PANEL, "a vector is a panel wide");

/* Stores one vector of a tile's outputs, of which n exist; add: adds it to y. */
static inline __attribute__((always_inline)) void bf16_put(float *y, size_t n, bool add, vec sum)
{
    if (n >= VL) {
        v_store(y, add ? v_add(v_load(y), sum) : sum);
    } else {
        vec_mask some = v_first(n);
        v_store_part(y, some, add ? v_add(v_load_part(y, some), sum) : sum);
    }
}

/* A tile's rows: row r's pair k is at x + r * row + k * pair. */
struct bf16_rows {
    /* [MR,pairs,2] */
    const uint16_t *x;
    size_t row, pair;
};

/* Where a tile's outputs are: rows from m0 on, and panels from column n0 on, `apart` panels
 * apart. */
struct bf16_place {
    size_t m0, n0, apart;
};

static inline __attribute__((always_inline)) void bf16_tile(const int MR, const int NP,
    const size_t ahead, const struct dg_bf16_gemm *g, struct bf16_rows rows, struct bf16_place at)
{
    const size_t panel = at.apart * g->pairs * 2 * BF16_PANEL;
    const uint16_t *x = rows.x, *w = g->w + at.n0 * g->pairs * 2;
    vec acc[BF16_ROWS][BF16_STREAMS];
#pragma GCC unroll 8
    for (int r = 0; r < MR; r++)
#pragma GCC unroll 4
        for (int v = 0; v < NP; v++)
            acc[r][v] = v_zero();
    for (size_t k = 0; k < g->pairs; k++, x += rows.pair, w += 2 * BF16_PANEL) {
        vec_pairs b[BF16_STREAMS];
#pragma GCC unroll 4
        for (int v = 0; v < NP; v++)
            b[v] = v_pairs(w + (size_t)v * panel);
#pragma GCC unroll 4
        for (int v = 0; ahead && v < NP; v++)
            v_prefetch((uintptr_t)(w + (size_t)v * panel) + ahead);
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++) {
            vec_pairs a = v_pair(x + (size_t)r * rows.row);
#pragma GCC unroll 4
            for (int v = 0; v < NP; v++)
                acc[r][v] = v_dot2(acc[r][v], a, b[v]);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < NP; v++) {
        size_t n = at.n0 + (size_t)v * at.apart * VL;
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++) {
            float *y = g->y + (at.m0 + (size_t)r) * g->ldy + n;
            bf16_put(y, g->n - n, g->add, acc[r][v]);
        }
    }
}

/* One call per height, so that the compiler specialises each. */
static inline __attribute__((always_inline)) void bf16_tile_rows(size_t n, const int NP,
    const size_t ahead, const struct dg_bf16_gemm *g, struct bf16_rows rows, struct bf16_place at)
{
    switch (n) {
/* clang-format off */
#define ROWS_CASE(r) \
    case r: \
        bf16_tile(r, NP, ahead, g, rows, at); \
        break;
        ROWS_CASE(1) ROWS_CASE(2) ROWS_CASE(3) ROWS_CASE(4)
        ROWS_CASE(5) ROWS_CASE(6) ROWS_CASE(7) ROWS_CASE(8)
#undef ROWS_CASE
        /* clang-format on */
    }
}

/* All rows in one tile, whose NP panels are as far apart as possible (simd_int8.h says why) and are
 * prefetched past the first-level cache. Returns the first column not done. */
static inline __attribute__((always_inline)) size_t bf16_far(
    const int NP, const size_t ahead, const struct dg_bf16_gemm *g)
{
    const size_t apart = g->n / BF16_PANEL / (size_t)NP;
    for (size_t p = 0; p < apart; p++)
        bf16_tile_rows(g->M, NP, ahead, g, (struct bf16_rows){g->x, g->ldx, 2},
            (struct bf16_place){0, p * BF16_PANEL, apart});
    return apart * (size_t)NP * BF16_PANEL;
}

/* All rows against NP panels at a time, from column n0 on. Tiles share the rows evenly: 9 rows are
 * 5 + 4, not 8 + 1. Returns the first column not done. */
static inline __attribute__((always_inline)) size_t bf16_panels(
    const int NP, const struct dg_bf16_gemm *g, size_t n0)
{
    const size_t tiles = (g->M + BF16_ROWS - 1) / BF16_ROWS;
    for (; n0 + (size_t)(NP - 1) * BF16_PANEL < g->n; n0 += (size_t)NP * BF16_PANEL)
        for (size_t t = 0; t < tiles; t++) {
            size_t m0 = g->M * t / tiles, m1 = g->M * (t + 1) / tiles;
            const size_t ahead = t == 0 ? (size_t)NP * g->pairs * 4 * BF16_PANEL : 0;
            bf16_tile_rows(m1 - m0, NP, ahead, g, (struct bf16_rows){g->x + m0 * g->ldx, g->ldx, 2},
                (struct bf16_place){m0, n0, 1});
        }
    return n0;
}

/* As bf16_panels, with the left matrix in panels: a tile is half a panel of rows. */
static inline __attribute__((always_inline)) size_t bf16_turned(
    const int NP, const struct dg_bf16_gemm *g, size_t n0)
{
    for (; n0 + (size_t)(NP - 1) * BF16_PANEL < g->n; n0 += (size_t)NP * BF16_PANEL)
        for (size_t m0 = 0; m0 < g->M; m0 += BF16_ROWS) {
            const uint16_t *x =
                g->x + m0 / BF16_PANEL * BF16_PANEL * 2 * g->pairs + m0 % BF16_PANEL * 2;
            bf16_tile_rows(g->M - m0 < BF16_ROWS ? g->M - m0 : BF16_ROWS, NP, 0, g,
                (struct bf16_rows){x, 2, 2 * BF16_PANEL}, (struct bf16_place){m0, n0, 1});
        }
    return n0;
}

static void bf16_gemm_turned(const struct dg_bf16_gemm *g)
{
    bf16_turned(1, g, bf16_turned(BF16_PANELS, g, 0));
}

static void bf16_gemm(const struct dg_bf16_gemm *g)
{
    if (g->M <= BF16_FEW)
        bf16_panels(1, g, bf16_far(BF16_STREAMS, 2048, g));
    else if (g->M <= BF16_ROWS)
        bf16_panels(1, g, bf16_far(BF16_STREAMS - 1, 4096, g));
    else
        bf16_panels(1, g, bf16_panels(BF16_PANELS, g, 0));
}
