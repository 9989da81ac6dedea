/* topk against a sort of double-precision log-probabilities: sizes, ties, forced ids, NaN and
 * infinity. */
#include "tests/ops/ops.h"

static const float *sort_row;

static int by_value(const void *a, const void *b)
{
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    if (sort_row[i] != sort_row[j])
        return sort_row[i] > sort_row[j] ? -1 : 1;
    return i < j ? -1 : 1;
}

/* levels > 0: logits take few values, so that most are ties. */
static void check_at(struct dg_backend *be, const char *isa, size_t M, size_t V, uint32_t k_max,
    int levels, size_t offset, size_t ld)
{
    float *x = ops_floats(M * V, V + k_max);
    for (size_t i = 0; i < M * V; i++)
        x[i] = levels ? floorf(x[i] * (float)levels) : x[i] * 12;
    uint32_t *k = ops_memory(M, sizeof *k);
    int32_t *force = ops_memory(M, sizeof *force), *ids = ops_memory(M * k_max, sizeof *ids);
    float *logprob = ops_memory(M * k_max, sizeof *logprob);
    for (size_t m = 0; m < M; m++) {
        force[m] = m % 3 == 2 ? (int32_t)(m * 37 % V) : -1;
        k[m] = force[m] >= 0 ? 1 : 1 + (uint32_t)(m * 5 % k_max);
    }
    k[0] = k_max;
    struct dg_rows xr = ops_rows(be, x, M, V, offset, ld);
    be->ops->topk(be, &(struct dg_topk){V, k_max, k, force, logprob, ids, NULL}, xr, M);
    int32_t *order = ops_memory(V, sizeof *order);
    for (size_t m = 0; m < M; m++) {
        double sum = 0, max = -INFINITY;
        for (size_t v = 0; v < V; v++) {
            order[v] = (int32_t)v;
            max = fmax(max, x[m * V + v]);
        }
        for (size_t v = 0; v < V; v++)
            sum += exp(x[m * V + v] - max);
        sort_row = x + m * V;
        qsort(order, V, sizeof *order, by_value);
        for (size_t i = 0; i < k[m]; i++) {
            int32_t want = force[m] >= 0 ? force[m] : order[i];
            if (ids[m * k_max + i] != want)
                fail_msg("topk, %s: [%zu,%zu] row %zu place %zu: id %d, expected %d", isa, M, V, m,
                    i, ids[m * k_max + i], want);
            /* Lanes sum up to 128 exponentials of 1 ulp each in fp32, the rest is in double; plus
             * one final rounding. */
            double lp = x[m * V + (size_t)want] - max - log(sum);
            ops_near("topk", isa, i, logprob[m * k_max + i], lp, 40 * EPS + fabs(lp) * EPS);
        }
    }
    be->ops->buf_free(be, xr.buf);
    free(x), free(k), free(force), free(ids), free(logprob), free(order);
}

/* Rows that begin at any element, and rows that begin at multiples of four. */
static void check(
    struct dg_backend *be, const char *isa, size_t M, size_t V, uint32_t k_max, int levels)
{
    check_at(be, isa, M, V, k_max, levels, 1, V + 3);
    check_at(be, isa, M, V, k_max, levels, 0, (V + 3) / 4 * 4);
}

static void run_sizes(struct dg_backend *be, const char *isa)
{
    const size_t sizes[] = {
        8, 9, 16, 31, 100, 511, 1000, 1023, 1024, 1025, 1030, 8191, 8192, 8193, 32000, 37001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t k = 1; k <= 8; k += 7) {
            check(be, isa, 1, sizes[i], k, 0);
            check(be, isa, 9, sizes[i], k, 0);
            check(be, isa, 5, sizes[i], k, 1);
            check(be, isa, 5, sizes[i], k, 40);
        }
    check(be, isa, 3, 32000, 42, 0);
    check(be, isa, 3, 32000, 600, 3); /* more than there are runs */
    check(be, isa, 2, 3000, 1100, 0);
}

static void test_sizes(void **state)
{
    (void)state;
    ops_each_isa("topk", run_sizes);
}

/* -inf is a candidate like others, and the last one; k beyond V returns the whole row. */
static void run_infinite(struct dg_backend *be, const char *isa)
{
    float x[4] = {-INFINITY, 1, -INFINITY, 1}, logprob[6];
    int32_t ids[6];
    const int32_t want[6] = {1, 3, 0, 2, -1, -1};
    uint32_t k = 6;
    struct dg_rows xr = ops_rows(be, x, 1, 4, 0, 4);
    be->ops->topk(be, &(struct dg_topk){4, 6, &k, NULL, logprob, ids, NULL}, xr, 1);
    for (size_t i = 0; i < 6; i++) {
        if (ids[i] != want[i])
            fail_msg("topk, %s: place %zu has id %d, expected %d", isa, i, ids[i], want[i]);
        if (i < 2)
            ops_near("topk with -inf", isa, i, logprob[i], log(0.5), 4 * EPS);
        else
            assert_true(isinf(logprob[i]) && logprob[i] < 0);
    }
    be->ops->buf_free(be, xr.buf);
}

static void test_infinite(void **state)
{
    (void)state;
    ops_each_isa("topk with -inf", run_infinite);
}

/* Equal logits far apart: ids in order, 0 and -0 equal. All at -inf: ids in order, and no finite
 * log-probability. */
