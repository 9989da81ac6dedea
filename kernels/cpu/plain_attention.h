/* The plain kernels of attention and log-softmax; plain.c puts them into its table. Contracts:
 * isa.h. Any thread. */
#ifndef DG_KERNELS_CPU_PLAIN_ATTENTION_H
#define DG_KERNELS_CPU_PLAIN_ATTENTION_H

#include "kernels/cpu/isa.h"

void dg_plain_scores(const struct dg_attn_tile *t, const struct dg_kv *k, size_t j0, size_t n);
void dg_plain_weigh(const struct dg_attn_tile *t, const struct dg_kv *v, size_t j0, size_t n);
float dg_plain_max(const float *x, size_t n);
void dg_plain_exp_sum(float *s, size_t n, float max, float scale, float *sum);
void dg_plain_scale(float *s, size_t n, float a);
double dg_plain_sum_exp(const float *x, size_t n, float max, const float *next);
void dg_plain_run_max(const float *x, size_t n, size_t length, float *most);
size_t dg_plain_at_least(const float *x, size_t n, float low, uint32_t *at);
void dg_plain_widen(float *y, const uint16_t *x, size_t n);
void dg_plain_narrow(uint16_t *y, const float *x, size_t n);

#endif
