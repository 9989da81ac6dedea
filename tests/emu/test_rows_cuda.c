/* Contract 1 on a device: every row of a product is, bit for bit, what it is alone, whatever the
 * number of rows; in every precision, at the shapes of the base and big models. cuBLASLt does not
 * promise this, so the test must pass on each kind of device. A loop in double over the same
 * rounded operands checks that the rows are right. The log shows that the library has an algorithm
 * for each of these shapes; without one, our own slow kernel would pass in its place. All failures
 * are printed. The emulation, which replaces the library by loops, uses small shapes. */
#include "tests/ops/ops.h"

#include "tests/emu/cuda.h"
#include "weights/half.h"

#include <unistd.h>

struct shape {
    size_t N, K;
    bool wide; /* fp32 results in every precision, no ReLU: logits */
};

static const struct shape base[] = {{1536, 512, false}, {512, 512, false}, {1024, 512, false},
    {2048, 512, false}, {512, 2048, false}, {32000, 512, true}, {3072, 1024, false},
    {4096, 1024, false}, {1024, 4096, false}, {6144, 512, false}, {12288, 1024, false}},
                          small[] = {{48, 24, false}, {40, 64, false}, {56, 64, true}};
static const size_t rows_of_base[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100,
    127, 128, 129, 255, 256, 257, 500, 512, 513, 1000, 1024, 1025},
                    rows_small[] = {1, 2, 7, 8, 9, 33};

struct test {
    struct dg_backend *be;
    const char *precision;
    double unit;        /* largest relative error of rounding to it */
    bool emulated, own; /* own: DRAGOMAN_CUDA_GEMM=own selects our kernel */
    const size_t *counts;
    size_t n_counts, failed, plans; /* plans: algorithms named in the log */
};

/* One shape's product: y[M,N] = act(x[M,K] w[N,K]^T + b[N]). */
struct product {
    struct shape s;
    size_t most;      /* rows */
    float *x, *w, *b; /* rounded as on the device */
    struct dg_linear op;
    struct dg_rows xr, yr;
};

/* Rounds to the precision, as the device does. */
static void narrow(const struct test *t, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (t->unit == 0x1p-11)
            x[i] = dg_f16_to_f32(dg_f16_from_f32(x[i]));
        else if (t->unit == 0x1p-8)
            x[i] = dg_bf16_to_f32(dg_bf16_from_f32(x[i]));
}

static void open_product(struct test *t, struct product *p)
{
    const size_t N = p->s.N, K = p->s.K;
    struct dg_backend *be = t->be;
    p->most = t->counts[t->n_counts - 1];
    p->x = ops_floats(p->most * K, 5), p->w = ops_floats(N * K, 7), p->b = ops_floats(N, 9);
    p->op = (struct dg_linear){.w = ops_weight(be, DG_USE_MATRIX, N, K, p->w, false),
        .bias = ops_weight(be, DG_USE_VECTOR, 1, N, p->b, false),
        .act = p->s.wide ? DG_ACT_NONE : DG_ACT_RELU};
    p->xr = ops_rows(be, p->x, p->most, K, 0, K);
    p->yr.ld = N;
    assert_int_equal(
        (p->s.wide ? be->ops->buf_new_wide : be->ops->buf_new)(be, p->most * N, &p->yr.buf, NULL),
        0);
    narrow(t, p->x, p->most * K);
    narrow(t, p->w, N * K);
    narrow(t, p->b, p->s.wide ? 0 : N); /* a bias is added in the result's type */
}

static void close_product(struct test *t, struct product *p)
{
    t->be->ops->weight_free(t->be, (struct dg_weight *)p->op.w);
    t->be->ops->weight_free(t->be, (struct dg_weight *)p->op.bias);
    t->be->ops->buf_free(t->be, p->xr.buf);
    t->be->ops->buf_free(t->be, p->yr.buf);
    free(p->x), free(p->w), free(p->b);
}

/* Computes the product of all rows, for which an algorithm is chosen here; it must not add up a sum
 * in parts. Returns true if the log says that our own kernel multiplies. For this the log goes
 * through a file, and then to stderr. */
static bool chooses_own(struct test *t, const struct product *p)
{
    char line[4096];
    bool own = false;
    FILE *log = tmpfile();
    const int to = dup(STDERR_FILENO);
    fflush(stderr);
    assert_true(log && to >= 0 && dup2(fileno(log), STDERR_FILENO) >= 0);
    t->be->ops->linear(t->be, &p->op, p->xr, p->yr, p->most);
    dup2(to, STDERR_FILENO);
    close(to);
    rewind(log);
    while (fgets(line, sizeof line, log)) {
        own = own || strstr(line, "gemm_own");
        t->plans += strstr(line, "gemm_plan") != NULL;
        if (strstr(line, "gemm_plan") &&
            (!strstr(line, "whole=1") || !(strstr(line, "split=0") || strstr(line, "split=1 "))))
            t->failed++;
        fputs(line, stderr);
    }
    fclose(log);
    return own;
}

/* Returns the result expected in row m and column n, and how far a sum in fp32 may be from it. S,
 * the root of the sum of the products' squares, is the typical size of a partial sum of K products
 * of random signs. Rounding each partial sum to nearest moves the result by about 2^-24 sqrt(K) S;
 * 16 times that is more than any of the elements here should reach. Tensor cores truncate, all to
 * one side: 2^-23 of a partial sum for every 16 products, that is K/8 2^-24 S. In simulation, with
 * K of 24 to 4096, fp32 stays within 0.2 of the sum of both and tensor cores within 0.3; TF32 would
 * exceed it 11 times, sums in 16 bits hundreds of times, a 16-bit result truncated instead of
 * rounded twice. */
