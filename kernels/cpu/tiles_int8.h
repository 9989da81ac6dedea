/* The int8 product over tiles (a tiles_*.h and simd_int8.h first): the panels of int8.h have the
 * layout that tiles need for weights, 16 groups of four k at a time. Two tiles of rows x two panels
 * are summed over the whole of K, so that four products need four loads. Tiles of rows are equally
 * high; the last one begins early enough to be of full height, and writes a few rows once more, to
 * the same bits. Any thread. */

enum {
    TILE_GROUPS = 16,     /* groups of four k in a tile */
    TILE_BYTES = 16 * 64, /* bytes of weights in a tile */
    TILE_PANELS = 2,      /* panels at a time */
};

/* The rest of each panel after its whole tiles of K, padded with zeros. */
struct int8_rest {
    int8_t w[TILE_PANELS][TILE_BYTES];
};

static inline void int8_take_rest(const struct dg_int8_gemm *g, const int8_t *w, int8_t *rest)
{
    const size_t whole = g->groups / TILE_GROUPS * TILE_GROUPS, left = g->groups - whole;
    memcpy(rest, w + whole * 64, left * 64);
    memset(rest + left * 64, 0, TILE_BYTES - left * 64);
}

/* Sums of one or two tiles of rows, from x on, and one or two panels, from w on, into sums[row
 * tile][panel][16][16]. */
static inline __attribute__((always_inline)) void int8_sum_tiles(const bool two_rows,
    const bool two_panels, const struct dg_int8_gemm *g, const uint8_t *const x[2], const int8_t *w,
    const struct int8_rest *rest, int32_t sums[2][TILE_PANELS][16 * 16])
{
    const size_t panel = dg_int8_panel(g->groups), whole = g->groups / TILE_GROUPS;
    const long apart = (long)g->ldx;
    tile_zero(0);
    tile_zero(1);
    tile_zero(2);
    tile_zero(3);
    for (size_t k = 0; k < whole + (g->groups % TILE_GROUPS > 0); k++) {
        const int8_t *first = k < whole ? w + k * TILE_BYTES : rest->w[0],
                     *second = k < whole ? w + panel + k * TILE_BYTES : rest->w[1];
        tile_load(4, x[0] + k * 64, apart);
        tile_load(6, first, 64);
        tile_dot_int8(0, 4, 6);
        if (two_panels) {
            tile_load(7, second, 64);
            tile_dot_int8(1, 4, 7);
        }
        if (two_rows) {
            tile_load(5, x[1] + k * 64, apart);
            tile_dot_int8(2, 5, 6);
            if (two_panels)
                tile_dot_int8(3, 5, 7);
        }
    }
    tile_store(0, sums[0][0], 64);
    if (two_panels)
        tile_store(1, sums[0][1], 64);
    if (two_rows)
        tile_store(2, sums[1][0], 64);
    if (two_rows && two_panels)
        tile_store(3, sums[1][1], 64);
}

/* Finishes the outputs of `rows` rows from m on, of the panel from column n on. */
static inline void int8_finish_tile(
    const struct dg_int8_gemm *g, size_t rows, size_t m, size_t n, const int32_t *sums)
{
    const int8_t *totals = g->w + n / PANEL * dg_int8_panel(g->groups) + g->groups * 64;
    for (size_t v = 0; v < PV && n + v * VL < g->n; v++)
        finish_vectors((int)rows, g, m, n + v * VL, (const vec_int *)(const void *)sums + v, PV,
            v_bytes(totals + v * VL * 4));
}

static void tiles_int8_gemm(const struct dg_int8_gemm *g)
{
    const size_t tiles = (g->M + 15) / 16, rows = (g->M + tiles - 1) / tiles,
                 panel = dg_int8_panel(g->groups);
    _Alignas(64) int32_t sums[2][TILE_PANELS][16 * 16];
    _Alignas(64) struct int8_rest rest;
    tiles_open(rows);
    for (size_t n = 0; n < g->n; n += TILE_PANELS * PANEL) {
        const int8_t *w = g->w + n / PANEL * panel;
        const bool two_panels = n + PANEL < g->n;
        if (g->groups % TILE_GROUPS) {
            int8_take_rest(g, w, rest.w[0]);
            if (two_panels)
                int8_take_rest(g, w + panel, rest.w[1]);
            tiles_see_memory();
        }
        for (size_t t = 0; t < tiles; t += 2) {
            const bool two_rows = t + 1 < tiles;
            const size_t m[2] = {t * rows < g->M - rows ? t * rows : g->M - rows,
                (t + 1) * rows < g->M - rows ? (t + 1) * rows : g->M - rows};
            const uint8_t *const x[2] = {g->x + m[0] * g->ldx, g->x + m[1] * g->ldx};
            if (two_rows && two_panels)
                int8_sum_tiles(true, true, g, x, w, &rest, sums);
            else if (two_rows)
                int8_sum_tiles(true, false, g, x, w, &rest, sums);
            else if (two_panels)
                int8_sum_tiles(false, true, g, x, w, &rest, sums);
            else
                int8_sum_tiles(false, false, g, x, w, &rest, sums);
            for (size_t r = 0; r < 1 + (size_t)two_rows; r++)
                for (size_t p = 0; p < 1 + (size_t)two_panels; p++)
                    int8_finish_tile(g, rows, m[r], n + p * PANEL, sums[r][p]);
        }
    }
    tiles_close();
}
