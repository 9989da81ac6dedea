/* The vector of the simd_*.h bodies with NEON (any 64-bit ARM): 4 floats. Included by neon.c and
 * the int8_neon*.c only. Any thread. */
#ifndef DG_KERNELS_CPU_VEC_NEON_H
#define DG_KERNELS_CPU_VEC_NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    VL = 4,
    TILE_ROWS = 6,   /* rows of the matrix product's tile: 6 x 16 outputs in 24 of 32 registers */
    PANELS_MANY = 1, /* panels of a tile when there are several tiles */
    PANELS_ONE = 4,  /* of a lone row */
    PANELS_TWO = 2,  /* of two rows */
};

typedef float32x4_t vec;
typedef int32x4_t vec_int;
typedef struct {
    uint32x4_t lanes;
    size_t n;
} vec_mask;

/* A line for each wrapper that fits into one. */
/* clang-format off */
static inline vec v_zero(void) { return vdupq_n_f32(0); }
static inline vec v_all(float a) { return vdupq_n_f32(a); }
static inline vec v_load(const float *p) { return vld1q_f32(p); }
static inline void v_store(float *p, vec a) { vst1q_f32(p, a); }
/* fp16 to fp32 is exact; back, to the nearest, ties to even. */
static inline vec v_load_half(const uint16_t *p)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
static inline void v_store_half(uint16_t *p, vec a)
{
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(a)));
}
#define v_prefetch(at) __builtin_prefetch((const void *)(at), 0, 3)
static inline vec v_add(vec a, vec b) { return vaddq_f32(a, b); }
static inline vec v_sub(vec a, vec b) { return vsubq_f32(a, b); }
static inline vec v_mul(vec a, vec b) { return vmulq_f32(a, b); }
static inline vec v_div(vec a, vec b) { return vdivq_f32(a, b); }
static inline vec v_fma(vec a, vec b, vec c) { return vfmaq_f32(c, a, b); } /* a b + c */
static inline vec v_fnma(vec a, vec b, vec c) { return vfmsq_f32(c, a, b); } /* c - a b */
/* NaN: b, as on x86. */
static inline vec v_max(vec a, vec b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
static inline vec v_min(vec a, vec b) { return vbslq_f32(vcltq_f32(a, b), a, b); }

/* The first n < VL lanes. Lanes beyond are neither read nor written; loaded as zero. */
static inline vec_mask v_first(size_t n)
{
    static const uint32_t count[VL] = {0, 1, 2, 3};
    return (vec_mask){vcltq_u32(vld1q_u32(count), vdupq_n_u32((uint32_t)n)), n};
}
static inline vec v_load_part(const float *p, vec_mask m)
{
    float lane[VL] = {0};
    memcpy(lane, p, m.n * sizeof *lane);
    return v_load(lane);
}
static inline void v_store_part(float *p, vec_mask m, vec a)
{
    float lane[VL];
    v_store(lane, a);
    memcpy(p, lane, m.n * sizeof *lane);
}
static inline vec v_select(vec_mask m, vec a, vec b) { return vbslq_f32(m.lanes, a, b); }

/* a < b ? 0 : c */
static inline vec v_zero_below(vec a, vec b, vec c)
{
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(c), vcltq_f32(a, b)));
}
static inline vec v_round(vec a) { return vrndnq_f32(a); }
/* clang-format on */

/* a * 2^n, n whole and -126 .. 127 */
static inline vec v_scale(vec a, vec n)
{
    int32x4_t e = vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(n), vdupq_n_s32(127)), 23);
    return vmulq_f32(a, vreinterpretq_f32_s32(e));
}

/* a * 2^n for positive a, n the last bits of b = n + 1.5 * 2^23; exponents do not overflow */
static inline vec v_add_exponent(vec a, vec b)
{
    uint32x4_t n = vshlq_n_u32(vreinterpretq_u32_f32(b), 23);
    return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(a), n));
}
/* bit i: a[i] >= b[i] */
static inline uint32_t v_at_least(vec a, vec b)
{
    static const uint32_t bit[VL] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcgeq_f32(a, b), vld1q_u32(bit)));
}

/* first, first + 1, ... */
static inline vec_int v_count(uint32_t first)
{
    static const int32_t count[VL] = {0, 1, 2, 3};
    return vaddq_s32(vdupq_n_s32((int32_t)first), vld1q_s32(count));
}
/* clang-format off */
static inline vec_int v_int(uint32_t a) { return vdupq_n_s32((int32_t)a); }
static inline vec_int v_int_add(vec_int a, vec_int b) { return vaddq_s32(a, b); }
static inline vec_int v_int_mul(vec_int a, vec_int b) { return vmulq_s32(a, b); }
static inline vec_int v_int_xor(vec_int a, vec_int b) { return veorq_s32(a, b); }
static inline vec_int v_int_shift(vec_int a, int n)
{
    return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), vdupq_n_s32(-n)));
}
/* a >= b ? c : 0, for a, b < 2^31 */
static inline vec v_keep(vec_int a, vec_int b, vec c)
{
    return vreinterpretq_f32_u32(vandq_u32(vcgeq_s32(a, b), vreinterpretq_u32_f32(c)));
}

/* The sums of 8 vectors' lanes, in one order: neighbours, then pairs. */
static inline void v_sum8(const vec a[8], float out[8])
{
    v_store(out, vpaddq_f32(vpaddq_f32(a[0], a[1]), vpaddq_f32(a[2], a[3])));
    v_store(out + 4, vpaddq_f32(vpaddq_f32(a[4], a[5]), vpaddq_f32(a[6], a[7])));
}

static inline float v_sum(vec a) { return vaddvq_f32(a); }

static inline float v_largest(vec a) { return vmaxvq_f32(a); }
/* clang-format on */

/* The sum in double, of lanes that are partial sums themselves. */
static inline double v_sum_double(vec a)
{
    return vaddvq_f64(vaddq_f64(vcvt_f64_f32(vget_low_f32(a)), vcvt_high_f64_f32(a)));
}

#endif
