/* The bf16 product over tiles; a tiles_*.h, a vec_*.h and bf16_turn() come first. The panels of
 * bf16.h have the layout that tiles need for weights, 16 pairs of k at a time; dg_bf16_plain_tiles
 * (bf16_plain.c) is the definition. Two tiles of rows x two panels are summed over the whole of K,
 * so that four products need four loads. At K = 256 half the time is spent moving the fp32 outputs
 * into the caches: four panels at once, or four tiles of rows, are no faster
 * (bench/results/tried.md). Any thread. */
#include "kernels/cpu/bf16.h"

#include <string.h>

enum {
    TILE_ROWS_MOST = 16,
    TILE_PAIRS = 16,                               /* pairs of k in a tile */
    TILE_HALVES = TILE_ROWS_MOST * 2 * TILE_PAIRS, /* bf16 elements in a tile */
    TILE_OUTPUTS = 16,                             /* outputs of a panel */
    TILES_AT_ONCE = 2,                             /* tiles of rows; also panels */
};

/* A tile of rows: row r has its block k of 16 pairs at x + r * row + k * block. It writes y's rows
 * m + first .. m + rows - 1; the rows before `first` belong to another tile. */
struct bf16_tile {
    const uint16_t *x;
    size_t m, first, rows;
    /* [16,32] the last block if it has fewer pairs, padded with zeros */
    uint16_t rest[TILE_HALVES];
};

/* One or two tiles of rows; `height` rows of each are in registers. */
struct bf16_tiles {
    size_t n, row, block, height;
    struct bf16_tile tile[TILES_AT_ONCE];
};

/* Where a tile's sums are loaded from (g->add) and stored to: [tile of rows][panel], each [16,16],
 * rows `apart` bytes apart. */
struct bf16_out {
    float *tile[TILES_AT_ONCE][TILES_AT_ONCE];
    long apart;
};

/* Copies the last pairs of a panel, padded with zeros. */
static inline void bf16_take_rest(const struct dg_bf16_gemm *g, const uint16_t *panel, uint16_t *to)
{
    const size_t left = g->pairs % TILE_PAIRS, pair = (size_t)2 * TILE_OUTPUTS;
    memcpy(to, panel + (g->pairs - left) * pair, left * pair * sizeof *to);
    memset(to + left * pair, 0, (TILE_PAIRS - left) * pair * sizeof *to);
}

/* Returns tile i's block k of pairs: one of `whole` blocks, or the rest. */
static inline const uint16_t *bf16_block(
    const struct bf16_tiles *left, size_t i, size_t k, size_t whole)
{
    return k < whole ? left->tile[i].x + k * left->block : left->tile[i].rest;
}

/* Multiplies one or two tiles of rows by one or two panels, from w on. */
static inline __attribute__((always_inline)) void bf16_sum_tiles(const bool two_rows,
    const bool two_panels, const struct dg_bf16_gemm *g, const struct bf16_tiles *left,
    const uint16_t *w, uint16_t (*rest)[TILE_HALVES], const struct bf16_out *out)
{
    const size_t panel = g->pairs * 2 * TILE_OUTPUTS, whole = g->pairs / TILE_PAIRS;
    tile_zero(0);
    tile_zero(1);
    tile_zero(2);
    tile_zero(3);
    if (g->add) {
        tile_load(0, out->tile[0][0], out->apart);
        if (two_panels)
            tile_load(1, out->tile[0][1], out->apart);
        if (two_rows)
            tile_load(2, out->tile[1][0], out->apart);
        if (two_rows && two_panels)
            tile_load(3, out->tile[1][1], out->apart);
    }
    for (size_t k = 0; k < whole + (g->pairs % TILE_PAIRS > 0); k++) {
        const long apart = k < whole ? (long)(left->row * sizeof *w) : 64;
        tile_load(4, bf16_block(left, 0, k, whole), apart);
        tile_load(6, k < whole ? w + k * TILE_HALVES : rest[0], 64);
        tile_dot_bf16(0, 4, 6);
        if (two_panels) {
            tile_load(7, k < whole ? w + panel + k * TILE_HALVES : rest[1], 64);
            tile_dot_bf16(1, 4, 7);
        }
        if (two_rows) {
            tile_load(5, bf16_block(left, 1, k, whole), apart);
            tile_dot_bf16(2, 5, 6);
            if (two_panels)
                tile_dot_bf16(3, 5, 7);
        }
    }
    tile_store(0, out->tile[0][0], out->apart);
    if (two_panels)
        tile_store(1, out->tile[0][1], out->apart);
    if (two_rows)
        tile_store(2, out->tile[1][0], out->apart);
    if (two_rows && two_panels)
        tile_store(3, out->tile[1][1], out->apart);
}

