/* Packing of int8 matrices (int8.h). Portable C; where a bundle holds rows only, it runs once at load. */
#include "kernels/cpu/int8.h"

#include <string.h>

enum { PANEL = 16 };

/* One panel of n rows: whole groups by four bytes, then what is left of K. */
static void pack_panel(const int8_t *rows, size_t n, size_t K, int8_t *panel)
{
    size_t whole = K / 4, rest = K % 4;
    int32_t *sums = (int32_t *)(void *)(panel + dg_int8_groups(K) * 64);
    if (n < PANEL || rest)
        memset(panel, 0, dg_int8_groups(K) * 64);
    memset(sums, 0, PANEL * sizeof *sums);
    for (size_t g = 0; g < whole; g++)
        for (size_t i = 0; i < n; i++)
            memcpy(panel + g * 64 + i * 4, rows + i * K + g * 4, 4);
    for (size_t i = 0; i < n; i++) {
        memcpy(panel + whole * 64 + i * 4, rows + i * K + whole * 4, rest);
        int32_t sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += rows[i * K + k];
        sums[i] = sum;
    }
}

void dg_int8_pack(const int8_t *rows, size_t N, size_t K, void *packed)
{
    for (size_t n = 0; n < N; n += PANEL)
        pack_panel(rows + n * K, N - n < PANEL ? N - n : PANEL, K,
            (int8_t *)packed + n / PANEL * dg_int8_panel_bytes(K));
}

/* Element 0 of row n; four elements of a group lie together, groups 64 bytes apart. */
static const int8_t *row_at(const void *packed, size_t n, size_t K)
{
    return (const int8_t *)packed + n / PANEL * dg_int8_panel_bytes(K) + n % PANEL * 4;
}

void dg_int8_unpack(const void *packed, size_t N, size_t K, int8_t *rows)
{
    for (size_t n = 0; n < N; n++)
        for (size_t k = 0; k < K; k++)
            rows[n * K + k] = row_at(packed, n, K)[k / 4 * 64 + k % 4];
}

void dg_int8_row(const void *packed, size_t n, size_t K, float *y)
{
    const int8_t *row = row_at(packed, n, K);
    for (size_t k = 0; k < K; k++)
        y[k] = (float)row[k / 4 * 64 + k % 4];
}
