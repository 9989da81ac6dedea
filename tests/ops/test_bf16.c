/* bf16's kernels: rounding and packing; products against sums in double, the vector body (emulated)
 * against the plain one bit for bit, each row against the row alone, values that are not finite or
 * too small; the error on a machine without the instruction. */
#include "tests/ops/bf16_problem.h"

/* Returns the sum in double; *absolute is the sum of absolute values. */
static double sum_of(const struct problem *p, size_t m, size_t n, double *absolute)
{
    double sum = 0;
    *absolute = 0;
    for (size_t k = 0; k < p->K; k++) {
        double product = (double)dg_bf16_to_f32(p->x[m * p->ldx + k]) *
                         (double)dg_bf16_to_f32(p->w[n * p->K + k]);
        sum += product;
        *absolute += fabs(product);
    }
    return sum;
}

/* Products are exact, so an output's error is K roundings of partial sums, each at most the sum of
 * the absolute products (the second-order term is below 1 % for these K). */
static void check_products(const struct path *path)
{
    static const size_t sizes[][2] = {
        {1, 1}, {16, 2}, {5, 3}, {40, 24}, {64, 301}, {77, 257}, {130, 33}, {16, 512}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct problem p = problem_new(sizes[s][0], sizes[s][1]);
        float *all = ops_memory(M_MOST * p.ldy, sizeof *all),
              *plain = ops_memory(M_MOST * p.ldy, sizeof *plain);
        multiply(&p, path->plain, 0, M_MOST, plain);
        for (size_t m = 0; m < M_MOST; m++)
            multiply(&p, path->bf16, m, 1, all + m * p.ldy);
        for (size_t m = 0; m < M_MOST; m++)
            for (size_t n = 0; n < p.N; n++) {
                double absolute, want = sum_of(&p, m, n, &absolute);
                ops_near("product", path->name, n, all[m * p.ldy + n], want,
                    1.01 * (double)p.K * EPS * absolute);
            }
        bool same = !memcmp(all, plain, M_MOST * p.ldy * sizeof *all);
        if (!path->isa)
            assert_true(same);
        else if (!same)
            printf("[%zu,%zu]: this processor rounds otherwise than the description\n", p.N, p.K);
        for (size_t M = 1; M <= M_MOST; M++)
            for (size_t m = 0; m + M <= M_MOST; m += M_MOST - M ? M_MOST - M : 1) {
                multiply(&p, path->bf16, m, M, p.y);
                if (memcmp(p.y, all + m * p.ldy, M * p.ldy * sizeof *p.y))
                    fail_msg("%s: [%zu,%zu], M = %zu from row %zu on: a row differs from the row "
                             "alone",
                        path->name, p.N, p.K, M, m);
            }
        free(all), free(plain);
        problem_free(&p);
    }
}

static void test_products(void **state)
{
    (void)state;
    each_path(check_products);
}

/* Row 1 holds a NaN, row 2 an infinity against weights of either sign and zero; their neighbours
 * keep their bits. */
static void check_not_finite(const struct path *path)
{
    struct problem p = problem_new(21, 35);
    float *before = ops_memory(M_MOST * p.ldy, sizeof *before);
    for (size_t n = 0; n < p.N; n++)
        p.w[n * p.K + 34] = (uint16_t[]){0x3F80, 0xBF80, 0}[n % 3]; /* 1, -1, 0 */
    dg_bf16_pack(p.w, p.N, p.K, p.packed);
    multiply(&p, path->bf16, 0, 9, before);
    p.x[1 * p.ldx + 7] = 0x7FC0;
    p.x[2 * p.ldx + 34] = 0x7F80;
    multiply(&p, path->bf16, 0, 9, p.y);
    for (size_t n = 0; n < p.N; n++) {
        float infinite = p.y[2 * p.ldy + n];
        assert_true(isnan(p.y[p.ldy + n]));
        if (n % 3 == 2)
            assert_true(isnan(infinite));
        else
            assert_true(infinite == (n % 3 ? -INFINITY : INFINITY));
    }
    assert_memory_equal(p.y, before, p.ldy * sizeof *before);
    assert_memory_equal(p.y + 3 * p.ldy, before + 3 * p.ldy, 6 * p.ldy * sizeof *before);
    free(before);
    problem_free(&p);
}

