/* Rounding to bf16, in integers: compiled once for each instruction set (compilers make vectors of
 * it), the same bits from all. */
#ifndef DG_KERNELS_CPU_BF16_ROUND_H
#define DG_KERNELS_CPU_BF16_ROUND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Beyond the largest bf16 by half a step or more: infinity. A NaN stays one, quiet. */
static inline uint16_t bf16_nearest(uint32_t bits)
{
    uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}

static void bf16_round(const float *x, size_t K, uint16_t *q)
{
    for (size_t k = 0; k < K; k++) {
        uint32_t bits;
        memcpy(&bits, x + k, sizeof bits);
        q[k] = bf16_nearest(bits);
    }
    if (K % 2)
        q[K] = 0;
}

#endif
