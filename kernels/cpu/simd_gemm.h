/* The matrix product's body at the vector width of the file that includes this (vec_*.h first).
 * A tile is MR rows x NP panels of outputs in registers; per k it loads 16 NP weights and MR activations. Its chains
 * run over k in order; where K is cut, partial sums pass through memory unrounded, so the cut changes no bit.
 * Few rows (one tile): the weights are streamed once, whole K at a time. More rows: runs of K_BLOCK weights of a panel
 * (16 KiB) stay in the first-level cache while all rows pass by. */
#include "kernels/cpu/isa.h"

enum {
    PANEL = 16,
    PV = PANEL / VL,  /* vectors per panel row */
    K_BLOCK = 256,
    ROWS_MAX = 192, /* rows whose partial sums are held; more are done in turns */
};

/* Where a tile is: x[MR,kc], w[NP][kc][16], sums[MR,16 NP]. */
struct tile {
    const float *x;
    size_t ldx;
    const float *w;
    size_t panel; /* elements from one panel to the next */
    size_t kc;
    float *sum;   /* partial sums in; out */
    size_t lds;
    bool first;   /* nothing summed yet */
};

static inline __attribute__((always_inline)) void run_tile(const int MR, const int NP, const struct tile *t)
{
    vec acc[TILE_ROWS][8];
#pragma GCC unroll 16
    for (int r = 0; r < MR; r++)
#pragma GCC unroll 8
        for (int v = 0; v < NP * PV; v++)
            acc[r][v] = t->first ? v_zero() : v_load(t->sum + r * t->lds + v * VL);
    const float *w = t->w;
    for (size_t k = 0; k < t->kc; k++, w += PANEL) {
        vec b[8];
#pragma GCC unroll 8
        for (int v = 0; v < NP * PV; v++)
            b[v] = v_load(w + v / PV * t->panel + v % PV * VL);
#pragma GCC unroll 16
        for (int r = 0; r < MR; r++) {
            vec a = v_all(t->x[r * t->ldx + k]);
#pragma GCC unroll 8
            for (int v = 0; v < NP * PV; v++)
                acc[r][v] = v_fma(a, b[v], acc[r][v]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < MR; r++)
#pragma GCC unroll 8
        for (int v = 0; v < NP * PV; v++)
            v_store(t->sum + r * t->lds + v * VL, acc[r][v]);
}

/* One call per height, so that each is compiled for its own. */
static inline __attribute__((always_inline)) void run_tile_rows(size_t rows, const int NP, const struct tile *t)
{
    switch (rows) {
#define ROWS_CASE(n) \
    case n: \
        if (n <= TILE_ROWS) \
            run_tile(n <= TILE_ROWS ? n : 1, NP, t); \
        break;
        ROWS_CASE(1) ROWS_CASE(2) ROWS_CASE(3) ROWS_CASE(4) ROWS_CASE(5) ROWS_CASE(6)
        ROWS_CASE(7) ROWS_CASE(8) ROWS_CASE(9) ROWS_CASE(10) ROWS_CASE(11) ROWS_CASE(12)
#undef ROWS_CASE
    }
}

/* sums[rows,16 panels] to y's columns n0 .., of which there may be fewer. */
static void copy_sums(const struct dg_gemm *g, size_t m0, size_t rows, size_t n0, size_t panels, const float *sums)
{
    size_t width = panels * PANEL, n = g->n - n0 < width ? g->n - n0 : width;
    for (size_t r = 0; r < rows; r++) {
        float *y = g->y + (m0 + r) * g->ldy + n0;
        size_t i = 0;
        for (; i + VL <= n; i += VL)
            v_store(y + i, v_load(sums + r * width + i));
        for (; i < n; i++)
            y[i] = sums[r * width + i];
    }
}

/* Up to TILE_ROWS rows: one tile, whole K, NP panels at a time. Returns the first column not done. */
static inline __attribute__((always_inline)) size_t stream_panels(const int MR, const int NP, const struct dg_gemm *g,
    size_t n0)
{
    float sums[TILE_ROWS * 4 * PANEL]; /* [MR,16 NP] */
    size_t panel = g->K * PANEL;
    for (; n0 + (size_t)(NP - 1) * PANEL < g->n; n0 += (size_t)NP * PANEL) {
        struct tile t = { g->x, g->ldx, g->w + n0 * g->K, panel, g->K, sums, (size_t)NP * PANEL, true };
        run_tile(MR, NP, &t);
        copy_sums(g, 0, (size_t)MR, n0, (size_t)NP, sums);
    }
    return n0;
}

static inline __attribute__((always_inline)) void stream_rows(const int MR, const int NP, const struct dg_gemm *g)
{
    size_t n0 = stream_panels(MR, NP, g, 0);
    stream_panels(MR, 1, g, n0);
}

static void gemm_few(const struct dg_gemm *g)
{
    switch (g->M) {
#define ROWS_CASE(n, np) \
    case n: \
        if (n <= TILE_ROWS) \
            stream_rows(n <= TILE_ROWS ? n : 1, np, g); \
        break;
        ROWS_CASE(1, PANELS_1) ROWS_CASE(2, PANELS_2) ROWS_CASE(3, PANELS_3) ROWS_CASE(4, PANELS_MANY)
        ROWS_CASE(5, PANELS_MANY) ROWS_CASE(6, PANELS_MANY) ROWS_CASE(7, PANELS_MANY) ROWS_CASE(8, PANELS_MANY)
        ROWS_CASE(9, PANELS_MANY) ROWS_CASE(10, PANELS_MANY) ROWS_CASE(11, PANELS_MANY) ROWS_CASE(12, PANELS_MANY)
#undef ROWS_CASE
    }
}

/* Up to ROWS_MAX rows against np panels from column n0 on. Tiles share the rows evenly: 8 rows are 4 + 4, not 6 + 2. */
static inline __attribute__((always_inline)) void gemm_panels(const int NP, const struct dg_gemm *g, size_t m0,
    size_t rows, size_t n0)
{
    float sums[ROWS_MAX * PANELS_MANY * PANEL]; /* [rows,16 NP] */
    size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS, width = (size_t)NP * PANEL;
    for (size_t k0 = 0; k0 < g->K; k0 += K_BLOCK) {
        struct tile t = { .ldx = g->ldx, .w = g->w + n0 * g->K + k0 * PANEL, .panel = g->K * PANEL, .lds = width,
            .kc = g->K - k0 < K_BLOCK ? g->K - k0 : K_BLOCK, .first = k0 == 0 };
        for (size_t i = 0; i < tiles; i++) {
            size_t r0 = rows * i / tiles, r1 = rows * (i + 1) / tiles;
            t.x = g->x + (m0 + r0) * g->ldx + k0;
            t.sum = sums + r0 * width;
            run_tile_rows(r1 - r0, NP, &t);
        }
    }
    copy_sums(g, m0, rows, n0, (size_t)NP, sums);
}

static void gemm(const struct dg_gemm *g)
{
    if (g->M <= TILE_ROWS) {
        gemm_few(g);
        return;
    }
    for (size_t m0 = 0; m0 < g->M; m0 += ROWS_MAX) {
        size_t rows = g->M - m0 < ROWS_MAX ? g->M - m0 : ROWS_MAX, n0 = 0;
        for (; n0 + (PANELS_MANY - 1) * PANEL < g->n; n0 += PANELS_MANY * PANEL)
            gemm_panels(PANELS_MANY, g, m0, rows, n0);
        for (; n0 < g->n; n0 += PANEL)
            gemm_panels(1, g, m0, rows, n0);
    }
}
