/* Quantising a row at the vector width of the file that includes this (a vec_*.h and a vec_int8_*.h
 * first). int8_plain.c is the definition. Four vectors at a time, so that no chain's latency sets
 * the pace; maxima and minima are the same in any order. Any thread. */
#include "kernels/cpu/int8.h"

#include <math.h>

/* What a row's scale is computed from. */
struct spread {
    float low, high; /* -minimum and maximum, both at least 0 */
    bool finite;
};

/* Loads the last vector of a row [K], a partial one. */
static inline vec load_rest(const float *x, size_t k, size_t K)
{
    return v_load_part(x + k, v_first(K - k));
}

#ifndef INT8_NARROW4
/* q[4 VL] = the lanes of four vectors, as v_narrow writes them. */
static inline void v_narrow4(uint8_t *q, const vec_int a[4], int steps)
{
    for (size_t u = 0; u < 4; u++)
        v_narrow(q + u * VL, a[u], steps);
}
#endif

static inline struct spread find_spread(const float *x, size_t K)
{
    vec max[4], min[4], odd[4]; /* odd: NaN after a value that is not finite, else 0 */
    for (int u = 0; u < 4; u++)
        max[u] = min[u] = odd[u] = v_zero();
    size_t k = 0;
    for (; k + 4 * VL <= K; k += 4 * VL)
#pragma GCC unroll 4
        for (size_t u = 0; u < 4; u++) {
            vec v = v_load(x + k + u * VL);
            max[u] = v_max(max[u], v);
            min[u] = v_min(min[u], v);
            odd[u] = v_fma(v, v_zero(), odd[u]);
        }
    for (; k < K; k += VL) {
        vec v = K - k >= VL ? v_load(x + k) : load_rest(x, k, K);
        max[0] = v_max(max[0], v);
        min[0] = v_min(min[0], v);
        odd[0] = v_fma(v, v_zero(), odd[0]);
    }
    const vec least = v_min(v_min(min[0], min[1]), v_min(min[2], min[3]));
    return (struct spread){v_largest(v_sub(v_zero(), least)),
        v_largest(v_max(v_max(max[0], max[1]), v_max(max[2], max[3]))),
        !isnan(v_sum(v_add(v_add(odd[0], odd[1]), v_add(odd[2], odd[3]))))};
}

static struct dg_int8_act int8_quantize(const float *x, size_t K, int steps, uint8_t *q)
{
    struct dg_int8_act act = {0, 0};
    const struct spread s = find_spread(x, K);
    float range = s.high + s.low;
    if (!s.finite) {
        act.scale = NAN;
        range = 0;
    }
    float inverse = range >= 1e-30f ? (float)steps / range : 0;
    if (range >= 1e-30f)
        act = (struct dg_int8_act){range / (float)steps, (int32_t)rintf(s.low * inverse)};
    const vec factor = v_all(inverse);
    const vec_int zero = v_int((uint32_t)act.zero);
    size_t k = 0;
    for (; k + 4 * VL <= K; k += 4 * VL) {
        vec_int a[4];
#pragma GCC unroll 4
        for (size_t u = 0; u < 4; u++)
            a[u] = v_int_add(v_nearest(v_mul(v_load(x + k + u * VL), factor)), zero);
        v_narrow4(q + k, a, steps);
    }
    for (; k < K; k += VL) {
        vec v = K - k >= VL ? v_load(x + k) : load_rest(x, k, K);
        v_narrow(q + k, v_int_add(v_nearest(v_mul(v, factor)), zero), steps);
    }
    if (steps != DG_INT8_STEPS)
        act.zero -= INT8_FINE_SHIFT;
    return act;
}
