/* The functions that dg_bf16_amx shares with dg_bf16_avx512: all but the products. Contracts:
 * bf16.h. Any thread. */
#ifndef DG_KERNELS_CPU_BF16_AVX512_H
#define DG_KERNELS_CPU_BF16_AVX512_H

#include "kernels/cpu/bf16.h"

void dg_bf16_avx512_round(const float *x, size_t K, uint16_t *q);
void dg_bf16_avx512_exps(struct dg_bf16_exps *rows);
void dg_bf16_avx512_pair(const float *const rows[2], size_t n, uint16_t *q, size_t apart);
void dg_bf16_avx512_turn(const uint32_t *from, size_t ld, size_t n, uint32_t *to, size_t ldt);

#endif
