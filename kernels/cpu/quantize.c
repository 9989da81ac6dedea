#include "kernels/cpu/quantize.h"
#include "kernels/cpu/int8.h"

#include <math.h>

/* Divides rather than multiplying by a reciprocal, which would overflow for the smallest scales.
 * These have large rounding errors, too: hence the clamp. */
static void quantize_row(const float *row, size_t K, float scale, int8_t *q)
{
    for (size_t k = 0; k < K; k++) {
        float v = scale > 0 ? rintf(row[k] / scale) : 0;
        q[k] = (int8_t)(v > 127 ? 127 : v < -127 ? -127 : v);
    }
}

/* Returns the row's sums relative to their limits: 1 or less is within them. */
static float excess(const int8_t *q, size_t K, int steps)
{
    float paired = (float)dg_int8_pair_sum(q, K) / (float)DG_INT8_PAIRED;
    if (steps != DG_INT8_FINE_STEPS)
        return paired;
    float fine = (float)dg_int8_two_sum(q, K) / (float)DG_INT8_FINE;
    return fine > paired ? fine : paired;
}

bool dg_quantize_rows(const float *rows, size_t N, size_t K, int steps, int8_t *q, float *scales)
{
    for (size_t n = 0; n < N; n++, rows += K, q += K) {
        float max = 0;
        for (size_t k = 0; k < K; k++) {
            if (!isfinite(rows[k]))
                return false;
            max = fabsf(rows[k]) > max ? fabsf(rows[k]) : max;
        }
        scales[n] = max / 127.0f;
        quantize_row(rows, K, scales[n], q);
        /* Repeats with a scale larger by at least 0.4 % while a sum is above its limit, which
         * rounding can cause again. */
        for (float above; (above = excess(q, K, steps)) > 1;) {
            scales[n] = nextafterf(scales[n] * above, INFINITY);
            quantize_row(rows, K, scales[n], q);
        }
    }
    return true;
}

double dg_quantize_error(
    const float *rows, size_t N, size_t K, const int8_t *q, const float *scales)
{
    double error = 0, size = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t k = 0; k < K; k++) {
            double w = rows[n * K + k], d = w - (double)scales[n] * q[n * K + k];
            error += d * d;
            size += w * w;
        }
    return size > 0 ? sqrt(error / size) : 0;
}