static double expected(
    const struct test *t, const struct product *p, size_t m, size_t n, double *tolerance)
{
    const size_t K = p->s.K;
    double sum = (double)p->b[n], squares = 0;
    for (size_t k = 0; k < K; k++) {
        const double xw = (double)p->x[m * K + k] * (double)p->w[n * K + k];
        sum += xw;
        squares += xw * xw;
    }
    if (!p->s.wide && sum < 0)
        sum = 0;
    *tolerance = (16 * sqrt((double)K) + (double)K / 8) * 0x1p-24 * sqrt(squares);
    *tolerance += (p->s.wide ? 0x1p-24 : t->unit) * (fabs(sum) + *tolerance); /* its own rounding */
    return sum;
}

/* Checks some rows of y[most,N] against the definition. */
static void check_values(struct test *t, const struct product *p, const float *y)
{
    const size_t N = p->s.N, rows[] = {0, p->most / 2, p->most - 1};
    size_t wrong = 0, at = 0;
    double most = 0; /* largest difference, as a share of the tolerance */
    for (size_t i = 0; i < sizeof rows / sizeof *rows * N; i++) {
        double tolerance, want = expected(t, p, rows[i / N], i % N, &tolerance);
        const double share = fabs((double)y[rows[i / N] * N + i % N] - want) / tolerance;
        wrong += !(share <= 1); /* NaN, too */
        if (!(share <= most) && !isnan(most))
            most = share, at = i;
    }
    if (!wrong)
        return;
    double tolerance, want = expected(t, p, rows[at / N], at % N, &tolerance);
    print_error("%s: [%zu,%zu] x [%zu,%zu]: %zu of %zu elements are wrong; [%zu,%zu] is %.9g, "
                "expected %.9g within %.2g\n",
        t->be->name, p->most, p->s.K, N, p->s.K, wrong, 3 * N, rows[at / N], at % N,
        (double)y[rows[at / N] * N + at % N], want, tolerance);
    t->failed++;
}

/* Multiplies M rows alone, placed elsewhere, and compares them with the same rows among all. */
static void check_rows(struct test *t, const struct product *p, size_t M, const float *whole)
{
    const size_t N = p->s.N, K = p->s.K, first = (p->most - M) / 2;
    const struct dg_rows from = {p->xr.buf, first * K, K};
    size_t other = 0, at = 0;
    float *part = malloc(M * N * sizeof *part);
    assert_non_null(part);
    t->be->ops->linear(t->be, &p->op, from, p->yr, M);
    t->be->ops->read(t->be, p->yr, M, N, part);
    for (size_t m = 0; m < M; m++)
        if (memcmp(part + m * N, whole + (first + m) * N, N * sizeof *part) && !other++)
            at = m;
    if (other) {
        print_error("%s: [%zu,%zu] x [%zu,%zu]: %zu rows are not what they are among %zu, row %zu "
                    "the first\n",
            t->be->name, M, K, N, K, other, p->most, at);
        t->failed++;
    }
    free(part);
}

static void check_shape(struct test *t, struct shape s)
{
    struct product p = {.s = s};
    open_product(t, &p);
    float *whole = malloc(p.most * s.N * sizeof *whole);
    assert_non_null(whole);
    if (chooses_own(t, &p) && !t->emulated && !t->own) {
        print_error("%s: [%zu,%zu]: cuBLASLt has no algorithm, our own kernel multiplies\n",
            t->be->name, s.N, s.K);
        t->failed++;
    }
    t->be->ops->read(t->be, p.yr, p.most, s.N, whole);
    check_values(t, &p, whole);
    for (size_t i = 0; i < t->n_counts; i++)
        check_rows(t, &p, t->counts[i], whole);
    free(whole);
    close_product(t, &p);
}

static void check(void **state)
{
    struct test t = {.be = cuda_or_skip(*state), .precision = *state};
    const char *gemm = getenv("DRAGOMAN_CUDA_GEMM");
    struct dg_error err = {0};
    t.emulated = strstr(t.be->name, "emulated") != NULL;
    t.unit = !strcmp(t.precision, "fp16")   ? 0x1p-11
             : !strcmp(t.precision, "bf16") ? 0x1p-8
                                            : 0x1p-24;
    t.own = gemm && !strcmp(gemm, "own");
    t.counts = t.emulated ? rows_small : rows_of_base;
    t.n_counts = t.emulated ? sizeof rows_small / sizeof *rows_small
                            : sizeof rows_of_base / sizeof *rows_of_base;
    const struct shape *shapes = t.emulated ? small : base;
    const size_t n = t.emulated ? sizeof small / sizeof *small : sizeof base / sizeof *base;
    for (size_t i = 0; i < n; i++)
        check_shape(&t, shapes[i]);
    assert_true(t.plans || t.own);
    if (t.be->ops->status(t.be, &err))
        fail_msg("%s", err.message);
    dg_device_close(t.be);
    if (t.failed)
        fail_msg("%zu failures, printed above", t.failed);
}

int main(void)
{
    setenv("DRAGOMAN_DEBUG", "cuda-log", 1);
    return cuda_each_precision(check);
}
