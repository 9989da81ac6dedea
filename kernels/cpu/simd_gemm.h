/* The matrix product's body at the vector width of the file that includes this (vec_*.h first).
 * A tile is MR rows x NP panels of outputs in registers; per k it loads 16 NP weights and MR
 * activations. Its chains run over k in order; where K is cut, partial sums pass through memory
 * unrounded, so no cut changes a bit. One or two rows: several panels side by side, over the whole
 * of K, because memory feeds several streams faster than one (28 GB/s against 18 on Zen 3). More
 * rows: a run of K_BLOCK k of a panel (16 KiB) stays in the first-level cache while all rows use
 * it, and the next run is prefetched meanwhile, so that memory and multiplications overlap. Any
 * thread. */
#include "kernels/cpu/isa.h"
#include "kernels/cpu/simd_stride.h"

enum {
    PANEL = 16,
    PV = PANEL / VL, /* vectors per panel row */
    K_BLOCK = 256,
    ROWS_MAX = 192,                 /* rows whose partial sums are held; more are done in turns */
    WINDOW = 65536,                 /* bytes of weights prefetched in four streams by a lone tile */
    TILE_VECTORS = PANELS_ONE * PV, /* vectors of a tile's row, at most */
};

/* A tile's operands: x[MR,kc], w[NP][kc][16], sum[MR,16 NP]. */
struct tile {
    const float *x;
    size_t ldx;
    const float *w;
    /* elements from one panel to the next */
    size_t panel;
    size_t kc;
    /* partial sums, in and out */
    float *sum;
    size_t lds;
    /* there are no partial sums yet */
    bool first;
    /* What is prefetched. FETCH_NEXT: `ahead`, which advances by `step` bytes each k. FETCH_WINDOW:
     * four lines each 4 k, `step` bytes apart; `ahead` then advances by a line. */
    uintptr_t ahead;
    size_t step;
};

enum fetch { FETCH_NONE, FETCH_NEXT, FETCH_WINDOW };

/* Addresses of the activations of the current k: rows 0, 4 and 8 of the tile, and the distance of
 * rows. */
struct rows {
    const float *x[3];
    struct stride stride;
};

static inline __attribute__((always_inline)) struct rows rows_of(const int MR, const struct tile *t)
{
    struct rows rows = {.stride = stride_of(t->ldx * sizeof(float))};
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        rows.x[i] = t->x + (MR > 4 * i ? 4 * (size_t)i * t->ldx : 0);
        __asm__("" : "+r"(rows.x[i])); /* keeps the compiler from deriving it from another */
    }
    return rows;
}

/* Adds one k to a tile's sums, and advances the rows to the next k. */
static inline __attribute__((always_inline)) void add_products(const int MR, const int NP,
    const struct tile *t, struct rows *rows, const float *w, vec acc[TILE_ROWS][TILE_VECTORS])
{
    stride_keep(&rows->stride);
    vec b[TILE_VECTORS];
#pragma GCC unroll 16
    for (int v = 0; v < NP * PV; v++)
        b[v] = v_load(w + (size_t)(v / PV) * t->panel + v % PV * VL);
#pragma GCC unroll 16
    for (int r = 0; r < MR; r++) {
        const char *x = (const char *)rows->x[r / 4] + stride_times(rows->stride, r % 4);
        vec a = v_all(*(const float *)(const void *)x);
#pragma GCC unroll 16
        for (int v = 0; v < NP * PV; v++)
            acc[r][v] = v_fma(a, b[v], acc[r][v]);
    }
#pragma GCC unroll 3
    for (int i = 0; 4 * i < MR; i++)
        rows->x[i]++;
}

/* MR, NP and fetch are constants where this is called. */
static inline __attribute__((always_inline)) void run_tile(
    const int MR, const int NP, const enum fetch fetch, const struct tile *t)
{
    vec acc[TILE_ROWS][TILE_VECTORS];
#pragma GCC unroll 16
    for (int r = 0; r < MR; r++)
#pragma GCC unroll 16
        for (int v = 0; v < NP * PV; v++)
            acc[r][v] = t->first ? v_zero() : v_load(t->sum + (size_t)r * t->lds + v * VL);
    const float *w = t->w;
    struct rows rows = rows_of(MR, t);
    size_t k = 0;
    uintptr_t ahead = t->ahead;
    for (; fetch == FETCH_WINDOW && k + 4 <= t->kc; ahead += 64) {
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++)
            v_prefetch(ahead + i * t->step);
        for (int u = 0; u < 4; u++, k++, w += PANEL)
            add_products(MR, NP, t, &rows, w, acc);
    }
    for (; k < t->kc; k++, w += PANEL, ahead += t->step) {
        /* Into the second-level cache: the first is full. */
#pragma GCC unroll 4
        for (int i = 0; fetch == FETCH_NEXT && i < NP; i++)
            __builtin_prefetch((const void *)(ahead + (size_t)i * t->panel * sizeof(float)), 0, 2);
        add_products(MR, NP, t, &rows, w, acc);
    }
#pragma GCC unroll 16
    for (int r = 0; r < MR; r++)
#pragma GCC unroll 16
        for (int v = 0; v < NP * PV; v++)
            v_store(t->sum + (size_t)r * t->lds + v * VL, acc[r][v]);
}