static void test_not_finite(void **state)
{
    (void)state;
    each_path(check_not_finite);
}

static float one_product(const struct dg_cpu_bf16 *bf16, float x, float w)
{
    struct problem p = problem_new(1, 1);
    bf16->round(&x, 1, p.x);
    p.w[0] = dg_bf16_from_f32(w);
    dg_bf16_pack(p.w, 1, 1, p.packed);
    multiply(&p, bf16, 0, 1, p.y);
    float y = p.y[0];
    problem_free(&p);
    return y;
}

/* Values below 2^-126, as inputs or outputs, are zero; those above are not; too large ones are
 * infinite. */
static void check_range(const struct path *path)
{
    const struct dg_cpu_bf16 *bf16 = path->bf16;
    assert_true(one_product(bf16, 0x1p-126f, 0x1p10f) == 0x1p-116f);
    assert_true(one_product(bf16, 0x1p-127f, 0x1p10f) == 0);
    assert_true(one_product(bf16, 0x1p10f, -0x1p-130f) == 0);
    assert_true(one_product(bf16, 0x1p-63f, 0x1p-63f) == 0x1p-126f);
    assert_true(one_product(bf16, 0x1p-64f, 0x1p-63f) == 0);
    assert_true(one_product(bf16, 0x1p64f, -0x1p64f) == -INFINITY);
    assert_true(one_product(bf16, FLT_MAX, 1) == INFINITY); /* FLT_MAX rounds to infinity in bf16 */
}

static void test_range(void **state)
{
    (void)state;
    each_path(check_range);
}

/* Values that products take for zero may be rounded to zero already. */
static void assert_rounded(float x, uint16_t q, uint16_t want)
{
    if (fabsf(x) >= FLT_MIN || q & 0x7FFF)
        assert_int_equal(q, want);
}

/* Compares with the converter's rounding, and with known values: ties to even, carries into the
 * exponent. */
static void check_round(const struct path *path)
{
    static const struct {
        float x;
        uint16_t q;
    } known[] = {{1, 0x3F80}, {0x1.01p0f, 0x3F80}, {0x1.010002p0f, 0x3F81}, {0x1.03p0f, 0x3F82},
        {-0x1.FFp0f, 0xC000}, {FLT_MAX, 0x7F80}, {-INFINITY, 0xFF80}, {-0.0f, 0x8000},
        {0x1p-149f, 0}, {0x1.8p-133f, 2}};
    uint16_t q[8];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        path->bf16->round(&known[i].x, 1, q);
        assert_rounded(known[i].x, q[0], known[i].q);
        assert_int_equal(q[1], 0); /* an odd K is padded */
    }
    float nan = NAN;
    path->bf16->round(&nan, 1, q);
    assert_true(isnan(dg_bf16_to_f32(q[0])));
    enum { N = 4001 };
    uint64_t seed = 5;
    uint32_t *bits = ops_memory(N, sizeof *bits);
    float *x = ops_memory(N, sizeof *x);
    uint16_t *rounded = ops_memory(N + 1, sizeof *rounded);
    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < N; i++)
            /* every other one a tie */
            bits[i] = ops_random(&seed) & (i % 2 ? 0xFFFF8000u : 0xFFFFFFFFu);
        memcpy(x, bits, N * sizeof *x);
        path->bf16->round(x, N, rounded);
        for (size_t i = 0; i < N; i++)
            assert_rounded(x[i], rounded[i], dg_bf16_from_f32(x[i]));
    }
    free(bits), free(x), free(rounded);
}

static void test_round(void **state)
{
    (void)state;
    each_path(check_round);
}

