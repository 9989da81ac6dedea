/* Quantising weights to s8 with a scale per output: what a quantised bundle holds. Any thread.
 * (Activations are quantised row by row while multiplying: int8.h.) */
#ifndef DG_KERNELS_CPU_QUANTIZE_H
#define DG_KERNELS_CPU_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Quantises rows[N,K] to q[N,K] in -127 .. 127 and scales[N]: q = rows / scale to nearest even. The
 * scale is max |row| / 127, or as much larger as pairing sums requires (DG_INT8_PAIRED in int8.h)
 * and, with steps DG_INT8_FINE_STEPS, fine activations require (DG_INT8_FINE). A row of zeros has
 * the scale 0. Returns false when a value is not finite. */
bool dg_quantize_rows(const float *rows, size_t N, size_t K, int steps, int8_t *q, float *scales);

/* Returns the relative error of the result: |rows - scale q| / |rows| (Frobenius), 0 for zeros. */
double dg_quantize_error(
    const float *rows, size_t N, size_t K, const int8_t *q, const float *scales);

#endif
