/* add_norm against a double-precision loop: sizes, aliasing, dropout, the outputs for backward. */
#include "tests/ops/ops.h"

enum alias { OWN, ON_X, ON_R };

static void check(struct dg_backend *be, const char *isa, size_t M, size_t D, enum alias alias,
    bool train, bool residual)
{
    float *x = ops_floats(M * D, D), *r = ops_floats(M * D, D + 1), *g = ops_floats(D, 3),
          *b = ops_floats(D, 4);
    float *y = ops_memory(M * D, sizeof *y), *xhat = ops_memory(M * D, sizeof *xhat),
          *rstd = ops_memory(M, 4);
    uint32_t *keys = ops_memory(M, sizeof *keys);
    for (size_t m = 0; m < M; m++)
        keys[m] = (uint32_t)(m * 31 + 9);
    struct dg_dropout drop = {0.1f, 0x77u, keys};
    struct dg_rows xr = ops_rows(be, x, M, D, 5, D + 3), rr = ops_rows(be, r, M, D, 2, D), yr = {0};
    yr = alias == ON_X ? xr : alias == ON_R ? rr : ops_rows(be, NULL, M, D, 1, D + 1);
    struct dg_norm op = {.gain = ops_weight(be, DG_USE_VECTOR, 1, D, g, false),
        .bias = ops_weight(be, DG_USE_VECTOR, 1, D, b, false),
        .eps = 1e-5f};
    if (train) {
        op.drop = &drop;
        op.xhat = ops_rows(be, NULL, M, D, 0, D);
        op.rstd = ops_rows(be, NULL, M, 1, 4, 1);
    }
    be->ops->add_norm(be, &op, xr, residual ? rr : (struct dg_rows){0}, yr, M, D);
    be->ops->read(be, yr, M, D, y);
    if (train) {
        be->ops->read(be, op.xhat, M, D, xhat);
        be->ops->read(be, op.rstd, M, 1, rstd);
    }
    double *v = ops_memory(D, sizeof *v);
    for (size_t m = 0; m < M; m++) {
        double mean = 0, var = 0;
        for (size_t i = 0; i < D; i++) {
            v[i] = x[m * D + i];
            if (train)
                v[i] = dg_dropout_keep(keys[m] ^ 0x77u, (uint32_t)i, 0.1f)
                           ? v[i] / (1 - (double)0.1f)
                           : 0;
            v[i] += residual ? r[m * D + i] : 0;
            mean += v[i] / (double)D;
        }
        for (size_t i = 0; i < D; i++)
            var += (v[i] - mean) * (v[i] - mean) / (double)D;
        double scale = 1 / sqrt(var + 1e-5f);
        for (size_t i = 0; i < D; i++) {
            double want = (v[i] - mean) * scale;
            /* Roundings of sum, mean and σ (some EPS of values up to 3), magnified by 1/σ where D
             * is tiny. */
            double tolerance = EPS * (sqrt((double)D) + 16) * (1 + scale);
            ops_near("add_norm", isa, m * D + i, y[m * D + i], want * g[i] + b[i], tolerance);
            if (train)
                ops_near("xhat", isa, m * D + i, xhat[m * D + i], want, tolerance);
        }
        if (train)
            ops_near("rstd", isa, m, rstd[m], scale,
                EPS * (sqrt((double)D) + 16) * scale * scale * (1 + scale));
    }
    be->ops->weight_free(be, (struct dg_weight *)op.gain);
    be->ops->weight_free(be, (struct dg_weight *)op.bias);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, rr.buf);
    be->ops->buf_free(be, alias == OWN ? yr.buf : NULL);
    be->ops->buf_free(be, op.xhat.buf);
    be->ops->buf_free(be, op.rstd.buf);
    free(x), free(r), free(g), free(b), free(y), free(xhat), free(rstd), free(keys), free(v);
}

static void run_sizes(struct dg_backend *be, const char *isa)
{
    const size_t sizes[] = {2, 3, 7, 8, 15, 16, 17, 31, 64, 100, 256, 511, 512, 1024, 1030};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int alias = OWN; alias <= ON_R; alias++)
            for (int train = 0; train < 2; train++) {
                check(be, isa, 1 + i * 3, sizes[i], (enum alias)alias, train, true);
                if (alias != ON_R)
                    check(be, isa, 2, sizes[i], (enum alias)alias, train, false);
            }
    check(be, isa, 700, 512, OWN, false, true);
}

static void test_sizes(void **state)
{
    (void)state;
    ops_each_isa("add_norm", run_sizes);
}

/* A row far from zero: one-pass variances lose it, two passes do not. */
static void run_offset(struct dg_backend *be, const char *isa)
{
    enum { D = 512 };
    float x[D], r[D], one[D], zero[D] = {0}, y[D];
    for (int i = 0; i < D; i++) {
        x[i] = 4096.0f + (float)(i % 2); /* mean 4096.5, σ 0.5: every sum here is exact in fp32 */
        r[i] = 0;
        one[i] = 1;
    }
    struct dg_rows xr = ops_rows(be, x, 1, D, 0, D), rr = ops_rows(be, r, 1, D, 0, D);
    struct dg_norm op = {.gain = ops_weight(be, DG_USE_VECTOR, 1, D, one, false),
        .bias = ops_weight(be, DG_USE_VECTOR, 1, D, zero, false),
        .eps = 0};
    be->ops->add_norm(be, &op, xr, rr, xr, 1, D);
    be->ops->read(be, xr, 1, D, y);
    for (size_t i = 0; i < D; i++)
        ops_near("add_norm far from zero", isa, i, y[i], i % 2 ? 1 : -1, 4 * EPS);
    be->ops->weight_free(be, (struct dg_weight *)op.gain);
    be->ops->weight_free(be, (struct dg_weight *)op.bias);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, rr.buf);
}

static void test_offset(void **state)
{
    (void)state;
    ops_each_isa("add_norm far from zero", run_offset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_offset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
