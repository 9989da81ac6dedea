/* Contract 1 on a device: every row of a product is, bit for bit, what it is alone, whatever the
 * number of rows; in every precision, at the shapes of the base model. cuBLASLt does not promise
 * it, so this must pass on each kind of device. The emulation, which has loops in its place, takes
 * a few small shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/emu/cuda.h"

struct shape {
    size_t N, K;
};

static const struct shape base[] = {{1536, 512}, {512, 512}, {1024, 512}, {2048, 512}, {512, 2048},
    {32000, 512}, {3072, 1024}, {4096, 1024}, {1024, 4096}},
                          small[] = {{48, 24}, {40, 64}};
static const size_t rows_of_base[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100,
    127, 128, 129, 255, 256, 257, 500, 512, 513, 1000, 1024, 1025},
                    rows_small[] = {1, 2, 7, 8, 9, 33};

static float *numbers(size_t n, uint64_t state)
{
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = (float)(state >> 40) / 8388608.0f - 1.0f;
    }
    return x;
}

static struct dg_weight *weight(
    struct dg_backend *be, unsigned use, size_t N, size_t K, uint64_t seed)
{
    float *x = numbers(N * K, seed);
    const struct dg_stored stored = {DG_F32, DG_LAYOUT_ROWS, x, NULL};
    const struct dg_weight_spec spec = {"w", use, N, K, false, &stored, 1};
    struct dg_weight *w;
    assert_int_equal(be->ops->weight_new(be, &spec, &w, NULL), 0);
    free(x);
    return w;
}

/* All M of one shape against the rows of the largest. Logits come in fp32. */
static void check_shape(
    struct dg_backend *be, struct shape s, const size_t *counts, size_t n_counts)
{
    const size_t most = counts[n_counts - 1], N = s.N, K = s.K;
    const bool wide = N > 30000;
    float *x = numbers(most * K, 5), *whole = malloc(most * N * sizeof *whole),
          *part = malloc(most * N * sizeof *part);
    struct dg_rows xr = {NULL, 0, K}, yr = {NULL, 0, N};
    struct dg_linear op = {.w = weight(be, DG_USE_MATRIX, N, K, 7),
        .bias = weight(be, DG_USE_VECTOR, 1, N, 9),
        .act = wide ? DG_ACT_NONE : DG_ACT_RELU};
    assert_int_equal(be->ops->buf_new(be, most * K, &xr.buf, NULL), 0);
    assert_int_equal(
        (wide ? be->ops->buf_new_wide : be->ops->buf_new)(be, most * N, &yr.buf, NULL), 0);
    be->ops->write(be, x, xr, most, K);
    be->ops->linear(be, &op, xr, yr, most);
    be->ops->read(be, yr, most, N, whole);
    for (size_t i = 0; i < n_counts; i++) {
        const size_t M = counts[i], first = (most - M) / 2; /* at another place, too */
        const struct dg_rows from = {xr.buf, first * K, K};
        be->ops->linear(be, &op, from, yr, M);
        be->ops->read(be, yr, M, N, part);
        for (size_t m = 0; m < M; m++)
            if (memcmp(part + m * N, whole + (first + m) * N, N * sizeof *part))
                fail_msg("%s: [%zu,%zu] x [%zu,%zu]: row %zu is not what it is among %zu", be->name,
                    M, K, N, K, m, most);
    }
    be->ops->weight_free(be, (struct dg_weight *)op.w);
    be->ops->weight_free(be, (struct dg_weight *)op.bias);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, yr.buf);
    free(x), free(whole), free(part);
}

static void check(void **state)
{
    const char *precision = *state;
    struct dg_backend *be = cuda_or_skip(precision);
    struct dg_error err = {0};
    const bool emulated = strstr(be->name, "emulated") != NULL;
    for (size_t i = 0; i < (emulated ? sizeof small / sizeof *small : sizeof base / sizeof *base);
         i++)
        check_shape(be, emulated ? small[i] : base[i], emulated ? rows_small : rows_of_base,
            emulated ? sizeof rows_small / sizeof *rows_small
                     : sizeof rows_of_base / sizeof *rows_of_base);
    if (be->ops->status(be, &err))
        fail_msg("%s", err.message);
    dg_device_close(be);
}

int main(void)
{
    return cuda_each_precision(check);
}
