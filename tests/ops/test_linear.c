/* linear against a double-precision loop: shapes, strides, bias, activations, pre, dropout,
 * trainable weights. */
#include "tests/ops/ops.h"

static double activate(double x, enum dg_act act)
{
    switch (act) {
    case DG_ACT_RELU: return x < 0 ? 0 : x;
    case DG_ACT_SWISH: return x / (1 + exp(-x));
    case DG_ACT_GELU: return 0.5 * x * (1 + erf(x / sqrt(2)));
    default: return x;
    }
}

struct shape {
    size_t M, N, K;
};

static const struct shape shapes[] = {{1, 1, 1}, {1, 16, 8}, {2, 17, 5}, {3, 64, 64}, {4, 50, 300},
    {5, 33, 257}, {6, 100, 31}, {7, 96, 512}, {8, 15, 256}, {13, 130, 513}, {40, 200, 96},
    {193, 48, 70}, {400, 513, 64}};

/* Checks one call. With `all`: act, bias, pre and dropout. */
static void check(struct dg_backend *be, const char *isa, struct shape s, enum dg_act act, bool all,
    bool trainable)
{
    size_t M = s.M, N = s.N, K = s.K;
    float *x = ops_floats(M * K, M + 1), *w = ops_floats(N * K, N + 2), *b = ops_floats(N, K + 3);
    float *y = ops_memory(M * N, sizeof *y), *pre = ops_memory(M * N, sizeof *pre);
    uint32_t *keys = ops_memory(M, sizeof *keys);
    for (size_t m = 0; m < M; m++)
        keys[m] = (uint32_t)(m * 77 + 5);
    struct dg_dropout drop = {0.3f, 0x51u, keys};
    struct dg_rows xr = ops_rows(be, x, M, K, 3, K + 5), yr = ops_rows(be, NULL, M, N, 1, N + 2);
    struct dg_linear op = {.w = ops_weight(be, DG_USE_MATRIX, N, K, w, trainable), .act = act};
    struct dg_weight *bias = ops_weight(be, DG_USE_VECTOR, 1, N, b, false);
    if (all) {
        op.bias = bias;
        op.drop = &drop;
        op.pre = ops_rows(be, NULL, M, N, 7, N + 1);
    }
    be->ops->linear(be, &op, xr, yr, M);
    be->ops->read(be, yr, M, N, y);
    if (all)
        be->ops->read(be, op.pre, M, N, pre);
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            double sum = all ? b[n] : 0, size = fabs(sum);
            for (size_t k = 0; k < K; k++) {
                sum += (double)x[m * K + k] * w[n * K + k];
                size += fabs((double)x[m * K + k] * w[n * K + k]);
            }
            /* A chain of K roundings of partial sums no larger than `size`; in practice they
             * cancel. */
            double tolerance = EPS * (sqrt((double)K) + 4) * (size + 1), want = activate(sum, act);
            if (all)
                ops_near("pre", isa, m * N + n, pre[m * N + n], sum, tolerance);
            if (all)
                want = dg_dropout_keep(keys[m] ^ 0x51u, (uint32_t)n, 0.3f)
                           ? want / (1 - (double)0.3f)
                           : 0;
            ops_near("linear", isa, m * N + n, y[m * N + n], want, 2 * tolerance);
        }
    be->ops->weight_free(be, (struct dg_weight *)op.w);
    be->ops->weight_free(be, bias);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, yr.buf);
    be->ops->buf_free(be, op.pre.buf);
    free(x), free(w), free(b), free(y), free(pre), free(keys);
}

static void run_shapes(struct dg_backend *be, const char *isa)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check(be, isa, shapes[i], DG_ACT_NONE, false, false);
        check(be, isa, shapes[i], DG_ACT_NONE, true, OPS_TRAINABLE);
        for (int act = DG_ACT_NONE; act <= DG_ACT_GELU; act++)
            check(be, isa, shapes[i], (enum dg_act)act, true, false);
    }
}

static void test_shapes(void **state)
{
    (void)state;
    ops_each_isa("linear", run_shapes);
}

/* Writes exactly [M,N]: the gaps between and after rows stay unchanged. */
static void run_borders(struct dg_backend *be, const char *isa)
{
    for (size_t M = 1; M <= 15; M++) {
        enum { N = 37, K = 40, LD = 41 };
        float *x = ops_floats(M * K, 1), *w = ops_floats(N * K, 2),
              *mark = ops_memory((M + 1) * LD, sizeof *mark);
        for (size_t i = 0; i < (M + 1) * LD; i++)
            mark[i] = 1234;
        struct dg_rows xr = ops_rows(be, x, M, K, 0, K),
                       yr = ops_rows(be, mark, 1, (M + 1) * LD, 0, 0);
        yr.offset = 2, yr.ld = LD;
        struct dg_linear op = {.w = ops_weight(be, DG_USE_MATRIX, N, K, w, false)};
        be->ops->linear(be, &op, xr, yr, M);
        be->ops->read(be, (struct dg_rows){yr.buf, 0, 0}, 1, (M + 1) * LD, mark);
        for (size_t i = 0; i < (M + 1) * LD; i++) {
            bool inside = i >= 2 && (i - 2) % LD < N && (i - 2) / LD < M;
            if (inside == (mark[i] == 1234))
                fail_msg("linear, %s, M = %zu: element %zu is %s", isa, M, i,
                    inside ? "not written" : "overwritten");
        }
        be->ops->weight_free(be, (struct dg_weight *)op.w);
        be->ops->buf_free(be, xr.buf);
        be->ops->buf_free(be, yr.buf);
        free(x), free(w), free(mark);
    }
}