static inline void bf16_sum(size_t panels, const struct dg_bf16_gemm *g,
    const struct bf16_tiles *left, const uint16_t *w, uint16_t (*rest)[TILE_HALVES],
    const struct bf16_out *out)
{
    tiles_see_memory();
    if (left->n == 2 && panels == 2)
        bf16_sum_tiles(true, true, g, left, w, rest, out);
    else if (left->n == 2)
        bf16_sum_tiles(true, false, g, left, w, rest, out);
    else if (panels == 2)
        bf16_sum_tiles(false, true, g, left, w, rest, out);
    else
        bf16_sum_tiles(false, false, g, left, w, rest, out);
}

/* Copies those of a tile's outputs that y has from column n on, between y and a local buffer. */
static inline void bf16_copy_part(
    const struct dg_bf16_gemm *g, const struct bf16_tile *rows, size_t n, bool to_y, float *part)
{
    const vec_mask some = v_first(g->n - n < VL ? g->n - n : VL);
    for (size_t r = rows->first; r < rows->rows; r++) {
        float *y = g->y + (rows->m + r) * g->ldy + n;
        if (to_y)
            v_store_part(y, some, v_load(part + r * TILE_OUTPUTS));
        else
            v_store(part + r * TILE_OUTPUTS, v_load_part(y, some));
    }
}

/* Tiles that are not whole are summed in a local buffer. */
static void bf16_sum_parts(size_t panels, const struct dg_bf16_gemm *g,
    const struct bf16_tiles *left, size_t n, const uint16_t *w, uint16_t (*rest)[TILE_HALVES])
{
    _Alignas(64) float part[TILES_AT_ONCE][TILES_AT_ONCE][TILE_ROWS_MOST * TILE_OUTPUTS];
    memset(part, 0, sizeof part);
    for (size_t i = 0; g->add && i < left->n * panels; i++)
        bf16_copy_part(g, &left->tile[i / panels], n + i % panels * TILE_OUTPUTS, false,
            part[i / panels][i % panels]);
    bf16_sum(panels, g, left, w, rest,
        &(struct bf16_out){{{part[0][0], part[0][1]}, {part[1][0], part[1][1]}}, 64});
    for (size_t i = 0; i < left->n * panels; i++)
        bf16_copy_part(g, &left->tile[i / panels], n + i % panels * TILE_OUTPUTS, true,
            part[i / panels][i % panels]);
}

/* Multiplies tiles of rows by all panels. */
static void bf16_multiply_tiles(const struct dg_bf16_gemm *g, const struct bf16_tiles *left)
{
    _Alignas(64) uint16_t rest[TILES_AT_ONCE][TILE_HALVES];
    bool whole = true;
    for (size_t i = 0; i < left->n; i++)
        whole = whole && left->tile[i].first == 0 && left->tile[i].rows == left->height;
    for (size_t n = 0, panels; n < g->n; n += panels * TILE_OUTPUTS) {
        const uint16_t *w = g->w + n * g->pairs * 2;
        panels = n + TILE_OUTPUTS < g->n ? 2 : 1;
        for (size_t p = 0; g->pairs % TILE_PAIRS && p < panels; p++)
            bf16_take_rest(g, w + p * g->pairs * 2 * TILE_OUTPUTS, rest[p]);
        if (!whole || n + panels * TILE_OUTPUTS > g->n) {
            bf16_sum_parts(panels, g, left, n, w, rest);
            continue;
        }
        struct bf16_out out = {.apart = (long)(g->ldy * sizeof *g->y)};
        for (size_t i = 0; i < left->n * panels; i++)
            out.tile[i / panels][i % panels] =
                g->y + left->tile[i / panels].m * g->ldy + n + i % panels * TILE_OUTPUTS;
        bf16_sum(panels, g, left, w, rest, &out);
    }
}

