/* What simd_int8.h needs in addition to vec_neon.h: 16 bytes of weights at a time. INT8_DOTPROD:
 * sdot does a whole step (7-bit activations are valid signed bytes; fine ones are stored shifted
 * into that range). Any thread. */
#ifndef DG_KERNELS_CPU_VEC_INT8_NEON_H
#define DG_KERNELS_CPU_VEC_INT8_NEON_H

#include "kernels/cpu/int8.h"
#include "kernels/cpu/vec_neon.h"

enum { INT8_FINE_SHIFT = DG_INT8_FINE_SHIFT };

/* A tile's sums are a vector for each four outputs of a row. Without sdot two products of each
 * step need registers, too. */
#ifdef INT8_DOTPROD
enum { INT8_ROWS = 6, INT8_PANELS = 1, INT8_PAIRS = 0, INT8_FAR = 0 };
#else
enum { INT8_ROWS = 4, INT8_PANELS = 1, INT8_PAIRS = 1, INT8_FAR = 0 };
#endif

/* clang-format off */
static inline vec_int v_int_sub(vec_int a, vec_int b) { return vsubq_s32(a, b); }
static inline vec v_float(vec_int a) { return vcvtq_f32_s32(a); }
static inline vec_int v_nearest(vec a) { return vcvtnq_s32_f32(a); }
#define v_in_register(a) __asm__("" : "+w"(a))
static inline vec_int v_bytes(const int8_t *w) { return vreinterpretq_s32_s8(vld1q_s8(w)); }
/* clang-format on */

/* Broadcasts four bytes of activations to every lane. */
static inline vec_int v_four_bytes(const uint8_t *x)
{
    int32_t four;
    memcpy(&four, x, sizeof four);
    return vdupq_n_s32(four);
}

/* Lane i: sum + the products of its four activations and four weights, in int8.h's layout. */
static inline vec_int v_dot4(vec_int sum, vec_int x, vec_int w)
{
    const int8x16_t a = vreinterpretq_s8_s32(x), b = vreinterpretq_s8_s32(w);
#ifdef INT8_DOTPROD
    return vdotq_s32(sum, a, b);
#else
    const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(b)), high = vmull_high_s8(a, b);
    return vpadalq_s16(sum, vpaddq_s16(low, high)); /* two products fit 16 bits */
#endif
}

#ifdef INT8_DOTPROD
#define INT8_LANES
/* Activations of four groups; sdot takes them from a lane. */
static inline vec_int v_sixteen_bytes(const uint8_t *x)
{
    return vreinterpretq_s32_u8(vld1q_u8(x));
}

/* v_dot4 with group u of four. */
static inline __attribute__((always_inline)) vec_int v_dot4_lane(
    vec_int sum, vec_int x, int u, vec_int w)
{
    const int8x16_t a = vreinterpretq_s8_s32(x), b = vreinterpretq_s8_s32(w);
    switch (u) { /* the lane is encoded in the instruction */
    case 0: return vdotq_laneq_s32(sum, b, a, 0);
    case 1: return vdotq_laneq_s32(sum, b, a, 1);
    case 2: return vdotq_laneq_s32(sum, b, a, 2);
    default: return vdotq_laneq_s32(sum, b, a, 3);
    }
}
#endif

/* The same for two groups whose four products, which are added in 16 bits, cannot overflow them. */
static inline vec_int v_dot8(vec_int sum, vec_int x0, vec_int w0, vec_int x1, vec_int w1)
{
#ifdef INT8_DOTPROD
    return v_dot4(v_dot4(sum, x0, w0), x1, w1);
#else
    const int8x16_t a0 = vreinterpretq_s8_s32(x0), b0 = vreinterpretq_s8_s32(w0),
                    a1 = vreinterpretq_s8_s32(x1), b1 = vreinterpretq_s8_s32(w1);
    int16x8_t low = vmull_s8(vget_low_s8(a0), vget_low_s8(b0)), high = vmull_high_s8(a0, b0);
    low = vmlal_s8(low, vget_low_s8(a1), vget_low_s8(b1));
    high = vmlal_high_s8(high, a1, b1);
    return vpadalq_s16(sum, vpaddq_s16(low, high));
#endif
}

/* q[4] = the lanes, clamped to 0 .. steps; fine ones minus INT8_FINE_SHIFT. */
static inline void v_narrow(uint8_t *q, vec_int a, int steps)
{
    const int32_t shift = steps == DG_INT8_STEPS ? 0 : INT8_FINE_SHIFT;
    int32x4_t kept = vminq_s32(vmaxq_s32(a, vdupq_n_s32(0)), vdupq_n_s32(steps));
    kept = vsubq_s32(kept, vdupq_n_s32(shift));
    const int16x4_t words = vmovn_s32(kept);
    const int8x8_t bytes = vmovn_s16(vcombine_s16(words, words));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_s8(bytes), 0);
    memcpy(q, &four, sizeof four);
}

#endif
