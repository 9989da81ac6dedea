/* The ops over int8 weights: linear within its bound of the same weights in double, NaN, tables,
 * which stored form is used, rows too long for int8. */
#include "tests/ops/int8_problem.h"

static struct dg_weight *int8_weight(
    struct dg_backend *be, unsigned use, const struct problem *p, bool packed)
{
    struct dg_stored forms[2] = {{DG_S8, DG_LAYOUT_ROWS, p->w, p->scales},
        {DG_S8, DG_LAYOUT_PANEL16_S8, p->packed, p->scales}};
    struct dg_weight_spec spec = {
        "w", use, p->N, p->K, false, forms, packed ? 2 : 1, .in_place = NULL};
    struct dg_error err = {0};
    struct dg_weight *w;
    if (packed)
        assert_true(p->paired); /* the layout's condition */
    for (size_t n = 0; n < p->N; n++)
        p->scales[n] = fabsf(p->scales[n]);
    if (be->ops->weight_new(be, &spec, &w, &err))
        fail_msg("%s", err.message);
    return w;
}

static double activate(double x, enum dg_act act)
{
    return act == DG_ACT_RELU    ? fmax(x, 0)
           : act == DG_ACT_SWISH ? x / (1 + exp(-x))
           : act == DG_ACT_GELU  ? 0.5 * x * (1 + erf(x / sqrt(2)))
                                 : x;
}

/* The op against the same weights in double: a row's error is at most half a step of its
 * activations times the weights' size. Activations' slopes are at most 1.13. */
static void check_linear(
    struct dg_backend *be, const char *isa, size_t s, enum dg_act act, bool all, bool packed)
{
    static const size_t shapes[][3] = {{1, 17, 33}, {3, 100, 512}, {4, 48, 6}, {9, 515, 64},
        {70, 65, 130}, {2051, 5, 9}, {9, 3, DG_INT8_K_MAX}};
    size_t M = shapes[s][0], N = shapes[s][1], K = shapes[s][2];
    struct problem p = problem_new(1, N, K, packed ? 77 : 78);
    float *x = ops_floats(M * K, s), *y = ops_memory(M * N, sizeof *y),
          *pre = ops_memory(M * N, sizeof *pre);
    uint32_t *keys = ops_memory(M, sizeof *keys);
    struct dg_dropout drop = {0.3f, 0x51u, keys};
    struct dg_rows xr = ops_rows(be, x, M, K, 3, K + 5), yr = ops_rows(be, NULL, M, N, 1, N + 2);
    struct dg_weight *w = int8_weight(be, DG_USE_MATRIX, &p, packed),
                     *bias = ops_weight(be, DG_USE_VECTOR, 1, N, p.bias, false);
    struct dg_linear op = {.w = w, .bias = bias, .act = act};
    for (size_t m = 0; m < M; m++)
        keys[m] = (uint32_t)m * 77;
    if (all) {
        op.drop = &drop;
        op.pre = ops_rows(be, NULL, M, N, 7, N + 1);
        be->ops->linear(be, &op, xr, yr, M);
        be->ops->read(be, op.pre, M, N, pre);
        be->ops->buf_free(be, op.pre.buf);
    } else {
        be->ops->linear(be, &op, xr, yr, M);
    }
    be->ops->read(be, yr, M, N, y);
    for (size_t m = 0; m < M; m++) {
        double low = 0, high = 0;
        for (size_t k = 0; k < K; k++) {
            low = fmin(low, (double)x[m * K + k]);
            high = fmax(high, (double)x[m * K + k]);
        }
        for (size_t n = 0; n < N; n++) {
            double sum = p.bias[n], size = 0;
            for (size_t k = 0; k < K; k++) {
                sum += (double)x[m * K + k] * p.w[n * K + k] * (double)p.scales[n];
                size += fabs(p.w[n * K + k] * (double)p.scales[n]);
            }
            double tolerance = 0.5001 * (high - low) / 127 * size + 16 * EPS * fabs(sum) + EPS,
                   want = activate(sum, act);
            if (all)
                ops_near("pre", isa, m * N + n, pre[m * N + n], sum, tolerance);
            if (all)
                want = dg_dropout_keep(keys[m] ^ 0x51u, (uint32_t)n, 0.3f)
                           ? want / (1 - (double)0.3f)
                           : 0;
            ops_near("linear", isa, m * N + n, y[m * N + n], want, 1.7 * tolerance);
        }
    }
    be->ops->weight_free(be, w);
    be->ops->weight_free(be, bias);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, yr.buf);
    free(x), free(y), free(pre), free(keys);
    problem_free(&p);
}

