/* exp(x) for loops that the compiler vectorises: Cody-Waite reduction and Cephes' polynomial,
 * relative error below 2e-7 on [-87, 88]; below that it gives about 1e-38, above it exp(88). Any
 * thread. */
#ifndef DG_KERNELS_CPU_TRAIN_LOOPS_EXP_H
#define DG_KERNELS_CPU_TRAIN_LOOPS_EXP_H

#include <stdint.h>

static inline float loop_exp(float x)
{
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    /* 1.5 * 2^23: adding it rounds to the nearest integer and leaves that integer in the low
     * bits. */
    union {
        float f;
        uint32_t u;
    } t = {.f = x * 1.44269504088896341f + 12582912.0f}, power;
    float n = t.f - 12582912.0f;
    float r = x - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    float y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * r * r + r + 1.0f;
    power.u = (t.u - 0x4B400000u + 127u) << 23;
    return y * power.f;
}

#endif
