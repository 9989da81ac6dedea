/* int8's bodies at the vector width of the file that includes this (a vec_*.h and a vec_int8_*.h
 * first). int8_plain.c is the definition. A tile is MR rows x NP panels of 16 outputs in registers,
 * over the whole of K: integer sums need no cut of K, and one panel (16 KB at K = 1024) stays in
 * the caches while all rows use it. Memory and the last-level cache feed four streams twice as fast
 * as one (Zen 3: 57 GB/s against 25 for a decoder's weights), so a lone row walks four panels side
 * by side, and a lone tile prefetches the next four panels while it works on the current four;
 * several tiles prefetch one panel ahead, a share each. On one Zen 3 core the base decoder's step
 * reads 29 GB/s with one row and computes 181 GOP/s from 8 rows on, with paired sums 216 (the
 * instructions alone: 197 and 249).
 * INT8_FAR: there are enough registers for up to eight rows to walk panels that are far apart, and
 * prefetches go to the second-level cache, past the first, which allows too few outstanding lines.
 * A Zen 4 core then reads a quarter faster with one row, half as fast again with four, and computes
 * a third more with eight (21 GB/s, 19 GB/s, 285 GOP/s; the caches alone: 390). Any thread. */
#include "kernels/cpu/simd_stride.h"
#include "kernels/cpu/simd_quantize.h"

enum {
    PANEL = 16,
    PV = PANEL / VL, /* vectors per panel */
    STREAMS = 4,
    WINDOW = 34000, /* largest panel, in bytes, of which four and the next four fit the caches */
    AHEAD = 3072,
    FAR_FEW = 4, /* most rows with which four far panels fit the registers; with more, three do */
    MOST_PANELS = INT8_PANELS > STREAMS ? INT8_PANELS : STREAMS,
};

/* What a tile prefetches. */
struct fetch {
    uintptr_t at;
    size_t step; /* bytes to advance per group of four k; 0: STREAMS panels, line by line */
    size_t lane; /* step 0: the panel that is next, in bytes */
};

/* Called once per `groups` groups of four k. */
static inline __attribute__((always_inline)) void prefetch(
    const int NP, const int groups, struct fetch *f, size_t panel)
{
    if (f->step) {
#pragma GCC unroll 8
        for (int i = 0; i < NP * groups; i++)
            v_prefetch(f->at + (size_t)(i % NP) * panel + (size_t)(i / NP) * f->step);
        f->at += (size_t)groups * f->step;
        return;
    }
#pragma GCC unroll 8
    for (int i = 0; i < NP * groups; i++)
        v_prefetch(f->at + f->lane + (size_t)i * panel);
    f->lane += (size_t)(NP * groups) * panel;
    if (f->lane == STREAMS * panel) {
        f->lane = 0;
        f->at += 64;
    }
}

/* A tile's progress over K: rows x and panels w from the next group of four k on. */
struct walk {
    /* [MR,4 groups], g->ldx apart */
    const uint8_t *x;
    /* [NP] panels, `panel` bytes apart */
    const int8_t *w;
    size_t panel;
    /* groups done */
    size_t k;
};

/* Adds two groups of four k at a time to the sums acc[MR][NP PV], while two are left. */
static inline __attribute__((always_inline)) void sum_pairs(const int MR, const int NP,
    const struct dg_int8_gemm *g, struct walk *t, struct fetch *f,
    vec_int acc[INT8_ROWS][MOST_PANELS * PV])
{
    for (; t->k + 2 <= g->groups; t->k += 2, t->x += 8, t->w += 128) {
        prefetch(NP, 2, f, t->panel);
        vec_int first[MOST_PANELS * PV];
#pragma GCC unroll 16
        for (int v = 0; v < NP * PV; v++) {
            first[v] = v_bytes(t->w + (size_t)(v / PV) * t->panel + v % PV * VL * 4);
            v_in_register(first[v]);
        }
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++) {
            vec_int a = v_four_bytes(t->x + (size_t)r * g->ldx),
                    b = v_four_bytes(t->x + (size_t)r * g->ldx + 4);
#pragma GCC unroll 16
            for (int v = 0; v < NP * PV; v++) {
                const int8_t *at = t->w + (size_t)(v / PV) * t->panel + v % PV * VL * 4;
                acc[r][v] = v_dot8(acc[r][v], a, first[v], b, v_bytes(at + 64));
            }
        }
    }
}

