/* bf16's kernels for training only: the left matrix in panels, exponentials of two rows, rows in
 * pairs, transposed blocks; each implementation against formulas or the plain one. */
#include "tests/ops/bf16_problem.h"

/* The left matrix in panels: the same bits as from rows. */
static void check_turned(const struct path *path)
{
    struct problem p = problem_new(40, 33);
    const size_t pairs = dg_bf16_pairs(p.K);
    float *want = ops_memory(M_MOST * p.ldy, sizeof *want);
    uint16_t *rows = ops_memory(M_MOST * p.K, sizeof *rows),
             *panels = ops_memory(dg_bf16_packed(M_MOST, p.K), sizeof *panels);
    for (size_t i = 0; i < M_MOST * p.K; i++)
        rows[i] = p.x[i / p.K * p.ldx + i % p.K];
    dg_bf16_pack(rows, M_MOST, p.K, panels);
    for (size_t M = 1; M <= M_MOST; M++) {
        multiply(&p, path->bf16, 0, M, want);
        for (size_t i = 0; i < M * p.ldy; i++)
            p.y[i] = 1234;
        path->bf16->gemm_turned(
            &(struct dg_bf16_gemm){M, p.N, pairs, panels, 0, p.packed, p.y, p.ldy, .add = false});
        assert_memory_equal(p.y, want, M * p.ldy * sizeof *want);
    }
    free(rows), free(panels), free(want);
    problem_free(&p);
}

static void test_turned(void **state)
{
    (void)state;
    each_path(check_turned);
}

enum { EXPS_MOST = 70, EXPS_APART = 40 };

static void check_exps_of(const struct path *path, const float *x, const float *bias, size_t n)
{
    uint16_t rows[2][EXPS_MOST + 32], pairs[(EXPS_MOST + 15) / 16 * EXPS_APART];
    struct dg_bf16_exps e = {.x = {x, x + EXPS_MOST},
        .bias = bias,
        .n = n,
        .from = {-3, 7},
        .rows = {rows[0], rows[1]},
        .pairs = pairs,
        .apart = EXPS_APART};
    memset(rows, 0xAA, sizeof rows);
    memset(pairs, 0xAA, sizeof pairs);
    path->bf16->exps(&e);
    for (size_t r = 0; r < 2; r++) {
        double sum = 0;
        float most = -INFINITY;
        for (size_t i = 0; i < (n + 31) / 32 * 32; i++) {
            const float x_i = i < n ? e.x[r][i] + (bias ? bias[i] : 0) : -INFINITY;
            const double y = exp((double)(x_i - e.from[r])),
                         got = (double)dg_bf16_to_f32(rows[r][i]);
            assert_true(fabs(got - y) <= 0x1.01p-8 * y);
            sum += y;
            most = x_i > most ? x_i : most;
        }
        assert_int_equal(rows[r][(n + 31) / 32 * 32], 0xAAAA);
        for (size_t i = 0; i < (n + 15) / 16 * 16; i++)
            assert_int_equal(pairs[i / 16 * EXPS_APART + i % 16 * 2 + r], rows[r][i]);
        assert_int_equal(pairs[32 + r], 0xAAAA);
        ops_near("sum of exponentials", path->name, n, e.sum[r], sum, 1e-6 * sum);
        assert_true(e.most[r] == most);
    }
}

/* Exponentials of two rows as rows and as pairs, their sums and the largest. */
static void check_exps(const struct path *path)
{
    float *x = ops_floats(2 * EXPS_MOST, 9);
    for (size_t i = 0; i < 2 * (size_t)EXPS_MOST; i++)
        x[i] *= 20;
    for (size_t n = 1; n <= EXPS_MOST; n++)
        check_exps_of(path, x, NULL, n);
    float *bias = ops_floats(EXPS_MOST, 10);
    bias[0] = bias[40] = -INFINITY;
    check_exps_of(path, x, bias, EXPS_MOST);
    free(bias);
    x[3] = NAN;
    struct dg_bf16_exps e = {.x = {x, x + EXPS_MOST}, .n = EXPS_MOST};
    path->bf16->exps(&e);
    assert_true(isnan(e.sum[0]) && !isnan(e.sum[1]));
    free(x);
}

static void test_exps(void **state)
{
    (void)state;
    each_path(check_exps);
}

/* Every length, either row or both missing, panels apart; the gaps between them stay unchanged. */
static void check_pair(const struct path *path)
{
    enum { LONGEST = 67, APART = 40, ALL = (LONGEST + 15) / 16 * APART };
    float *x = ops_floats(2 * LONGEST, 8);
    for (size_t n = 1; n <= LONGEST; n++)
        for (unsigned there = 0; there < 4; there++) {
            uint16_t q[ALL];
            memset(q, 0xAA, sizeof q);
            const float *const rows[2] = {there & 1 ? x : NULL, there & 2 ? x + LONGEST : NULL};
            path->bf16->pair(rows, n, q, APART);
            for (size_t i = 0; i < (n + 15) / 16 * APART; i++) {
                const size_t at = i / APART * 16 + i % APART / 2, r = i % 2;
                const uint16_t value = at < n && there >> r & 1 ? dg_bf16_from_f32(rows[r][at]) : 0;
                assert_int_equal(q[i], i % APART < 32 ? value : 0xAAAA);
            }
        }
    free(x);
}

static void test_pair(void **state)
{
    (void)state;
    each_path(check_pair);
}

static void check_turn(const struct path *path)
{
    enum { N = 48, LD = 51, LDT = 19 };
    uint32_t from[16 * LD], to[N * LDT];
    for (uint32_t i = 0; i < 16 * LD; i++)
        from[i] = i;
    memset(to, 0xAA, sizeof to);
    path->bf16->turn(from, LD, N, to, LDT);
    for (size_t i = 0; i < N * LDT; i++)
        assert_int_equal(to[i], i % LDT < 16 ? i % LDT * LD + i / LDT : 0xAAAAAAAA);
}

static void test_turn(void **state)
{
    (void)state;
    each_path(check_turn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turned), cmocka_unit_test(test_exps),
        cmocka_unit_test(test_pair), cmocka_unit_test(test_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
