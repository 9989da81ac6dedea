/* Tiles of AMX for tiles_int8.h and tiles_bf16.h: eight registers of 16 rows of 64 bytes. Tiles 0
 * to 3 hold sums, 4 and 5 rows of activations, 6 and 7 weights, 16 outputs wide. A tile's number is
 * encoded in the instruction, so these are macros that take a literal digit.
 * tests/ops/tiles_emulated.h has the same in plain C. A thread's tiles are its own; the process
 * must have been allowed to use them (open.c). */
#ifndef DG_KERNELS_CPU_TILES_AMX_H
#define DG_KERNELS_CPU_TILES_AMX_H

#include <immintrin.h>
#include <stdint.h>

/* The operand of ldtilecfg. */
struct tiles_shape {
    uint8_t palette, start_row, reserved[14];
    /* bytes per row of each tile */
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* The compiler does not see what tile instructions read. This forces everything written before into
 * memory. */
static inline void tiles_see_memory(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Configures the tiles: those of sums and of activations get `rows` rows, 1 to 16. All are
 * zeroed. */
static inline void tiles_open(size_t rows)
{
    struct tiles_shape shape = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        shape.row_bytes[i] = 64;
        shape.rows[i] = i < 6 ? (uint8_t)rows : 16;
    }
    tiles_see_memory();
    _tile_loadconfig(&shape);
}

/* Releases the tiles: a thread without tiles in use is switched faster. */
static inline void tiles_close(void)
{
    _tile_release();
}

#define tile_zero(to) _tile_zero(to)
/* Rows are `apart` bytes apart. */
#define tile_load(to, from, apart) _tile_loadd(to, from, apart)
#define tile_store(from, to, apart) _tile_stored(from, to, apart)
/* sum[m][n] += the sum over k of x[m][k] w[k / 4][n][k % 4], k < 64: unsigned and signed bytes,
 * exactly. */
#define tile_dot_int8(sum, x, w) _tile_dpbusd(sum, x, w)
/* sum[m][n] += the sum over k of x[m][k] w[k / 2][n][k % 2], k < 32: even and odd k in separate
 * chains, each in order, then both. */
#define tile_dot_bf16(sum, x, w) _tile_dpbf16ps(sum, x, w)

#endif