#ifdef INT8_LANES
/* The same with four groups at a time: one load of activations serves all four. */
static inline __attribute__((always_inline)) void sum_lanes(const int MR, const int NP,
    const struct dg_int8_gemm *g, struct walk *t, struct fetch *f,
    vec_int acc[INT8_ROWS][MOST_PANELS * PV])
{
    for (; t->k + 4 <= g->groups; t->k += 4, t->x += 16, t->w += 256) {
        vec_int a[INT8_ROWS];
        prefetch(NP, 4, f, t->panel);
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++)
            a[r] = v_sixteen_bytes(t->x + (size_t)r * g->ldx);
#pragma GCC unroll 4
        for (int u = 0; u < 4; u++)
#pragma GCC unroll 16
            for (int v = 0; v < NP * PV; v++) {
                vec_int b = v_bytes(t->w + u * 64 + (size_t)(v / PV) * t->panel + v % PV * VL * 4);
#pragma GCC unroll 8
                for (int r = 0; r < MR; r++)
                    acc[r][v] = v_dot4_lane(acc[r][v], a[r], u, b);
            }
    }
}
#endif

/* acc[MR][NP PV] = the sums of a tile over the whole of K; paired: by v_dot8. */
static inline __attribute__((always_inline)) void sum_tile(const int MR, const int NP,
    const bool paired, const struct dg_int8_gemm *g, struct walk t, struct fetch *f,
    vec_int acc[INT8_ROWS][MOST_PANELS * PV])
{
#pragma GCC unroll 8
    for (int r = 0; r < MR; r++)
#pragma GCC unroll 16
        for (int v = 0; v < NP * PV; v++)
            acc[r][v] = v_int(0);
    if (paired)
        sum_pairs(MR, NP, g, &t, f, acc);
#ifdef INT8_LANES
    sum_lanes(MR, NP, g, &t, f, acc);
#endif
    struct stride row = stride_of(g->ldx), panel = stride_of(t.panel);
    const uint8_t *fifth = t.x + (MR > 4 ? 4 * g->ldx : 0); /* the fifth row */
    __asm__("" : "+r"(fifth));
    for (; t.k < g->groups; t.k++, t.x += 4, fifth += 4, t.w += 64) {
        vec_int b[MOST_PANELS * PV];
        stride_keep(&row);
        stride_keep(&panel);
#pragma GCC unroll 16
        for (int v = 0; v < NP * PV; v++)
            b[v] = v_bytes(t.w + stride_times(panel, v / PV) + v % PV * VL * 4);
        prefetch(NP, 1, f, panel.one);
#pragma GCC unroll 8
        for (int r = 0; r < MR; r++) {
            vec_int a = v_four_bytes((r < 4 ? t.x : fifth) + stride_times(row, r % 4));
#pragma GCC unroll 16
            for (int v = 0; v < NP * PV; v++)
                acc[r][v] = v_dot4(acc[r][v], a, b[v]);
        }
    }
}

/* Finishes a vector of outputs from n on, of MR rows from m on; values that all rows share are
 * loaded once. */
