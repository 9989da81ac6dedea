/* binary16 as CUDA spells it, using the compiler's own type. */
#ifndef DG_EMU_CUDA_FP16_H
#define DG_EMU_CUDA_FP16_H

extern "C" {
#include "weights/half.h"
}

struct __half {
    uint16_t bits;
};

static inline float __half2float(__half x)
{
    return dg_f16_to_f32(x.bits);
}

static inline __half __float2half(float f)
{
    return {dg_f16_from_f32(f)};
}

static inline unsigned short __half_as_ushort(__half x)
{
    return x.bits;
}

static inline __half __ushort_as_half(unsigned short x)
{
    return {x};
}

struct __half2 {
    __half x, y;
};

static inline __half2 __floats2half2_rn(float x, float y)
{
    return {__float2half(x), __float2half(y)};
}

#endif
