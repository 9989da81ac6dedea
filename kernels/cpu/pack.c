/* Conversion of stored elements to fp32 and packing into panels of 16 outputs. Portable C: runs
 * once, at load. */
#include "kernels/cpu/pack.h"

#include <string.h>

size_t dg_pack_elements(size_t N, size_t K)
{
    return (N + DG_PANEL - 1) / DG_PANEL * DG_PANEL * K;
}

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* IEEE half to float, exact. A multiplication adjusts the exponent, which also handles
 * subnormals. */
static float float_of_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, rest = (uint32_t)(h & 0x7FFFu) << 13;
    if ((h & 0x7C00u) == 0x7C00u) /* infinity and NaN keep an all-ones exponent */
        return float_of_bits(sign | 0x7F800000u | rest);
    float scaled = float_of_bits(rest) * 0x1p112f;
    uint32_t bits;
    memcpy(&bits, &scaled, sizeof bits);
    return float_of_bits(sign | bits);
}

void dg_convert_floats(const void *data, enum dg_type type, size_t first, size_t n, float *y)
{
    switch (type) {
    case DG_F32: memcpy(y, (const float *)data + first, n * sizeof *y); return;
    case DG_F16:
        for (size_t i = 0; i < n; i++)
            y[i] = float_of_half(((const uint16_t *)data)[first + i]);
        return;
    case DG_BF16:
        for (size_t i = 0; i < n; i++)
            y[i] = float_of_bits((uint32_t)((const uint16_t *)data)[first + i] << 16);
        return;
    case DG_S8:
        for (size_t i = 0; i < n; i++)
            y[i] = (float)((const int8_t *)data)[first + i];
        return;
    }
}

/* Packs columns k0 .. k0 + n - 1 of panel p: reads 16 rows in runs, and writes them transposed
 * within 1 KiB. */
static void pack_block(
    const struct dg_stored *rows, size_t N, size_t K, size_t p, size_t k0, size_t n, float *panel)
{
    float run[16];
    for (size_t i = 0; i < DG_PANEL; i++) {
        size_t row = p * DG_PANEL + i;
        float scale = row < N && rows->type == DG_S8 ? rows->scales[row] : 1.0f;
        if (row < N)
            dg_convert_floats(rows->data, rows->type, row * K + k0, n, run);
        else
            memset(run, 0, sizeof run);
        for (size_t k = 0; k < n; k++)
            panel[(k0 + k) * DG_PANEL + i] = run[k] * scale;
    }
}

void dg_pack_panels(const struct dg_stored *rows, size_t N, size_t K, float *panels)
{
    for (size_t p = 0; p * DG_PANEL < N; p++)
        for (size_t k0 = 0; k0 < K; k0 += 16)
            pack_block(rows, N, K, p, k0, K - k0 < 16 ? K - k0 : 16, panels + p * DG_PANEL * K);
}
