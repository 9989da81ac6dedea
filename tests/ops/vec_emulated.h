/* The vector of the simd_*.h bodies in plain C at AVX-512's width, so that the body is exercised on
 * machines without it: a run with AVX-512 differs only in the instructions and a higher tile.
 * Functions are not inlined: otherwise sanitizers take minutes over the tiles. */
#ifndef DG_TESTS_OPS_VEC_EMULATED_H
#define DG_TESTS_OPS_VEC_EMULATED_H

#include "kernels/cpu/isa.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    VL = 16,
    TILE_ROWS = 3,
    PANELS_MANY = 2,
    PANELS_ONE = 4,
    PANELS_TWO = 3,
    INT8_FINE_SHIFT = 0,
    INT8_ROWS = 3,
    INT8_PANELS = 2,
    INT8_PAIRS = 1,
    INT8_FAR = 1
};

typedef struct {
    float lane[VL];
} vec;
typedef struct {
    int32_t lane[VL];
} vec_int;
typedef size_t vec_mask; /* number of leading lanes that are set */

#define EMULATED static __attribute__((noinline, unused))
#define EACH_LANE for (int i = 0; i < VL; i++)

EMULATED vec v_all(float a)
{
    vec r;
    EACH_LANE r.lane[i] = a;
    return r;
}
EMULATED vec v_zero(void)
{
    return v_all(0);
}
EMULATED vec_mask v_first(size_t n)
{
    return n;
}
EMULATED vec v_load_part(const float *p, vec_mask n)
{
    vec r = v_zero();
    memcpy(r.lane, p, n * sizeof *p);
    return r;
}
EMULATED vec v_load(const float *p)
{
    return v_load_part(p, VL);
}
EMULATED void v_store_part(float *p, vec_mask n, vec a)
{
    memcpy(p, a.lane, n * sizeof *p);
}
EMULATED void v_store(float *p, vec a)
{
    v_store_part(p, VL, a);
}
EMULATED vec v_load_half(const uint16_t *p)
{
    vec r;
    dg_cpu_plain.widen(r.lane, p, VL);
    return r;
}
EMULATED void v_store_half(uint16_t *p, vec a)
{
    dg_cpu_plain.narrow(p, a.lane, VL);
}
#define EMULATE(name, expression)                                                                  \
    EMULATED vec name(vec a, vec b)                                                                \
    {                                                                                              \
        EACH_LANE a.lane[i] = (expression);                                                        \
        return a;                                                                                  \
    }
EMULATE(v_add, a.lane[i] + b.lane[i])
EMULATE(v_sub, a.lane[i] - b.lane[i])
EMULATE(v_mul, a.lane[i] * b.lane[i])
EMULATE(v_div, a.lane[i] / b.lane[i])
EMULATE(v_max, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i])
EMULATE(v_min, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i])
EMULATE(v_scale, ldexpf(a.lane[i], (int)b.lane[i]))
#undef EMULATE
#define EMULATE(name, expression)                                                                  \
    EMULATED vec name(vec a, vec b, vec c)                                                         \
    {                                                                                              \
        EACH_LANE c.lane[i] = (expression);                                                        \
        return c;                                                                                  \
    }
