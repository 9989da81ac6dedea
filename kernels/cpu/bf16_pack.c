/* Packing of bf16 matrices (bf16.h). Portable C: runs once, at load. */
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/pack.h"

#include <string.h>

/* Packs one panel of n rows: whole pairs, then the last k of an odd K. */
static void pack_panel(const uint16_t *rows, size_t n, size_t K, uint16_t *panel)
{
    size_t whole = K / 2;
    if (n < DG_PANEL || K % 2)
        memset(panel, 0, dg_bf16_panel(K) * sizeof *panel);
    for (size_t g = 0; g < whole; g++)
        for (size_t i = 0; i < n; i++)
            memcpy(panel + (g * DG_PANEL + i) * 2, rows + i * K + g * 2, 2 * sizeof *rows);
    for (size_t i = 0; K % 2 && i < n; i++)
        panel[(whole * DG_PANEL + i) * 2] = rows[i * K + K - 1];
}

void dg_bf16_pack(const uint16_t *rows, size_t N, size_t K, uint16_t *packed)
{
    for (size_t n = 0; n < N; n += DG_PANEL)
        pack_panel(rows + n * K, N - n < DG_PANEL ? N - n : DG_PANEL, K,
            packed + n / DG_PANEL * dg_bf16_panel(K));
}

void dg_bf16_row(const uint16_t *packed, size_t n, size_t K, float *y)
{
    const uint16_t *row = packed + n / DG_PANEL * dg_bf16_panel(K) + n % DG_PANEL * 2;
    for (size_t k = 0; k < K; k++)
        dg_convert_floats(row, DG_BF16, k / 2 * DG_PANEL * 2 + k % 2, 1, y + k);
}