/* Makes a tile of `height` rows from m on. */
static inline void bf16_take_rows(
    const struct dg_bf16_gemm *g, size_t m, size_t height, struct bf16_tile *tile)
{
    const size_t pairs = g->pairs % TILE_PAIRS, whole = g->pairs - pairs;
    tile->x = g->x + m * g->ldx;
    tile->m = m;
    tile->rows = height;
    if (!pairs)
        return;
    memset(tile->rest, 0, sizeof tile->rest);
    for (size_t r = 0; r < height; r++)
        memcpy(tile->rest + r * 2 * TILE_PAIRS, tile->x + r * g->ldx + whole * 2,
            pairs * 2 * sizeof *tile->x);
}

/* Tiles of rows are equally high: 20 rows are 10 + 10. The last one begins early enough to be of
 * full height, and leaves out the rows that the one before it writes. */
static void tiles_bf16_gemm(const struct dg_bf16_gemm *g)
{
    if (!g->M)
        return;
    const size_t tiles = (g->M + TILE_ROWS_MOST - 1) / TILE_ROWS_MOST,
                 height = (g->M + tiles - 1) / tiles;
    _Alignas(64) struct bf16_tiles left;
    left.row = g->ldx;
    left.block = (size_t)2 * TILE_PAIRS;
    left.height = height;
    tiles_open(height);
    for (size_t t = 0; t < tiles; t += TILES_AT_ONCE) {
        left.n = tiles - t < TILES_AT_ONCE ? tiles - t : TILES_AT_ONCE;
        for (size_t i = 0; i < left.n; i++) {
            const size_t from = (t + i) * height, most = g->M - height,
                         m = from < most ? from : most;
            bf16_take_rows(g, m, height, &left.tile[i]);
            left.tile[i].first = from - m;
        }
        bf16_multiply_tiles(g, &left);
    }
    tiles_close();
}

/* Transposes a panel of rows: blocks of [16,32], the last one padded with zeros. */
static inline void bf16_turn_panel(
    const struct dg_bf16_gemm *g, const uint16_t *panel, uint16_t *blocks, uint16_t *last)
{
    uint16_t rest[TILE_HALVES];
    const size_t whole = g->pairs / TILE_PAIRS;
    for (size_t k = 0; k < whole; k++)
        bf16_turn(panel + k * TILE_HALVES, blocks + k * TILE_HALVES);
    if (g->pairs % TILE_PAIRS) {
        bf16_take_rest(g, panel, rest);
        bf16_turn(rest, last);
    }
}

/* The left matrix is in panels, which are transposed. Rows beyond M exist and are not written. */
static void tiles_bf16_gemm_turned(const struct dg_bf16_gemm *g)
{
    _Alignas(64) uint16_t rows[TILES_AT_ONCE][DG_BF16_TURNED_PAIRS / TILE_PAIRS * TILE_HALVES];
    _Alignas(64) struct bf16_tiles left;
    if (!g->M)
        return;
    left.row = (size_t)2 * TILE_PAIRS;
    left.block = TILE_HALVES;
    left.height = TILE_ROWS_MOST;
    tiles_open(TILE_ROWS_MOST);
    for (size_t m = 0; m < g->M;) {
        for (left.n = 0; left.n < TILES_AT_ONCE && m < g->M; left.n++) {
            struct bf16_tile *tile = &left.tile[left.n];
            bf16_turn_panel(g, g->x + m * g->pairs * 2, rows[left.n], tile->rest);
            tile->x = rows[left.n];
            tile->m = m;
            tile->first = 0;
            tile->rows = g->M - m < TILE_ROWS_MOST ? g->M - m : TILE_ROWS_MOST;
            m += TILE_ROWS_MOST;
        }
        bf16_multiply_tiles(g, &left);
    }
    tiles_close();
}
