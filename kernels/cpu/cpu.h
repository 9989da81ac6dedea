/* The CPU backend. The instruction set is chosen once, at open: $DRAGOMAN_ISA or the machine's
 * best. x86 has generic|avx2|avxvnni|avx512|avx512vnni|avx512bf16|amx; ARM has
 * generic|neon|neondot|neoni8mm. Those with VNNI, amx, neondot and neoni8mm multiply int8 faster,
 * to the same bits; avx512bf16 is avx512vnni that multiplies bf16 weights as they are (bf16.h), and
 * amx does so in tiles. Any thread may open one; from then on one thread at a time, as backend.h
 * says. */
#ifndef DG_KERNELS_CPU_CPU_H
#define DG_KERNELS_CPU_CPU_H

#include "kernels/backend.h"

struct dg_cpu_options {
    /* NULL: $DRAGOMAN_ISA, else the best of this machine */
    const char *isa;
    /* cores one op may be split over; 0 = 1 */
    int threads;
    /* nice value of the threads that are started for this; 0: the opening thread's */
    int nice;
};

/* Opens a backend for one worker. DG_EUNSUP when the named set is unknown or this machine lacks
 * it. */
int dg_cpu_open(
    const struct dg_cpu_options *options, struct dg_backend **out, struct dg_error *err);
void dg_cpu_close(struct dg_backend *be); /* NULL is fine */

/* One of a layer's products in training, of M rows, N outputs and K inputs; rows of a, b and c are
 * lda, ldb and ldc apart. */
struct dg_train_gemm {
    size_t M, N, K;
    /* x[M,K] forward; dy[M,N] in the gradients */
    const float *a;
    size_t lda;
    /* w[N,K]; x[M,K] in the gradient of w */
    const float *b;
    size_t ldb;
    /* y[M,N] forward; the gradient dx[M,K] or dw[N,K] */
    float *c;
    size_t ldc;
    /* c += */
    bool add;
};

/* Sets the trainer's product: c[M,N] = a[M,K] b[N,K]^T over fp32 rows that change between calls.
 * Used for trainable weights only, where no translation depends on row stability. fn NULL restores
 * the plain loop. ctx is borrowed until close. */
typedef void dg_cpu_gemm_fn(void *ctx, const struct dg_train_gemm *g);
void dg_cpu_set_gemm(struct dg_backend *be, dg_cpu_gemm_fn *fn, void *ctx);

/* Sets the type that a trainer's products round their operands to; DG_F32 until this is called.
 * Whether the machine supports it is checked when the trainer opens (kernels/train.h). */
void dg_cpu_set_products(struct dg_backend *be, enum dg_type type);

/* The instruction sets this machine can run, NULL-ended, best first. Static storage. */
const char *const *dg_cpu_isas(void);
/* Returns the one that a backend uses whose options name none. Any thread. */
const char *dg_cpu_isa(void);

#endif
