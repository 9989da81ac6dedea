/* Shared by the tests of the ops: random data, buffers and weights from host arrays, every
 * instruction set in turn. Expected values are naive loops in double; EPS is the rounding unit of
 * fp32, and tolerances are multiples of it. */
#ifndef DG_TESTS_OPS_OPS_H
#define DG_TESTS_OPS_OPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/cpu/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPS 5.9604645e-8 /* 2^-24 */

static inline uint32_t ops_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* Uniform in -1 .. 1. */
static inline float ops_uniform(uint64_t *state)
{
    return (float)(ops_random(state) >> 8) / 8388608.0f - 1.0f;
}

static inline void *ops_memory(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        abort();
    return p;
}

static inline float *ops_floats(size_t n, uint64_t seed)
{
    float *x = ops_memory(n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = ops_uniform(&seed);
    return x;
}

/* True if this machine can run the instruction set. */
static inline bool ops_has_isa(const char *name)
{
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++)
        if (!strcmp(*isa, name))
            return true;
    return false;
}

static inline struct dg_backend *ops_open(const char *isa, int threads)
{
    struct dg_error err = {0};
    struct dg_backend *be;
    if (dg_cpu_open(&(struct dg_cpu_options){.isa = isa, .threads = threads}, &be, &err))
        fail_msg("%s", err.message);
    return be;
}

/* The kernels of an instruction set: several sets share those for fp32, or those for int8. */
static inline struct dg_cpu ops_kernels(const char *isa)
{
    struct dg_backend *be = ops_open(isa, 1);
    const struct dg_cpu kernels = *dg_cpu_of(be);
    dg_cpu_close(be);
    return kernels;
}

/* Makes a buffer of M rows, `ld` apart, filled from src[M,N] (NULL: zero) after `offset`
 * elements. */
static inline struct dg_rows ops_rows(
    struct dg_backend *be, const float *src, size_t M, size_t N, size_t offset, size_t ld)
{
    struct dg_rows r = {NULL, offset, ld};
    struct dg_error err = {0};
    if (be->ops->buf_new(be, offset + M * ld + N, &r.buf, &err))
        fail_msg("%s", err.message);
    if (src)
        be->ops->write(be, src, r, M, N);
    return r;
}

/* The CPU's trainable weights read memory that a test may own; a device's read only blocks of its
 * trainer, which the backward tests make. */
#ifdef DG_TEST_CUDA
enum { OPS_TRAINABLE = 0 };
#else
enum { OPS_TRAINABLE = 1 };
#endif

static inline struct dg_weight *ops_weight(
    struct dg_backend *be, unsigned use, size_t N, size_t K, const float *rows, bool trainable)
{
    struct dg_stored form = {DG_F32, DG_LAYOUT_ROWS, rows, NULL};
    struct dg_weight_spec spec = {"test.weight", use, N, K, trainable, &form, 1, .in_place = NULL};
    struct dg_error err = {0};
    struct dg_weight *w;
    if (be->ops->weight_new(be, &spec, &w, &err))
        fail_msg("%s", err.message);
    return w;
}

static inline void ops_near(
    const char *what, const char *isa, size_t i, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s, %s, element %zu: got %.9g, expected %.9g within %.3g", what, isa, i, got,
            want, tolerance);
}

/* Runs f with each instruction set of this machine, and prints which. */
static inline void ops_each_isa(const char *what, void (*f)(struct dg_backend *be, const char *isa))
{
#ifdef __aarch64__
    const char *const all[] = {"neoni8mm", "neondot", "neon", "generic"};
#else
    const char *const all[] = {"avx512vnni", "avx512", "avxvnni", "avx2", "generic"};
#endif
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const bool can = ops_has_isa(all[i]);
        printf("%s: %s %s\n", what, all[i],
            can ? "runs" : "is compiled, but this machine cannot run it");
        if (!can)
            continue;
        for (int threads = 1; threads <= 2; threads++) {
            struct dg_backend *be = ops_open(all[i], threads);
            f(be, all[i]);
            dg_cpu_close(be);
        }
    }
}

#endif
