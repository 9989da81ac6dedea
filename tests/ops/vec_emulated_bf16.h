/* vdpbf16ps in plain C over the emulated vector, written from its published description and not
 * from bf16_plain.c, so that simd_bf16.h's body runs on machines without the instruction. */
#ifndef DG_TESTS_OPS_VEC_EMULATED_BF16_H
#define DG_TESTS_OPS_VEC_EMULATED_BF16_H

#include "tests/ops/vec_emulated.h"

typedef struct {
    uint16_t lane[VL][2];
} vec_pairs;

EMULATED vec_pairs v_pairs(const uint16_t *w)
{
    vec_pairs r;
    memcpy(r.lane, w, sizeof r.lane);
    return r;
}
EMULATED vec_pairs v_pair(const uint16_t *x)
{
    vec_pairs r;
    EACH_LANE memcpy(r.lane[i], x, sizeof r.lane[i]);
    return r;
}
/* Replaces a denormal, as input or output, by a zero of its sign. */
EMULATED float v_no_denormal(uint32_t bits)
{
    float f;
    if (!(bits & 0x7F800000))
        bits &= 0x80000000;
    memcpy(&f, &bits, sizeof f);
    return f;
}
EMULATED float v_flushed(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return v_no_denormal(bits);
}
EMULATED vec v_dot2(vec sum, vec_pairs x, vec_pairs w)
{
    EACH_LANE for (int j = 1; j >= 0; j--)
    {
        float a = v_no_denormal((uint32_t)x.lane[i][j] << 16),
              b = v_no_denormal((uint32_t)w.lane[i][j] << 16);
        sum.lane[i] = v_flushed(fmaf(a, b, v_flushed(sum.lane[i])));
    }
    return sum;
}

#endif