static void test_borders(void **state)
{
    (void)state;
    ops_each_isa("linear borders", run_borders);
}

static void hook(void *ctx, const struct dg_train_gemm *g)
{
    *(size_t *)ctx += g->M * g->N;
    for (size_t m = 0; m < g->M; m++)
        for (size_t n = 0; n < g->N; n++)
            g->c[m * g->ldc + n] = (float)(m * 10 + n);
}

/* A trainer's product is used for trainable weights only, then bias and activation follow. */
static void test_hook(void **state)
{
    (void)state;
    struct dg_backend *be = ops_open("generic", 1);
    float zero[6 * 4] = {0}, minus[6] = {-11, -11, -11, -11, -11, -11}, y[2 * 6];
    struct dg_weight *w = ops_weight(be, DG_USE_MATRIX, 6, 4, zero, true);
    struct dg_weight *fixed = ops_weight(be, DG_USE_MATRIX, 6, 4, zero, false);
    struct dg_weight *bias = ops_weight(be, DG_USE_VECTOR, 1, 6, minus, true);
    struct dg_rows xr = ops_rows(be, NULL, 2, 4, 0, 4), yr = ops_rows(be, NULL, 2, 6, 0, 6);
    size_t calls = 0;
    dg_cpu_set_gemm(be, hook, &calls);
    be->ops->linear(be, &(struct dg_linear){.w = w, .bias = bias, .act = DG_ACT_RELU}, xr, yr, 2);
    be->ops->read(be, yr, 2, 6, y);
    assert_int_equal(calls, 12);
    for (size_t i = 0; i < 12; i++)
        assert_true((double)y[i] == fmax(0, (double)(i / 6 * 10 + i % 6) - 11));
    be->ops->linear(be, &(struct dg_linear){.w = fixed}, xr, yr, 2);
    assert_int_equal(calls, 12);
    dg_cpu_set_gemm(be, NULL, NULL);
    be->ops->linear(be, &(struct dg_linear){.w = w}, xr, yr, 2);
    assert_int_equal(calls, 12);
    be->ops->weight_free(be, w);
    be->ops->weight_free(be, fixed);
    be->ops->weight_free(be, bias);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, yr.buf);
    dg_cpu_close(be);
}

/* An activation does not hide NaN and infinity. On a device, ReLU is part of cuBLASLt's product and
 * makes NaN 0; the residual still carries it. */
static void run_nan(struct dg_backend *be, const char *isa)
{
    for (int act = DG_ACT_NONE; act <= DG_ACT_GELU; act++) {
#ifdef DG_TEST_CUDA
        if (act == DG_ACT_RELU)
            continue;
#endif
        float w[2] = {1, 1}, x[2] = {NAN, 1}, y[1];
        struct dg_linear op = {
            .w = ops_weight(be, DG_USE_MATRIX, 1, 2, w, false), .act = (enum dg_act)act};
        struct dg_rows xr = ops_rows(be, x, 1, 2, 0, 2), yr = ops_rows(be, NULL, 1, 1, 0, 1);
        be->ops->linear(be, &op, xr, yr, 1);
        be->ops->read(be, yr, 1, 1, y);
        if (!isnan(y[0]))
            fail_msg("%s: activation %d hides NaN", isa, act);
        be->ops->weight_free(be, (struct dg_weight *)op.w);
        be->ops->buf_free(be, xr.buf);
        be->ops->buf_free(be, yr.buf);
    }
}

static void test_nan(void **state)
{
    (void)state;
    ops_each_isa("linear NaN", run_nan);
}

/* Inputs in steps of 1/scale, at most 127: more rows than the scratch space holds at once. */
static void run_rounded(struct dg_backend *be, const char *isa)
{
    const struct shape sizes[] = {{1, 16, 8}, {7, 40, 64}, {300, 33, 1024}};
    if (!be->ops->weight_round_inputs)
        return; /* only for comparisons with another engine, on the CPU */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t M = sizes[i].M, N = sizes[i].N, K = sizes[i].K;
        const float scale = 150; /* some of the inputs are beyond 127/150 */
        float *x = ops_floats(M * K, 1), *w = ops_floats(N * K, 2), *y = ops_memory(M * N, 4);
        struct dg_rows xr = ops_rows(be, x, M, K, 3, K + 5),
                       yr = ops_rows(be, NULL, M, N, 1, N + 2);
        struct dg_weight *weight = ops_weight(be, DG_USE_MATRIX, N, K, w, false);
        struct dg_linear op = {.w = weight};
        be->ops->weight_round_inputs(be, weight, scale);
        be->ops->linear(be, &op, xr, yr, M);
        be->ops->read(be, yr, M, N, y);
        for (size_t m = 0; m < M; m++)
            for (size_t n = 0; n < N; n++) {
                double sum = 0;
                for (size_t k = 0; k < K; k++) {
                    double q = rint((double)(x[m * K + k] * scale));
                    q = q > 127 ? 127 : q < -127 ? -127 : q;
                    sum += q / scale * w[n * K + k];
                }
                ops_near("rounded inputs", isa, m * N + n, y[m * N + n], sum,
                    EPS * 4 * (sqrt((double)K) + 4) * sqrt((double)K));
            }
        be->ops->weight_free(be, weight);
        be->ops->buf_free(be, xr.buf);
        be->ops->buf_free(be, yr.buf);
        free(x), free(w), free(y);
    }
}

static void test_rounded(void **state)
{
    (void)state;
    ops_each_isa("rounded inputs", run_rounded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_shapes), cmocka_unit_test(test_borders), cmocka_unit_test(test_hook),
        cmocka_unit_test(test_nan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