EMULATE(v_fma, fmaf(a.lane[i], b.lane[i], c.lane[i]))
EMULATE(v_fnma, fmaf(-a.lane[i], b.lane[i], c.lane[i]))
EMULATE(v_zero_below, a.lane[i] < b.lane[i] ? 0 : c.lane[i])
#undef EMULATE
EMULATED vec v_add_exponent(vec a, vec b)
{
    vec r;
    EACH_LANE
    {
        uint32_t bits, n;
        memcpy(&bits, &a.lane[i], sizeof bits);
        memcpy(&n, &b.lane[i], sizeof n);
        bits += n << 23;
        memcpy(&r.lane[i], &bits, sizeof bits);
    }
    return r;
}
EMULATED uint32_t v_at_least(vec a, vec b)
{
    uint32_t bits = 0;
    EACH_LANE bits |= (uint32_t)(a.lane[i] >= b.lane[i]) << i;
    return bits;
}
EMULATED vec v_round(vec a)
{
    EACH_LANE a.lane[i] = rintf(a.lane[i]);
    return a;
}
EMULATED vec v_select(vec_mask n, vec a, vec b)
{
    EACH_LANE a.lane[i] = (size_t)i < n ? a.lane[i] : b.lane[i];
    return a;
}
EMULATED float v_largest(vec a)
{
    EACH_LANE a.lane[0] = a.lane[i] > a.lane[0] ? a.lane[i] : a.lane[0];
    return a.lane[0];
}
EMULATED float v_sum(vec a)
{
    float sum = 0;
    EACH_LANE sum += a.lane[i];
    return sum;
}
EMULATED void v_sum8(const vec *a, float *out)
{
    for (int i = 0; i < 8; i++)
        out[i] = v_sum(a[i]);
}
EMULATED double v_sum_double(vec a)
{
    double sum = 0;
    EACH_LANE sum += (double)a.lane[i];
    return sum;
}
EMULATED vec_int v_int(uint32_t a)
{
    vec_int r;
    EACH_LANE r.lane[i] = (int32_t)a;
    return r;
}
#define EMULATE(name, op)                                                                          \
    EMULATED vec_int name(vec_int a, vec_int b)                                                    \
    {                                                                                              \
        EACH_LANE a.lane[i] = (int32_t)((uint32_t)a.lane[i] op(uint32_t) b.lane[i]);               \
        return a;                                                                                  \
    }
EMULATE(v_int_add, +)
EMULATE(v_int_sub, -)
EMULATE(v_int_mul, *)
EMULATE(v_int_xor, ^)
#undef EMULATE
EMULATED vec_int v_int_shift(vec_int a, int n)
{
    EACH_LANE a.lane[i] = (int32_t)((uint32_t)a.lane[i] >> n);
    return a;
}
EMULATED vec_int v_count(uint32_t first)
{
    vec_int r;
    EACH_LANE r.lane[i] = (int32_t)(first + (uint32_t)i);
    return r;
}
EMULATED vec v_keep(vec_int a, vec_int b, vec c)
{
    EACH_LANE c.lane[i] = a.lane[i] >= b.lane[i] ? c.lane[i] : 0;
    return c;
}
EMULATED vec v_float(vec_int a)
{
    vec r;
    EACH_LANE r.lane[i] = (float)a.lane[i];
    return r;
}
EMULATED vec_int v_nearest(vec a)
{
    vec_int r;
    EACH_LANE r.lane[i] = (int32_t)rintf(a.lane[i]);
    return r;
}
#define v_prefetch(at) ((void)(at))
#define v_in_register(a) ((void)(a))
EMULATED vec_int v_bytes(const int8_t *w)
{
    vec_int r;
    memcpy(r.lane, w, sizeof r.lane);
    return r;
}
EMULATED vec_int v_four_bytes(const uint8_t *x)
{
    uint32_t four;
    memcpy(&four, x, sizeof four);
    return v_int(four);
}
EMULATED vec_int v_dot4(vec_int sum, vec_int x, vec_int w)
{
    EACH_LANE
    {
        uint8_t a[4];
        int8_t b[4];
        memcpy(a, &x.lane[i], 4);
        memcpy(b, &w.lane[i], 4);
        sum.lane[i] += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    }
    return sum;
}
/* The sums of four products really pass through 16 bits here. */
EMULATED vec_int v_dot8(vec_int sum, vec_int x0, vec_int w0, vec_int x1, vec_int w1)
{
    EACH_LANE
    {
        uint8_t a[8];
        int8_t b[8];
        memcpy(a, &x0.lane[i], 4);
        memcpy(a + 4, &x1.lane[i], 4);
        memcpy(b, &w0.lane[i], 4);
        memcpy(b + 4, &w1.lane[i], 4);
        int even = a[0] * b[0] + a[1] * b[1] + a[4] * b[4] + a[5] * b[5];
        int odd = a[2] * b[2] + a[3] * b[3] + a[6] * b[6] + a[7] * b[7];
        sum.lane[i] += (int16_t)even + (int16_t)odd;
    }
    return sum;
}
EMULATED void v_narrow(uint8_t *q, vec_int a, int steps)
{
    EACH_LANE q[i] = (uint8_t)(a.lane[i] < 0 ? 0 : a.lane[i] > steps ? steps : a.lane[i]);
}

#endif