static void run_linear(struct dg_backend *be, const char *isa)
{
    for (size_t s = 0; s < 7; s++) {
        check_linear(be, isa, s, DG_ACT_NONE, false, s % 2);
        check_linear(be, isa, s, DG_ACT_RELU, false, true);
        for (int act = DG_ACT_NONE; act <= DG_ACT_GELU && s < 5; act++)
            check_linear(be, isa, s, (enum dg_act)act, act % 2, s % 2);
        check_linear(be, isa, s, DG_ACT_RELU, true, false);
    }
}

static void test_linear(void **state)
{
    (void)state;
    ops_each_isa("int8 linear", run_linear);
}

/* A row with NaN or infinity gives NaN and leaves its neighbours alone. */
static void run_nan(struct dg_backend *be, const char *isa)
{
    enum { M = 5, N = 21, K = 40 };
    struct problem p = problem_new(1, N, K, 5);
    float *x = ops_floats(M * K, 1), y[M * N];
    x[1 * K + 39] = NAN;
    x[3 * K] = INFINITY;
    struct dg_rows xr = ops_rows(be, x, M, K, 0, K), yr = ops_rows(be, NULL, M, N, 0, N);
    for (int act = DG_ACT_NONE; act <= DG_ACT_GELU; act++) {
        struct dg_linear op = {
            .w = int8_weight(be, DG_USE_MATRIX, &p, true), .act = (enum dg_act)act};
        be->ops->linear(be, &op, xr, yr, M);
        be->ops->read(be, yr, M, N, y);
        for (size_t i = 0; i < M * N; i++)
            if (!isnan(y[i]) != !(i / N % 2))
                fail_msg("%s: activation %d, element %zu is %g", isa, act, i, (double)y[i]);
        be->ops->weight_free(be, (struct dg_weight *)op.w);
    }
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, yr.buf);
    free(x);
    problem_free(&p);
}

static void test_nan(void **state)
{
    (void)state;
    ops_each_isa("int8 NaN", run_nan);
}

/* A tied table is looked up in the packed weights, an untied one in its rows: element times scale,
 * exactly. */
static void run_table(struct dg_backend *be, const char *isa)
{
    enum { V = 37, D = 75, M = 6 };
    static const int32_t ids[M] = {0, 36, -1, 16, 15, 1}, pos[M] = {0};
    struct problem p = problem_new(1, V, D, 5);
    float zero[D] = {0}, y[M * D];
    for (unsigned use = DG_USE_TABLE; use <= (DG_USE_TABLE | DG_USE_MATRIX); use += DG_USE_MATRIX)
        for (int packed = 0; packed < 2; packed++) {
            struct dg_embed op = {int8_weight(be, use, &p, packed),
                ops_weight(be, DG_USE_TABLE, 1, D, zero, false), 2, ids, pos, NULL};
            struct dg_rows yr = ops_rows(be, NULL, M, D, 0, D);
            be->ops->embed(be, &op, yr, M);
            be->ops->read(be, yr, M, D, y);
            for (size_t i = 0; i < M * D; i++) {
                int32_t id = ids[i / D];
                float want = id < 0 ? 0 : 2 * ((float)p.w[(size_t)id * D + i % D] * p.scales[id]);
                if (y[i] != want)
                    fail_msg("%s, use %u: element %zu is %g, expected %g", isa, use, i,
                        (double)y[i], (double)want);
            }
            be->ops->buf_free(be, yr.buf);
            be->ops->weight_free(be, (struct dg_weight *)op.table);
            be->ops->weight_free(be, (struct dg_weight *)op.positions);
        }
    problem_free(&p);
}

