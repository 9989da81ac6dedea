/* bfloat16 as CUDA spells it, rounding to nearest even. */
#ifndef DG_EMU_CUDA_BF16_H
#define DG_EMU_CUDA_BF16_H

#include <stdint.h>
#include <string.h>

struct __nv_bfloat16 {
    uint16_t bits;
};

static inline float __bfloat162float(__nv_bfloat16 x)
{
    uint32_t u = (uint32_t)x.bits << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline __nv_bfloat16 __float2bfloat16(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if (f != f)
        return {0x7FFF};
    u += 0x7FFFu + (u >> 16 & 1);
    return {(uint16_t)(u >> 16)};
}

static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x)
{
    return x.bits;
}

struct __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {__float2bfloat16(x), __float2bfloat16(y)};
}

#endif
