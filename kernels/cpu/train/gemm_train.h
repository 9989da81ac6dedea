/* Training's matrix products, on the calling thread: by OpenBLAS in fp32 (gemm_train.c, the only
 * place that knows a BLAS) or by vdpbf16ps or AMX over operands rounded to bf16 (gemm_bf16.c). Not
 * row-stable (contract 1): the server never links this. Same shapes, same bits. */
#ifndef DG_KERNELS_CPU_TRAIN_GEMM_TRAIN_H
#define DG_KERNELS_CPU_TRAIN_GEMM_TRAIN_H

#include "kernels/cpu/cpu.h"

struct dg_cpu_bf16;
struct dg_error;

/* The products of one type. A ctx belongs to one thread at a time. */
struct dg_gemm_train {
    /* y[M,N] = x[M,K] w[N,K]^T */
    dg_cpu_gemm_fn *forward;
    /* dx[M,K] = dy[M,N] w[N,K] */
    dg_cpu_gemm_fn *input;
    /* dw[N,K] = dy[M,N]^T x[M,K] */
    dg_cpu_gemm_fn *weight;
};

/* ctx: NULL. Call dg_gemm_fp32_init once before the others: it keeps the library from starting
 * threads of its own. */
extern const struct dg_gemm_train dg_gemm_fp32;
void dg_gemm_fp32_init(void);

/* ctx: from dg_gemm_bf16_open. Sums are fp32, over blocks of K one after the other. */
extern const struct dg_gemm_train dg_gemm_bf16;
struct dg_gemm_bf16;
int dg_gemm_bf16_open(
    const struct dg_cpu_bf16 *bf16, struct dg_gemm_bf16 **out, struct dg_error *err);
void dg_gemm_bf16_close(struct dg_gemm_bf16 *g); /* NULL is fine */

#endif