static void test_table(void **state)
{
    (void)state;
    ops_each_isa("int8 table", run_table);
}

/* Which form is used: packed ones in place, rows if the packed one is not aligned, fp32 beyond the
 * longest K. */
static void test_forms(void **state)
{
    (void)state;
    enum { N = 4, K = 8 };
    struct dg_backend *be = ops_open(NULL, 1);
    struct problem p = problem_new(1, N, K, 5);
    float ones[K] = {1, 1, 1, 1, 1, 1, 1, 1}, y[N];
    for (size_t n = 0; n < N; n++)
        p.scales[n] = 127;
    memset(p.w, 1, N * K);
    dg_int8_pack(p.w, N, K, p.packed);
    memset(p.w, 2, N * K); /* rows and packed form differ, to show which one is read */
    float f32[N * K] = {0};
    struct dg_stored forms[3] = {{DG_F32, DG_LAYOUT_ROWS, f32, NULL},
        {DG_S8, DG_LAYOUT_ROWS, p.w, p.scales}, {DG_S8, DG_LAYOUT_PANEL16_S8, p.packed, p.scales}};
    struct dg_rows xr = ops_rows(be, ones, 1, K, 0, K), yr = ops_rows(be, NULL, 1, N, 0, N);
    const size_t counts[] = {1, 2, 3, 3};
    const float want[] = {0, 2 * 127 * K, 1 * 127 * K, 2 * 127 * K};
    for (size_t i = 0; i < 4; i++) {
        char *moved = aligned(dg_int8_packed_bytes(N, K) + 64);
        memcpy(moved + 4, p.packed, dg_int8_packed_bytes(N, K));
        if (i == 3)
            forms[2].data = moved + 4;
        struct dg_weight_spec spec = {
            "w", DG_USE_MATRIX, N, K, false, forms, counts[i], .in_place = NULL};
        struct dg_linear op = {0};
        struct dg_weight *w;
        assert_int_equal(be->ops->weight_new(be, &spec, &w, NULL), 0);
        op.w = w;
        be->ops->linear(be, &op, xr, yr, 1);
        be->ops->read(be, yr, 1, N, y);
        assert_true(fabsf(y[0] - want[i]) < 0.01f);
        be->ops->weight_free(be, w);
        free(moved);
    }
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, yr.buf);
    problem_free(&p);
    dg_cpu_close(be);
}

/* Beyond the K for which int32 sums are proved, weights multiply in fp32. All but one of the
 * activations would vanish in int8. */
static void test_too_long(void **state)
{
    (void)state;
    enum { K = (1 << 17) + 4 };
    struct dg_backend *be = ops_open(NULL, 1);
    struct problem p = problem_new(1, 1, K, 4);
    memset(p.w, 1, K);
    p.scales[0] = 1;
    float *x = ops_memory(K, sizeof *x), y;
    for (size_t k = 0; k < K; k++)
        x[k] = k ? 0x1p-13f : 1;
    struct dg_linear op = {.w = int8_weight(be, DG_USE_MATRIX, &p, false)};
    struct dg_rows xr = ops_rows(be, x, 1, K, 0, K), yr = ops_rows(be, NULL, 1, 1, 0, 1);
    be->ops->linear(be, &op, xr, yr, 1);
    be->ops->read(be, yr, 1, 1, &y);
    ops_near("too long", be->name, 0, y, 1 + 0x1p-13 * (K - 1), 0.001);
    be->ops->weight_free(be, (struct dg_weight *)op.w);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, yr.buf);
    free(x);
    problem_free(&p);
    dg_cpu_close(be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_linear), cmocka_unit_test(test_nan),
        cmocka_unit_test(test_table), cmocka_unit_test(test_forms),
        cmocka_unit_test(test_too_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