/* One call per height, so that the compiler specialises each. */
static inline __attribute__((always_inline)) void run_rows(
    size_t rows, const int NP, const enum fetch fetch, const struct tile *t)
{
    switch (rows) {
/* clang-format off */
#define ROWS_CASE(n) \
    case n: \
        if (n <= TILE_ROWS) \
            run_tile(n <= TILE_ROWS ? n : 1, NP, fetch, t); \
        break;
        ROWS_CASE(1) ROWS_CASE(2) ROWS_CASE(3) ROWS_CASE(4) ROWS_CASE(5) ROWS_CASE(6)
        ROWS_CASE(7) ROWS_CASE(8) ROWS_CASE(9) ROWS_CASE(10) ROWS_CASE(11) ROWS_CASE(12)
#undef ROWS_CASE
        /* clang-format on */
    }
}

/* Copies sums[rows,16 panels] to y's columns from n0 on, of which there may be fewer. */
static inline void copy_sums(
    const struct dg_gemm *g, size_t m0, size_t rows, size_t n0, size_t panels, const float *sums)
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

/* One or two rows: whole K, NP panels at a time. Returns the first column not done. */
static inline __attribute__((always_inline)) size_t stream_panels(
    const int MR, const int NP, const struct dg_gemm *g, size_t n0)
{
    float sums[2 * PANELS_ONE * PANEL]; /* [MR,16 NP] */
    for (; n0 + (size_t)(NP - 1) * PANEL < g->n; n0 += (size_t)NP * PANEL) {
        struct tile t = {.x = g->x,
            .ldx = g->ldx,
            .w = g->w + n0 * g->K,
            .panel = g->K * PANEL,
            .kc = g->K,
            .sum = sums,
            .lds = (size_t)NP * PANEL,
            .first = true};
        run_tile(MR, NP, FETCH_NONE, &t);
        copy_sums(g, 0, (size_t)MR, n0, (size_t)NP, sums);
    }
    return n0;
}

/* A lone tile uses one stream of weights faster than memory delivers it, so the next WINDOW bytes
 * are prefetched as four streams. At the end, where nothing is left, lines that are already cached
 * are touched. */
static inline void aim_window(const struct dg_gemm *g, size_t n0, size_t k0, struct tile *t)
{
    size_t at = (n0 * g->K + k0 * PANEL) * sizeof(float);
    size_t end = (g->n + PANEL - 1) / PANEL * PANEL * g->K * sizeof(float);
    size_t next = (at / WINDOW + 1) * WINDOW;
    t->step = next < end ? WINDOW / 4 : 0;
    t->ahead = next < end ? (uintptr_t)g->w + next + at % WINDOW / 4 : (uintptr_t)t->w;
}

/* With several tiles, each prefetches its share of the next run, of every panel. */
static inline void aim_next(const struct dg_gemm *g, const int NP, size_t n0, size_t k0, size_t i,
    size_t tiles, struct tile *t)
{
    bool last = k0 + t->kc == g->K;
    const float *next = last ? t->w - k0 * PANEL + (size_t)NP * t->panel : t->w + t->kc * PANEL;
    size_t bytes = t->kc * PANEL * sizeof(float);
    t->ahead = (uintptr_t)next + bytes * i / tiles;
    t->step = PANEL * sizeof(float) / tiles;
    if (last && n0 + (size_t)NP * PANEL >= g->n) {
        t->ahead = (uintptr_t)t->w;
        t->step = 0;
    }
}

/* Up to ROWS_MAX rows against NP panels from column n0 on. Tiles share the rows evenly: 8 rows are
 * 4 + 4, not 6 + 2. */
static inline __attribute__((always_inline)) void run_panels(
    const int NP, const struct dg_gemm *g, size_t m0, size_t rows, size_t n0)
{
    float sums[ROWS_MAX * PANELS_MANY * PANEL]; /* [rows,16 NP] */
    size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS, width = (size_t)NP * PANEL;
    for (size_t k0 = 0; k0 < g->K; k0 += K_BLOCK) {
        struct tile t = {.ldx = g->ldx,
            .w = g->w + n0 * g->K + k0 * PANEL,
            .panel = g->K * PANEL,
            .lds = width,
            .kc = g->K - k0 < K_BLOCK ? g->K - k0 : K_BLOCK,
            .first = k0 == 0};
        for (size_t i = 0; i < tiles; i++) {
            size_t r0 = rows * i / tiles, r1 = rows * (i + 1) / tiles;
            t.x = g->x + (m0 + r0) * g->ldx + k0;
            t.sum = sums + r0 * width;
            if (tiles == 1) {
                aim_window(g, n0, k0, &t);
                run_rows(r1 - r0, NP, FETCH_WINDOW, &t);
            } else {
                aim_next(g, NP, n0, k0, i, tiles, &t);
                run_rows(r1 - r0, NP, FETCH_NEXT, &t);
            }
        }
    }
    copy_sums(g, m0, rows, n0, (size_t)NP, sums);
}

static void gemm(const struct dg_gemm *g)
{
    if (g->M == 1) {
        stream_panels(1, 1, g, stream_panels(1, PANELS_ONE, g, 0));
        return;
    }
    if (g->M == 2) {
        stream_panels(2, 1, g, stream_panels(2, PANELS_TWO, g, 0));
        return;
    }
    for (size_t m0 = 0; m0 < g->M; m0 += ROWS_MAX) {
        size_t rows = g->M - m0 < ROWS_MAX ? g->M - m0 : ROWS_MAX, n0 = 0;
        if (rows > TILE_ROWS)
            for (; n0 + (PANELS_MANY - 1) * PANEL < g->n; n0 += PANELS_MANY * PANEL)
                run_panels(PANELS_MANY, g, m0, rows, n0);
        for (; n0 < g->n; n0 += PANEL)
            run_panels(1, g, m0, rows, n0);
    }
}