static void run_ties(struct dg_backend *be, const char *isa)
{
    enum { V = 37000, N = 9 };
    const int32_t at[N] = {3, 127, 128, 1023, 1024, 1025, 9000, 36863, V - 1};
    float *x = ops_memory(V, sizeof *x), logprob[N];
    int32_t ids[N];
    uint32_t k = N;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < V; i++)
            x[i] = round ? -INFINITY : -20;
        for (size_t i = 0; i < N && !round; i++)
            x[at[i]] = i % 2 ? 0.0f : -0.0f;
        struct dg_rows xr = ops_rows(be, x, 1, V, 0, V);
        be->ops->topk(be, &(struct dg_topk){V, N, &k, NULL, logprob, ids, NULL}, xr, 1);
        for (size_t i = 0; i < N; i++) {
            if (ids[i] != (round ? (int32_t)i : at[i]))
                fail_msg("topk, %s: tie %zu is id %d", isa, i, ids[i]);
            if (round)
                assert_false(isfinite(logprob[i]));
            else
                ops_near("topk of ties", isa, i, logprob[i], -log(N + (V - N) * exp(-20)), 4 * EPS);
        }
        be->ops->buf_free(be, xr.buf);
    }
    free(x);
}

static void test_ties(void **state)
{
    (void)state;
    ops_each_isa("topk of ties", run_ties);
}

/* Contract 1: a row has the same bits whatever k is, forced or not, and wherever it begins. */
static void run_rows(struct dg_backend *be, const char *isa)
{
    enum { V = 5001, M = 7, K = 70 };
    float *x = ops_floats(M * V, 11), all[M * K], one[K];
    int32_t all_ids[M * K], ids[K];
    uint32_t k[M];
    for (size_t m = 0; m < M; m++)
        k[m] = K;
    struct dg_rows xr = ops_rows(be, x, M, V, 0, V + 3);
    be->ops->topk(be, &(struct dg_topk){V, K, k, NULL, all, all_ids, NULL}, xr, M);
    for (size_t m = 0; m < M; m++) {
        uint32_t few = 1 + (uint32_t)m;
        struct dg_rows row = ops_rows(be, x + m * V, 1, V, m, V);
        be->ops->topk(be, &(struct dg_topk){V, few, &few, NULL, one, ids, NULL}, row, 1);
        assert_memory_equal(one, all + m * K, few * sizeof *one);
        assert_memory_equal(ids, all_ids + m * K, few * sizeof *ids);
        few = 1;
        be->ops->topk(
            be, &(struct dg_topk){V, 1, &few, all_ids + m * K + K - 1, one, ids, NULL}, row, 1);
        if (memcmp(one, all + m * K + K - 1, sizeof *one))
            fail_msg("topk, %s: row %zu has another log-probability when it is forced", isa, m);
        be->ops->buf_free(be, row.buf);
    }
    be->ops->buf_free(be, xr.buf);
    free(x);
}

static void test_rows(void **state)
{
    (void)state;
    ops_each_isa("topk of a row alone", run_rows);
}

/* A row with NaN must not read or write out of bounds, and its log-probabilities must not be
 * finite. */
static void run_nan(struct dg_backend *be, const char *isa)
{
    enum { V = 3000 };
    float x[V], logprob[4] = {0};
    int32_t ids[4];
    uint32_t k = 4;
    for (int one = 0; one < 2; one++) {
        for (int i = 0; i < V; i++)
            x[i] = !one || i == 500 ? NAN : (float)(i % 7);
        struct dg_rows xr = ops_rows(be, x, 1, V, 0, V);
        be->ops->topk(be, &(struct dg_topk){V, 4, &k, NULL, logprob, ids, NULL}, xr, 1);
        for (size_t i = 0; i < 4; i++)
            if (!(isnan(logprob[i]) && ids[i] >= 0 && ids[i] < V && (!one || ids[i] != 500)) &&
                !(ids[i] == -1 && isinf(logprob[i])))
                fail_msg("topk, %s: place %zu of a row with NaN is %g, id %d", isa, i,
                    (double)logprob[i], ids[i]);
        be->ops->buf_free(be, xr.buf);
    }
}

static void test_nan(void **state)
{
    (void)state;
    ops_each_isa("topk with NaN", run_nan);
}

/* A row of which only some columns count has the bits of a row of these columns alone. */
static void run_only(struct dg_backend *be, const char *isa)
{
    enum { M = 5, V = 3000, N = 700, K = 9 };
    if (!be->ops->short_products) /* never asked for only some columns */
        return;
    float *x = ops_floats((size_t)M * V, 3), *few = ops_memory((size_t)M * N, sizeof *few);
    float got[M * K], want[M * K];
    int32_t columns[N], ids[M * K], places[M * K], force[M] = {-1, -1, N - 1, -1, 0};
    uint32_t k[M] = {K, 1, 1, 4, 1};
    for (size_t n = 0; n < N; n++)
        columns[n] = (int32_t)(n * 4 + n * n % 4); /* the first column stays in its place */
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++)
            few[m * N + n] = x[m * V + (size_t)columns[n]];
    struct dg_rows all = ops_rows(be, x, M, V, 3, V + 5), alone = ops_rows(be, few, M, N, 0, N);
    be->ops->topk(be, &(struct dg_topk){N, K, k, force, got, ids, columns}, all, M);
    be->ops->topk(be, &(struct dg_topk){N, K, k, force, want, places, NULL}, alone, M);
    for (size_t m = 0; m < M; m++)
        if (memcmp(got + m * K, want + m * K, k[m] * sizeof *got) ||
            memcmp(ids + m * K, places + m * K, k[m] * sizeof *ids))
            fail_msg(
                "topk, %s: row %zu of some columns is not that of these columns alone", isa, m);
    be->ops->buf_free(be, all.buf);
    be->ops->buf_free(be, alone.buf);
    free(x), free(few);
}

static void test_only(void **state)
{
    (void)state;
    ops_each_isa("topk of some columns", run_only);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_infinite), cmocka_unit_test(test_ties), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_nan), cmocka_unit_test(test_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
