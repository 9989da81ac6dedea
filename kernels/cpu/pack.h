/* DG_LAYOUT_PANEL16: an [N,K] matrix cut into panels of 16 outputs, each k-major:
 *     panel[p][k][i] = matrix[16 p + i][k],   p < ceil(N/16), k < K, i < 16,
 * and zero where 16 p + i >= N. One panel is 16 K elements in a row, so that a matrix product reads
 * the weights once, in order, with 16 outputs side by side in its registers. Elements keep the
 * matrix's type. Data is 64-byte aligned. Any thread. */
#ifndef DG_KERNELS_CPU_PACK_H
#define DG_KERNELS_CPU_PACK_H

#include "kernels/backend.h"

enum { DG_PANEL = 16 };

/* Elements of the packed form of [N,K]. */
size_t dg_pack_elements(size_t N, size_t K);

/* Packs rows[N,K] of any stored type (scales[N] for DG_S8) into fp32 panels. */
void dg_pack_panels(const struct dg_stored *rows, size_t N, size_t K, float *panels);

/* y[n] = the fp32 values of elements first .. first + n - 1 of row-major data, without scales. */
void dg_convert_floats(const void *data, enum dg_type type, size_t first, size_t n, float *y);

#endif
