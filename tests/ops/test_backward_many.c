/* The backward ops of kernels/train.h on enough rows and columns for every part of a device's sums,
 * against the formulas in double, on every instruction set of this machine. */
#include "tests/ops/gradient.h"

enum { MANY = 70 };
static uint32_t many_keys[3 * MANY];

static const struct dg_dropout *many_dropout(void)
{
    static const struct dg_dropout d = {0.25f, 777, many_keys};
    for (uint32_t m = 0; m < 3 * MANY; m++)
        many_keys[m] = m * 0x9E3779B9u + 1;
    return &d;
}

static void near(const char *what, size_t i, double got, double want)
{
    if (!(fabs(got - want) <= TOLERANCE * (1 + fabs(want))))
        fail_msg("%s[%zu]: %.8g, wanted %.8g", what, i, got, want);
}

static void norm_many(struct fixture *f, size_t D, const struct dg_dropout *drop)
{
    double *x = array(f, MANY * D), *r = array(f, MANY * D), *dy = array(f, MANY * D),
           *gain = array(f, D), *sums = calloc(2 * D, sizeof *sums), *xhat = array(f, D);
    float *dgain, *dbias, *dr = malloc(2 * MANY * D * sizeof *dr), *dx = dr + MANY * D;
    struct dg_norm op = {.gain = weight(f, gain, 1, D, DG_USE_VECTOR, NULL),
        .bias = weight(f, NULL, 1, D, DG_USE_VECTOR, NULL),
        .eps = 1e-5f,
        .drop = drop,
        .xhat = rows(f, NULL, MANY, D),
        .rstd = rows(f, NULL, MANY, 1)};
    struct dg_rows g = rows(f, dy, MANY, D);
    f->be->ops->add_norm(
        f->be, &op, rows(f, x, MANY, D), rows(f, r, MANY, D), rows(f, NULL, MANY, D), MANY, D);
    struct dg_norm_grad grad = {.op = &op,
        .dy = g,
        .dx = rows(f, NULL, MANY, D),
        .dr = g, /* in place */
        .dgain = weight(f, NULL, 1, D, DG_USE_VECTOR, &dgain),
        .dbias = weight(f, NULL, 1, D, DG_USE_VECTOR, &dbias)};
    f->train->ops->add_norm_backward(f->train, &grad, MANY, D);
    fetch(f, grad.dr, MANY, D, dr);
    fetch(f, grad.dx, MANY, D, dx);
    for (size_t m = 0; m < MANY; m++) {
        const double *d = dy + m * D;
        double mean = 0, var = 0, a = 0, b = 0;
        for (size_t i = 0; i < D; i++) {
            xhat[i] = r[m * D + i] + kept(drop, m, (uint32_t)i) * x[m * D + i];
            mean += xhat[i] / (double)D;
        }
        for (size_t i = 0; i < D; i++)
            var += (xhat[i] - mean) * (xhat[i] - mean) / (double)D;
        for (size_t i = 0; i < D; i++) {
            xhat[i] = (xhat[i] - mean) / sqrt(var + 1e-5f);
            a += gain[i] * d[i] / (double)D;
            b += gain[i] * d[i] * xhat[i] / (double)D;
            sums[i] += d[i] * xhat[i];
            sums[D + i] += d[i];
        }
        for (size_t i = 0; i < D; i++) {
            const double dv = (gain[i] * d[i] - a - xhat[i] * b) / sqrt(var + 1e-5f);
            near("many rows' dr", m * D + i, dr[m * D + i], dv);
            near("many rows' dx", m * D + i, dx[m * D + i], dv * kept(drop, m, (uint32_t)i));
        }
    }
    f->train->ops->block_read(f->train, dgain, D, dr);
    f->train->ops->block_read(f->train, dbias, D, dx);
    for (size_t i = 0; i < D; i++) {
        near("many rows' dgain", i, dr[i], sums[i]);
        near("many rows' dbias", i, dx[i], sums[D + i]);
    }
    release(f);
    free(x), free(r), free(dy), free(gain), free(sums), free(xhat), free(dr);
}

