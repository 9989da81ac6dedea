#include "weights/half.h"

#include <string.h>

static uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* value >> shift, rounded to nearest, ties to even; 1 <= shift <= 31. */
static uint32_t shift_round(uint32_t value, unsigned shift)
{
    uint32_t result = value >> shift, rest = value & ((1u << shift) - 1), half = 1u << (shift - 1);
    return result + (rest > half || (rest == half && (result & 1)));
}

uint16_t dg_f16_from_f32(float x)
{
    uint32_t u = bits_of(x), sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
    if (magnitude > 0x7f800000) /* NaN: keep the payload's top, set the quiet bit */
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 0x47800000) /* 2^16 and above, infinity */
        return (uint16_t)(sign | 0x7c00);
    /* Normal: rounding may correctly carry into the exponent, up to infinity. */
    if (magnitude >= 0x38800000)
        return (uint16_t)(sign | shift_round(magnitude - 0x38000000, 13));
    if (magnitude < 0x33000000) /* below 2^-25, half the smallest subnormal */
        return (uint16_t)sign;
    uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    unsigned shift = 126 - (magnitude >> 23); /* 14 .. 24: subnormal steps are 2^-24 */
    return (uint16_t)(sign | shift_round(mantissa, shift));
}

float dg_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 0x1f, mantissa = h & 0x3ff;
    if (exponent == 31)
        return float_of(sign | 0x7f800000 | mantissa << 13);
    if (exponent)
        return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
    float magnitude = (float)mantissa * 0x1p-24f;
    return sign ? -magnitude : magnitude;
}

uint16_t dg_bf16_from_f32(float x)
{
    uint32_t u = bits_of(x);
    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)shift_round(u, 16);
}

float dg_bf16_to_f32(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}