static inline __attribute__((always_inline)) void finish_vectors(const int MR,
    const struct dg_int8_gemm *g, size_t m, size_t n, const vec_int *sums, size_t next,
    vec_int totals)
{
    const bool whole = g->n - n >= VL;
    const vec_mask part = whole ? v_first(1) : v_first(g->n - n);
    const vec scales = whole ? v_load(g->scales + n) : v_load_part(g->scales + n, part);
    const vec bias = !g->bias ? v_zero()
                     : whole  ? v_load(g->bias + n)
                              : v_load_part(g->bias + n, part);
    const bool biased = g->bias, relu = g->relu;
    const struct dg_int8_act *acts = g->acts + m;
    float *y = g->y + m * g->ldy + n;
    const size_t ldy = g->ldy;
#pragma GCC unroll 8
    for (int r = 0; r < MR; r++, y += ldy) {
        const struct dg_int8_act act = acts[r];
        vec f = v_float(
            v_int_sub(sums[(size_t)r * next], v_int_mul(totals, v_int((uint32_t)act.zero))));
        f = v_mul(f, v_mul(v_all(act.scale), scales));
        if (biased)
            f = v_add(f, bias);
        f = relu ? v_max(v_zero(), f) : f;
        if (whole)
            v_store(y, f);
        else
            v_store_part(y, part, f);
    }
}

static inline __attribute__((always_inline)) void run_tile(const int MR, const int NP,
    const struct dg_int8_gemm *g, size_t m0, size_t n0, size_t apart, struct fetch *f)
{
    const size_t panel = dg_int8_panel(g->groups);
    const int8_t *w = g->w + n0 / PANEL * panel;
    vec_int acc[INT8_ROWS][MOST_PANELS * PV];
    const struct walk start = {g->x + m0 * g->ldx, w, apart * panel, 0};
    if (INT8_PAIRS && g->paired)
        sum_tile(MR, NP, true, g, start, f, acc);
    else
        sum_tile(MR, NP, false, g, start, f, acc);
#pragma GCC unroll 16
    for (int v = 0; v < NP * PV; v++) {
        size_t n = n0 + (size_t)(v / PV) * apart * PANEL + (size_t)(v % PV) * VL;
        if (n >= g->n)
            break;
        vec_int totals =
            v_bytes(w + (size_t)(v / PV) * apart * panel + panel - 64 + v % PV * VL * 4);
        finish_vectors(MR, g, m0, n, &acc[0][v], MOST_PANELS * PV, totals);
    }
}

/* One call per height, so that the compiler specialises each. */
static inline __attribute__((always_inline)) void run_tile_rows(size_t rows, const int NP,
    const struct dg_int8_gemm *g, size_t m0, size_t n0, size_t apart, struct fetch *f)
{
    switch (rows) {
#define ROWS_CASE(n)                                                                               \
    case n:                                                                                        \
        if (n <= INT8_ROWS)                                                                        \
            run_tile(n <= INT8_ROWS ? n : 1, NP, g, m0, n0, apart, f);                             \
        break;
        ROWS_CASE(1)
        ROWS_CASE(2) ROWS_CASE(3) ROWS_CASE(4) ROWS_CASE(5) ROWS_CASE(6) ROWS_CASE(7) ROWS_CASE(8)
#undef ROWS_CASE
    }
}

/* What a lone tile prefetches: the four panels after the group of four that it is in, while there
 * are four more; else its own stream, AHEAD bytes before use. */
static inline struct fetch aim_lone(const struct dg_int8_gemm *g, size_t n0)
{
    const size_t panel = dg_int8_panel(g->groups), p = n0 / PANEL;
    size_t next = (p / STREAMS + 1) * STREAMS, n_panels = (g->n + PANEL - 1) / PANEL;
    if (panel > WINDOW || next + STREAMS > n_panels)
        return (struct fetch){(uintptr_t)(g->w + p * panel) + AHEAD, 64, 0};
    size_t done = p % STREAMS * (g->groups / STREAMS * 64); /* of each, by the tiles before */
    return (struct fetch){(uintptr_t)(g->w + next * panel) + done, 0, 0};
}

/* All rows against NP panels. Tiles share the rows evenly: 5 rows are 3 + 2, not 4 + 1. */
static inline __attribute__((always_inline)) void run_panels(
    const int NP, const struct dg_int8_gemm *g, size_t n0)
{
    const size_t panel = dg_int8_panel(g->groups), tiles = (g->M + INT8_ROWS - 1) / INT8_ROWS;
    struct fetch f = aim_lone(g, n0);
    if (tiles > 1)
        f = (struct fetch){
            (uintptr_t)(g->w + (n0 / PANEL + (size_t)NP) * panel), (64 + tiles - 1) / tiles, 0};
    for (size_t t = 0; t < tiles; t++) {
        size_t m0 = g->M * t / tiles, m1 = g->M * (t + 1) / tiles;
        run_tile_rows(m1 - m0, NP, g, m0, n0, 1, &f);
    }
}