/* Checks the bias alone; the rest does not depend on the number of rows. */
static void bias_many(struct fixture *f, enum dg_act a, size_t M, const struct dg_dropout *drop)
{
    enum { N = 300, K = 2 };
    double *x = array(f, M * K), *w = array(f, N * K), *dy = array(f, M * N);
    float *dbias, got[N];
    for (size_t i = 0; i < M * N; i++)
        dy[i] = fabs(dy[i]); /* so that thousands of them do not cancel out */
    struct dg_rows xr = rows(f, x, M, K), yr = rows(f, NULL, M, N);
    struct dg_linear op = {.w = weight(f, w, N, K, DG_USE_MATRIX, NULL), .act = a, .drop = drop};
    f->be->ops->linear(f->be, &op, xr, yr, M);
    struct dg_linear_grad g = {.op = &op, .x = xr, .y = yr, .dy = rows(f, dy, M, N)};
    g.dw = weight(f, NULL, N, K, DG_USE_MATRIX, NULL);
    g.dbias = weight(f, NULL, 1, N, DG_USE_VECTOR, &dbias);
    f->train->ops->linear_backward(f->train, &g, M);
    f->train->ops->block_read(f->train, dbias, N, got);
    for (size_t n = 0; n < N; n++) {
        double want = 0;
        for (size_t m = 0; m < M; m++) {
            const double v = x[m * K] * w[n * K] + x[m * K + 1] * w[n * K + 1];
            want += a == DG_ACT_RELU && v <= 0 ? 0 : dy[m * N + n] * kept(drop, m, (uint32_t)n);
        }
        near("many rows' bias", n, got[n], want);
    }
    release(f);
    free(x), free(w), free(dy);
}

static void embed_many(struct fixture *f, const struct dg_dropout *drop)
{
    enum { M = 3 * MANY, D = 150, V = 4 };
    double *dy = array(f, M * D), want[V * D] = {0};
    int32_t ids[M];
    float *dt, got[V * D];
    for (int m = 0; m < M; m++)
        /* occurrences of an id: many of 0 and 1, one of 2, none of 3 */
        ids[m] = m == 7 ? 2 : m % 3 - 1;
    struct dg_embed op = {weight(f, NULL, V, D, DG_USE_TABLE, NULL),
        weight(f, NULL, V, D, DG_USE_TABLE, NULL), 0.5f, ids, ids, drop};
    struct dg_embed_grad g = {
        &op, rows(f, dy, M, D), weight(f, NULL, V, D, DG_USE_TABLE, &dt), NULL};
    f->train->ops->embed_backward(f->train, &g, M);
    f->train->ops->block_read(f->train, dt, V * D, got);
    for (int m = 0; m < M; m++)
        for (int i = 0; i < D && ids[m] >= 0; i++)
            want[ids[m] * D + i] += 0.5 * dy[m * D + i] * kept(drop, (size_t)m, (uint32_t)i);
    for (size_t i = 0; i < V * D; i++)
        near("many rows' table", i, got[i], want[i]);
    release(f);
    free(dy);
}

/* More values than a device adds up in one round. */
static void squares_many(struct fixture *f)
{
    const size_t n = (5 << 19) + 77;
    float *block, *x = malloc(n * sizeof *x);
    double want = 0;
    struct dg_error err = {0};
    assert_int_equal(f->train->ops->block_new(f->train, n, &block, &err), 0);
    f->blocks[f->n_blocks++] = block;
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(i % 1001) / 64;
        want += (double)x[i] * x[i];
    }
    f->train->ops->block_write(f->train, block, x, n);
    assert_float_equal(f->train->ops->square_sum(f->train, block, n), want, 1e-9 * want);
    release(f);
    free(x);
}

static void test_many(struct fixture *f)
{
    const size_t widths[] = {40, 512, 600, 1024, 1030};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        norm_many(f, widths[i], NULL);
        norm_many(f, widths[i], many_dropout());
    }
    for (size_t M = 1; M <= 3 * MANY; M = M * 2 + 31)
        for (int drop = 0; drop < 2; drop++) {
            bias_many(f, DG_ACT_NONE, M, drop ? many_dropout() : NULL);
            bias_many(f, DG_ACT_RELU, M, drop ? many_dropout() : NULL);
        }
    bias_many(f, DG_ACT_NONE, 2100, NULL); /* enough strips for a second round */
    embed_many(f, NULL);
    embed_many(f, many_dropout());
    squares_many(f);
}

EACH(many)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
