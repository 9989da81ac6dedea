/* Shared by the tests of backward ops: random inputs on a device, gradients against central
 * differences of double-precision loops, each instruction set or device in turn. The objective is
 * sum(c * y) with random c. */
#ifndef DG_TESTS_OPS_GRADIENT_H
#define DG_TESTS_OPS_GRADIENT_H

#include "kernels/backend.h"
#include "kernels/cpu/cpu.h"
#include "kernels/train.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* fp32 ops against exact gradients: sums of at most some hundred terms of order 1 lose about 1e-6;
 * the tolerance is twenty times that. */
static const double TOLERANCE = 2e-5;

struct fixture {
    struct dg_backend *be;
    struct dg_train *train;
    uint64_t random;
    struct dg_weight *weights[16];
    struct dg_buf *bufs[32];
    float *blocks[16];
    int n_weights, n_bufs, n_blocks;
};

static inline double draw(struct fixture *f)
{
    f->random = f->random * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(f->random >> 40) / (1 << 23) - 1.0;
}

static inline double *array(struct fixture *f, size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)draw(f); /* exactly representable: both sides start from the same numbers */
    return x;
}

/* Makes rows on the device; x NULL for zeros. ld is wider than N, so that strides are tested. */
static inline struct dg_rows rows(struct fixture *f, const double *x, size_t M, size_t N)
{
    struct dg_rows r = {.offset = 3, .ld = N + 5};
    struct dg_error err = {0};
    assert_int_equal(f->be->ops->buf_new(f->be, M * r.ld + 3, &r.buf, &err), 0);
    f->bufs[f->n_bufs++] = r.buf;
    if (x) {
        float *host = malloc(M * N * sizeof *host);
        for (size_t i = 0; i < M * N; i++)
            host[i] = (float)x[i];
        f->be->ops->write(f->be, host, r, M, N);
        free(host);
    }
    return r;
}

static inline void fetch(struct fixture *f, struct dg_rows r, size_t M, size_t N, float *out)
{
    f->be->ops->read(f->be, r, M, N, out);
}

/* Makes a trainable weight over a block; x NULL for zeros. */
static inline struct dg_weight *weight(
    struct fixture *f, const double *x, size_t N, size_t K, unsigned use, float **block)
{
    struct dg_error err = {0};
    float *p;
    assert_int_equal(f->train->ops->block_new(f->train, N * K, &p, &err), 0);
    f->blocks[f->n_blocks++] = p;
    for (size_t i = 0; x && i < N * K; i++) {
        float v = (float)x[i];
        f->train->ops->block_write(f->train, p + i, &v, 1);
    }
    struct dg_stored stored = {DG_F32, DG_LAYOUT_ROWS, p, NULL};
    struct dg_weight_spec spec = {.name = "w",
        .use = use,
        .N = N,
        .K = K,
        .trainable = true,
        .stored = &stored,
        .n_stored = 1};
    struct dg_weight *w;
    assert_int_equal(f->be->ops->weight_new(f->be, &spec, &w, &err), 0);
    f->weights[f->n_weights++] = w;
    if (block)
        *block = p;
    return w;
}

static inline void release(struct fixture *f)
{
    while (f->n_weights)
        f->be->ops->weight_free(f->be, f->weights[--f->n_weights]);
    while (f->n_bufs)
        f->be->ops->buf_free(f->be, f->bufs[--f->n_bufs]);
    while (f->n_blocks)
        f->train->ops->block_free(f->train, f->blocks[--f->n_blocks]);
}

typedef double objective(void *ctx);

/* Compares got[n] with (f(x + h) - f(x - h)) / 2h. */
static inline void check(
    const char *what, objective *f, void *ctx, double *x, size_t n, const float *got)
{
    const double h = 1e-5;
    for (size_t i = 0; i < n; i++) {
        double keep = x[i];
        x[i] = keep + h;
        double up = f(ctx);
        x[i] = keep - h;
        double down = f(ctx);
        x[i] = keep;
        double want = (up - down) / (2 * h);
        if (fabs(got[i] - want) > TOLERANCE * (1 + fabs(want)))
            fail_msg("%s[%zu]: %.8g, by differences %.8g", what, i, (double)got[i], want);
    }
}

/* check() for a parameter's gradient, which is in a block. */
static inline void check_block(struct fixture *f, const char *what, objective *o, void *ctx,
    double *x, size_t n, const float *block)
{
    float *host = malloc(n * sizeof *host);
    assert_non_null(host);
    f->train->ops->block_read(f->train, block, n, host);
    check(what, o, ctx, x, n, host);
    free(host);
}

static inline float element(struct fixture *f, const float *block, size_t i)
{
    float x;
    f->train->ops->block_read(f->train, block + i, 1, &x);
    return x;
}

static inline double kept(const struct dg_dropout *d, size_t m, uint32_t e)
{
    if (!d)
        return 1;
    return dg_dropout_keep(d->row_key[m] ^ d->site, e, d->p) ? 1 / (1 - (double)d->p) : 0;
}

static const uint32_t keys[64] = {
    11, 222, 3333, 44444, 555555, 6666666, 77777777, 888888888, 99, 1010, 111111, 1212};

#ifdef DG_TEST_CUDA /* tests/emu builds these tests again for CUDA */
#include "tests/emu/cuda.h"

static inline void each_isa(void (*test)(struct fixture *f))
{
    struct fixture f = {.random = 7, .be = cuda_or_skip("fp32")};
    struct dg_error err = {0};
    assert_int_equal(dg_train_open(f.be, &f.train, &err), 0);
    print_message("  on %s\n", f.be->name);
    test(&f);
    assert_int_equal(f.be->ops->status(f.be, &err), 0);
    dg_train_close(f.train);
    dg_device_close(f.be);
}
#else
static inline void each_isa(void (*test)(struct fixture *f))
{
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++) {
        struct fixture f = {.random = 7};
        struct dg_error err = {0};
        struct dg_cpu_options o = {.isa = *isa, .threads = 1};
        assert_int_equal(dg_cpu_open(&o, &f.be, &err), 0);
        assert_int_equal(dg_cpu_train_open(f.be, &f.train, &err), 0);
        print_message("  on %s\n", f.be->name);
        test(&f);
        dg_cpu_train_close(f.train);
        dg_cpu_close(f.be);
    }
}
#endif

#define EACH(name)                                                                                 \
    static void name##_all(void **state)                                                           \
    {                                                                                              \
        (void)state;                                                                               \
        each_isa(test_##name);                                                                     \
    }

#endif