static void test_pack(void **state)
{
    (void)state;
    const size_t shapes[][2] = {{1, 1}, {16, 16}, {17, 33}, {40, 7}, {5, 100}, {32, 3}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        size_t N = shapes[s][0], K = shapes[s][1], all = dg_bf16_packed(N, K);
        assert_int_equal(all, (N + 15) / 16 * 16 * ((K + 1) / 2 * 2));
        uint16_t *rows = ops_memory(N * K, 2), *packed = ops_memory(all, 2);
        float *back = ops_memory(K, sizeof *back);
        for (size_t i = 0; i < N * K; i++)
            rows[i] = (uint16_t)(i + 1);
        memset(packed, 0xFF, all * 2);
        dg_bf16_pack(rows, N, K, packed);
        for (size_t i = 0; i < all; i++) {
            size_t panel = i / dg_bf16_panel(K), at = i % dg_bf16_panel(K);
            size_t n = panel * 16 + at / 2 % 16, k = at / 32 * 2 + at % 2;
            assert_int_equal(packed[i], n < N && k < K ? rows[n * K + k] : 0);
        }
        for (size_t n = 0; n < N; n++) {
            dg_bf16_row(packed, n, K, back);
            for (size_t k = 0; k < K; k++)
                assert_true(back[k] == dg_bf16_to_f32(rows[n * K + k]));
        }
        free(rows), free(packed), free(back);
    }
}

/* Adds to y: y + x w^T; whole and partial vectors, every height of tile. */
static void check_add(const struct path *path)
{
    struct problem p = problem_new(40, 33);
    float *want = ops_memory(M_MOST * p.ldy, sizeof *want);
    for (size_t M = 1; M <= M_MOST; M++) {
        for (size_t i = 0; i < M * p.ldy; i++)
            want[i] = p.y[i] = (float)i / 7;
        const struct dg_bf16_gemm g = {
            M, p.N, dg_bf16_pairs(p.K), p.x, p.ldx, p.packed, p.y, p.ldy, .add = true};
        struct dg_bf16_gemm plain = g;
        plain.y = want;
        path->plain->gemm(&plain);
        path->bf16->gemm(&g);
        for (size_t i = 0; i < M * p.ldy; i++)
            if (i % p.ldy >= p.N || !path->isa)
                assert_true(p.y[i] == want[i]);
            else
                ops_near("added", path->name, i, p.y[i], want[i], 1e-5 * (1 + fabs(want[i])));
    }
    free(want);
    problem_free(&p);
}

static void test_add(void **state)
{
    (void)state;
    each_path(check_add);
}

/* An instruction set requested by name that the processor lacks is refused, with a list of those it
 * has. */
static void test_choice(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct dg_backend *be;
    if (ops_has_isa("avx512bf16")) {
        const bool amx = ops_has_isa("amx");
        assert_string_equal(dg_cpu_isas()[0], amx ? "amx" : "avx512bf16");
        assert_string_equal(dg_cpu_isas()[amx], "avx512bf16");
        assert_true(ops_has_isa("avx512vnni") && ops_has_isa("avx512"));
        be = ops_open("avx512bf16", 1);
        assert_string_equal(be->name, "cpu/avx512bf16");
        dg_cpu_close(be);
        return;
    }
    setenv("DRAGOMAN_ISA", "avx512bf16", 1);
    assert_int_equal(dg_cpu_open(NULL, &be, &err), DG_EUNSUP);
    unsetenv("DRAGOMAN_ISA");
    assert_null(be);
    assert_string_equal(err.field, "isa");
    assert_non_null(
        strstr(err.message, "instruction set \"avx512bf16\" is not one this machine runs: "));
    assert_non_null(strstr(err.message, "generic"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round), cmocka_unit_test(test_pack),
        cmocka_unit_test(test_products), cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_range), cmocka_unit_test(test_choice), cmocka_unit_test(test_add)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
