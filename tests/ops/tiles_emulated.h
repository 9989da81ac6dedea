/* AMX's tiles in plain C, written from their published description, so that the bodies of
 * tiles_int8.h and tiles_bf16.h run on machines without them. Include a vec_emulated*.h first. */
#ifndef DG_TESTS_OPS_TILES_EMULATED_H
#define DG_TESTS_OPS_TILES_EMULATED_H

#include "tests/ops/vec_emulated_bf16.h"

static struct {
    size_t rows; /* of tiles 0 to 5; 0: no tiles are open */
    union {
        uint8_t bytes[16][64];
        int8_t signs[16][64];
        uint16_t halves[16][32];
        float floats[16][16];
        int32_t ints[16][16];
    } tile[8];
} emulated_amx;

EMULATED void tiles_see_memory(void)
{
}
EMULATED void tiles_open(size_t rows)
{
    assert_in_range(rows, 1, 16);
    assert_int_equal(emulated_amx.rows, 0);
    memset(&emulated_amx, 0, sizeof emulated_amx);
    emulated_amx.rows = rows;
}
EMULATED void tiles_close(void)
{
    assert_true(emulated_amx.rows > 0);
    emulated_amx.rows = 0;
}
EMULATED size_t tile_rows(int t)
{
    assert_true(emulated_amx.rows > 0);
    return t < 6 ? emulated_amx.rows : 16;
}
EMULATED void tile_zero(int t)
{
    memset(&emulated_amx.tile[t], 0, sizeof emulated_amx.tile[t]);
}
EMULATED void tile_load(int to, const void *from, long apart)
{
    for (size_t r = 0; r < tile_rows(to); r++)
        memcpy(emulated_amx.tile[to].bytes[r], (const char *)from + (long)r * apart, 64);
}
EMULATED void tile_store(int from, void *to, long apart)
{
    for (size_t r = 0; r < tile_rows(from); r++)
        memcpy((char *)to + (long)r * apart, emulated_amx.tile[from].bytes[r], 64);
}
EMULATED void tile_dot_int8(int sum, int x, int w)
{
    for (size_t m = 0; m < tile_rows(sum); m++)
        for (size_t n = 0; n < 16; n++)
            for (size_t k = 0; k < 64; k++)
                emulated_amx.tile[sum].ints[m][n] +=
                    emulated_amx.tile[x].bytes[m][k] *
                    emulated_amx.tile[w].signs[k / 4][n * 4 + k % 4];
}
EMULATED void tile_dot_bf16(int sum, int x, int w)
{
    for (size_t m = 0; m < tile_rows(sum); m++)
        for (size_t n = 0; n < 16; n++) {
            float half[2] = {0, 0}, *to = &emulated_amx.tile[sum].floats[m][n];
            for (size_t k = 0; k < 32; k++)
                half[k % 2] =
                    v_flushed(fmaf(v_no_denormal((uint32_t)emulated_amx.tile[x].halves[m][k] << 16),
                        v_no_denormal(
                            (uint32_t)emulated_amx.tile[w].halves[k / 2][n * 2 + k % 2] << 16),
                        half[k % 2]));
            *to = v_flushed(v_flushed(*to) + v_flushed(half[0] + half[1]));
        }
}

#endif