/* One row, NP panels side by side; columns from n0 on. Returns the first one not done. */
static inline __attribute__((always_inline)) size_t stream_panels(
    const int NP, const bool paired, const struct dg_int8_gemm *g, size_t n0)
{
    const size_t panel = dg_int8_panel(g->groups);
    for (; n0 + (size_t)(NP - 1) * PANEL < g->n; n0 += (size_t)NP * PANEL) {
        const int8_t *first = g->w + n0 / PANEL * panel, *w = first;
        const uint8_t *x = g->x;
        vec_int acc[STREAMS * PV];
#pragma GCC unroll 16
        for (int v = 0; v < NP * PV; v++)
            acc[v] = v_int(0);
        size_t k = 0;
        for (; paired && k + 2 <= g->groups; k += 2, x += 8, w += 128) {
            vec_int a = v_four_bytes(x), b = v_four_bytes(x + 4);
#pragma GCC unroll 16
            for (int v = 0; v < NP * PV; v++) {
                const int8_t *at = w + (size_t)(v / PV) * panel + v % PV * VL * 4;
                acc[v] = v_dot8(acc[v], a, v_bytes(at), b, v_bytes(at + 64));
            }
        }
        for (; k < g->groups; k++, x += 4, w += 64) {
            vec_int a = v_four_bytes(x);
#pragma GCC unroll 16
            for (int v = 0; v < NP * PV; v++)
                acc[v] = v_dot4(acc[v], a, v_bytes(w + (size_t)(v / PV) * panel + v % PV * VL * 4));
        }
#pragma GCC unroll 16
        for (int v = 0; v < NP * PV; v++)
            if (n0 + (size_t)v * VL < g->n)
                finish_vectors(1, g, 0, n0 + (size_t)v * VL, &acc[v], 1,
                    v_bytes(first + (size_t)(v / PV + 1) * panel - 64 + v % PV * VL * 4));
    }
    return n0;
}

/* A lone tile whose NP panels are as far apart as possible: each stream of panels walks its own
 * share of the weights from end to end, a long stream that the hardware prefetcher follows. Returns
 * the first column not done. */
static inline __attribute__((always_inline)) size_t run_far(
    const int NP, const size_t ahead, const struct dg_int8_gemm *g)
{
    const size_t panel = dg_int8_panel(g->groups), apart = g->n / PANEL / (size_t)NP;
    for (size_t p = 0; p < apart; p++) {
        struct fetch f = {(uintptr_t)(g->w + p * panel) + ahead, 64, 0};
        run_tile_rows(g->M, NP, g, 0, p * PANEL, apart, &f);
    }
    return apart * (size_t)NP * PANEL;
}

static void int8_gemm(const struct dg_int8_gemm *g)
{
    size_t n0 = 0;
    if (INT8_FAR && g->M <= INT8_ROWS) {
        n0 = g->M <= FAR_FEW ? run_far(STREAMS, 2048, g) : run_far(STREAMS - 1, 4096, g);
        for (; n0 < g->n; n0 += PANEL)
            run_panels(1, g, n0);
        return;
    }
    if (g->M == 1) {
        if (INT8_PAIRS && g->paired)
            stream_panels(1, true, g, stream_panels(STREAMS, true, g, 0));
        else
            stream_panels(1, false, g, stream_panels(STREAMS, false, g, 0));
        return;
    }
    for (; n0 + (INT8_PANELS - 1) * PANEL < g->n; n0 += INT8_PANELS * PANEL)
        run_panels(INT8_PANELS, g, n0);
    for (; n0 < g->n; n0 += PANEL)
        run_panels(1, g, n0);
}
