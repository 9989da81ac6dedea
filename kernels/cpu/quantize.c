#include "kernels/cpu/quantize.h"

#include <math.h>

bool dg_quantize_rows(const float *rows, size_t N, size_t K, int8_t *q, float *scales)
{
    for (size_t n = 0; n < N; n++, rows += K, q += K) {
        float max = 0;
        for (size_t k = 0; k < K; k++) {
            if (!isfinite(rows[k]))
                return false;
            max = fabsf(rows[k]) > max ? fabsf(rows[k]) : max;
        }
        scales[n] = max / 127.0f;
        /* Divided rather than multiplied by a reciprocal, which overflows for the smallest scales. */
        for (size_t k = 0; k < K; k++) {
            float v = scales[n] > 0 ? rintf(rows[k] / scales[n]) : 0;
            q[k] = (int8_t)(v > 127 ? 127 : v < -127 ? -127 : v); /* the smallest scales are rounded a lot */
        }
    }
    return true;
}

double dg_quantize_error(const float *rows, size_t N, size_t K, const int8_t *q, const float *scales)
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
