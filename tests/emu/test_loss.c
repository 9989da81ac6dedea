/* The loss on a device in every precision, against sums in double: short and long rows, with and
 * without gaps between them, and logits that grow along the row; the gradient overwrites the
 * logits. */
#include "tests/ops/ops.h"

#include "kernels/train.h"
#include "tests/emu/cuda.h"

enum { M = 3 };

static const float scale = 0.5f, epsilon = 0.1f;

static struct dg_rows rows(struct dg_backend *be, size_t offset, size_t ld)
{
    struct dg_rows r = {NULL, offset, ld};
    struct dg_error err = {0};
    if (be->ops->buf_new(be, offset + M * ld, &r.buf, &err))
        fail_msg("%s", err.message);
    return r;
}

/* Computes a row's gradient and adds its loss to *sums. */
static void expect(
    const float *x, size_t V, size_t target, struct dg_loss_sums *sums, double *gradient)
{
    double top = -INFINITY, z = 0, sum = 0, n = 0;
    for (size_t i = 0; i < V; i++) {
        top = fmax(top, x[i]);
        sum += isinf(x[i]) ? 0 : x[i];
        n += !isinf(x[i]);
    }
    for (size_t i = 0; i < V; i++)
        z += exp(x[i] - top);
    for (size_t i = 0; i < V; i++)
        gradient[i] =
            isinf(x[i])
                ? 0
                : scale * (exp(x[i] - top) / z - epsilon / n - (i == target ? 1.0 - epsilon : 0.0));
    sums->nll += top + log(z) - x[target];
    sums->smoothed += top + log(z) - (1.0 - epsilon) * x[target] - epsilon / n * sum;
    sums->correct += x[target] == top;
}

/* Allows one rounding of the stored type besides fp32's own; a probability near one is the
 * difference of sums of that size, and fp16 has nothing finer than 2^-24. */
static void check_row(const char *precision, const float *got, const double *want, size_t V)
{
    const bool fp16 = !strcmp(precision, "fp16"), fp32 = !strcmp(precision, "fp32");
    const double relative = fp32 ? 5e-7 : fp16 ? 6e-4 : 5e-3, absolute = fp16 ? 1.2e-7 : 1e-7;
    for (size_t i = 0; i < V; i++)
        if (!(fabs(got[i] - want[i]) <= relative * fabs(want[i]) + absolute))
            fail_msg(
                "%s, %zu columns, column %zu: %g, expected %g", precision, V, i, got[i], want[i]);
}

/* Rows `offset` elements into their buffers, `ld` apart. */
static void check_rows(
    struct dg_train *train, const char *precision, size_t V, size_t offset, size_t ld)
{
    struct dg_backend *be = train->be;
    const int32_t target[M] = {0, (int32_t)(V / 2), (int32_t)V - 1};
    float *x = malloc(M * V * sizeof *x);
    double *want = malloc(V * sizeof *want);
    struct dg_loss_sums sums = {0}, expected = {0};
    struct dg_rows logits = rows(be, offset, ld);
    for (size_t i = 0; i < M * V; i++)
        x[i] = (float)(i * 7919 % 1009) / 100 - 5 + (float)(i % V) / (float)V * 4;
    x[V - 1 + (M - 1) * V] = 12; /* the last row's target is its largest */
    for (size_t m = 0; V > 4 && m < 2; m++)
        x[m * V + 2] = x[m * V + V - 1 - m] = -INFINITY; /* pieces that are excluded */
    be->ops->write(be, x, logits, M, V);
    be->ops->read(be, logits, M, V, x); /* rounded to the stored type */
    train->ops->loss(train, &(struct dg_loss){V, target, epsilon, scale, true}, logits, M, &sums);
    dg_train_sums(train, &sums);
    float *got = malloc(M * V * sizeof *got);
    be->ops->read(be, logits, M, V, got);
    for (size_t m = 0; m < M; m++) {
        expect(x + m * V, V, (size_t)target[m], &expected, want);
        check_row(precision, got + m * V, want, V);
    }
    assert_float_equal(sums.smoothed, expected.smoothed, 1e-5);
    assert_float_equal(sums.nll, expected.nll, 1e-5);
    assert_int_equal(sums.correct, expected.correct);
    assert_int_equal(sums.n, M);
    be->ops->buf_free(be, logits.buf);
    free(x), free(want), free(got);
}

static void check(void **state)
{
    const char *precision = *state;
    static const size_t sizes[] = {
        1, 3, 4, 60, 1111, 10240, 10244, 37000, 40960, 40961, 40964, 57000, 90003};
    struct dg_backend *be = cuda_or_skip(precision);
    struct dg_train *train;
    struct dg_error err = {0};
    assert_int_equal(dg_train_open(be, &train, &err), 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t V = sizes[i];
        check_rows(train, precision, V, 0, (V + 7) / 8 * 8);
        if (V < 2000)
            check_rows(train, precision, V, 8, (V + 31) / 16 * 16);
    }
    if (be->ops->status(be, &err))
        fail_msg("%s", err.message);
    dg_train_close(train);
    dg_device_close(be);
}

int main(void)
{
    return cuda_each_precision(check);
}
