/* int8's kernels: sums exact at the extremes, every instruction set has the bits of the plain one,
 * activations quantised within half a step, packing, which sums may be paired. */
#ifdef __x86_64__
#define DG_X86 /* as in the build of kernels/ */
#endif
#ifdef __aarch64__
#define DG_ARM
#endif
#include "tests/ops/int8_problem.h"

/* The bodies build on the vector and the tiles. */
#include "tests/ops/vec_emulated.h"
#include "tests/ops/tiles_emulated.h"
#include "kernels/cpu/simd_int8.h"
#include "kernels/cpu/tiles_int8.h"

static const struct dg_cpu_int8 emulated = {int8_quantize, int8_gemm, 0},
                                emulated_tiles = {int8_quantize, tiles_int8_gemm, 0};

struct path {
    const char *name, *isa; /* instruction set that the machine needs; NULL: none */
    const struct dg_cpu_int8 *int8;
};

static const struct path paths[] = {
    {"generic", NULL, &dg_int8_plain},
    {"AVX-512's body, emulated", NULL, &emulated},
    {"AMX's body, emulated", NULL, &emulated_tiles},
#ifdef DG_X86
    {"avx2", "avx2", &dg_int8_avx2},
    {"avxvnni", "avxvnni", &dg_int8_avxvnni},
    {"avx512", "avx512", &dg_int8_avx512},
    {"avx512vnni", "avx512vnni", &dg_int8_avx512vnni},
    {"amx", "amx", &dg_int8_amx},
#endif
#ifdef DG_ARM
    {"neon", "neon", &dg_int8_neon},
    {"neondot", "neondot", &dg_int8_neondot},
    {"neoni8mm", "neoni8mm", &dg_int8_neoni8mm},
#endif
};
enum { PATHS = sizeof paths / sizeof *paths };

static bool runs(const struct path *p)
{
    return !p->isa || ops_has_isa(p->isa);
}

/* Computes y[M,ldy]; the gaps between rows hold a mark. */
static void multiply(
    const struct problem *p, const struct dg_cpu_int8 *int8, bool bias, bool relu, float *y)
{
    for (size_t i = 0; i < p->M * p->ldy; i++)
        y[i] = 1234;
    struct dg_int8_gemm g = {p->M, p->N, dg_int8_groups(p->K), p->x, p->ldx, p->acts, p->packed,
        p->scales, bias ? p->bias : NULL, y, p->ldy, relu, p->paired};
    int8->gemm(&g);
}

/* Unit scales: the outputs are the integer sums themselves, compared with sums in 64 bits. */
static void check_exact(const struct path *path, struct problem *p)
{
    float *y = ops_memory(p->M * p->ldy, sizeof *y);
    for (size_t n = 0; n < p->N; n++)
        p->scales[n] = 1;
    for (size_t m = 0; m < p->M; m++)
        p->acts[m].scale = 1;
    p->paired = dg_int8_pack(p->w, p->N, p->K, p->packed);
    multiply(p, path->int8, false, false, y);
    for (size_t m = 0; m < p->M; m++)
        for (size_t n = 0; n < p->N; n++) {
            int64_t sum = 0;
            for (size_t k = 0; k < p->K; k++)
                sum += (p->x[m * p->ldx + k] - p->acts[m].zero) * p->w[n * p->K + k];
            if (y[m * p->ldy + n] != (float)sum)
                fail_msg("%s: [%zu,%zu] row %zu, output %zu is %.9g, expected %lld", path->name,
                    p->N, p->K, m, n, (double)y[m * p->ldy + n], (long long)sum);
        }
    free(y);
}

/* Weights of +-127 and activations of 0 and 127 in every pattern of signs within a group of four,
 * zero points at both ends, up to the longest K: a 16-bit step would saturate. */
static void check_extremes(const struct path *path, size_t K)
{
    for (int pattern = 0; pattern < 16; pattern++) {
        struct problem p = problem_new(K > 10000 ? 2 : 5, 18, K, K);
        for (size_t i = 0; i < p.N * K; i++)
            p.w[i] = pattern >> (i % K % 4) & 1 ? -127 : 127;
        for (size_t i = 0; i < p.M * p.ldx; i++)
            p.x[i] = i / p.ldx % 2 && i % 3 ? 0 : 127;
        for (size_t m = 0; m < p.M; m++)
            p.acts[m].zero = m % 3 ? 127 : 0;
        check_exact(path, &p);
        problem_free(&p);
    }
}

/* The most that paired sums may hold: 258 in every place of a group of eight, of either sign. */
static void check_paired_extremes(const struct path *path, size_t K)
{
    static const int8_t eights[][8] = {{127, 127, -127, -127, 4, 0, -4, 0},
        {64, 65, 64, 65, 65, 64, 65, 64}, {127, 4, 0, 127, 127, 0, 127, 4},
        {-127, -127, -2, 0, -2, -2, -127, -127}, {0, 4, -127, 127, 127, 127, -127, -4}};
    for (size_t e = 0; e < sizeof eights / sizeof *eights; e++) {
        struct problem p = problem_new(K > 10000 ? 2 : 5, 18, K, 1);
        for (size_t i = 0; i < p.N * K; i++)
            p.w[i] = (int8_t)(i / K % 2 ? -eights[e][i % K % 8] : eights[e][i % K % 8]);
        for (size_t i = 0; i < p.M * p.ldx; i++)
            p.x[i] = 127;
        for (size_t m = 0; m < p.M; m++)
            p.acts[m].zero = m % 3 ? 127 : 0;
        check_exact(path, &p);
        assert_true(p.paired);
        problem_free(&p);
    }
}

static void test_exact(void **state)
{
    (void)state;
    const size_t longest[] = {1, 2, 3, 4, 5, 63, 512, 2048, 4096};
    for (size_t i = 0; i < PATHS; i++) {
        printf("int8: %s %s\n", paths[i].name,
            runs(&paths[i]) ? "runs" : "is compiled, but this machine cannot run it");
        if (!runs(&paths[i]))
            continue;
        for (size_t s = 0; s < sizeof longest / sizeof *longest; s++)
            check_extremes(&paths[i], longest[s]);
        for (size_t K = 1; K < 20; K++)
            check_paired_extremes(&paths[i], K);
        check_extremes(&paths[i], DG_INT8_K_MAX);
        check_paired_extremes(&paths[i], DG_INT8_K_MAX);
        for (size_t s = 0; s < 60; s++) {
            struct problem p = problem_new(1 + s % 19, 1 + s * 7 % 70, 1 + s * 13 % 150, s);
            check_exact(&paths[i], &p);
            problem_free(&p);
        }
    }
}

/* The same bits as the plain one, with and without bias and ReLU; nothing outside [M,N] is
 * written. */
static void check_same_bits(size_t M, size_t N, size_t K, size_t s)
{
    struct problem p = problem_new(M, N, K, s);
    float *want = ops_memory(p.M * p.ldy, sizeof *want), *y = ops_memory(p.M * p.ldy, sizeof *y);
    assert_true(p.paired || s % 2 == 0);
    multiply(&p, &dg_int8_plain, s & 1, s & 2, want);
    for (size_t m = 0; m < p.M; m++)
        for (size_t n = p.N; n < p.ldy; n++)
            assert_true(want[m * p.ldy + n] == 1234);
    for (size_t i = 1; i < PATHS; i++) {
        if (!runs(&paths[i]))
            continue;
        multiply(&p, paths[i].int8, s & 1, s & 2, y);
        if (memcmp(y, want, p.M * p.ldy * sizeof *y))
            fail_msg(
                "%s: M %zu, N %zu, K %zu differs from the plain one", paths[i].name, p.M, p.N, p.K);
    }
    free(want), free(y);
    problem_free(&p);
}

/* Odd N and K, every height of a tile; then rows and panels that do not stay in the caches: several
 * tiles with several runs of columns, and tiles of fewer rows because rows are long. */
static void test_same_bits(void **state)
{
    (void)state;
    for (size_t s = 0; s < 300; s++)
        check_same_bits(1 + s % 21, 1 + s * 11 % 101, 1 + s * 29 % 333, s);
    check_same_bits(14, 58, 2090, 1);
    check_same_bits(27, 41, 3075, 2);
    check_same_bits(5, 33, 8003, 3);
    check_same_bits(4, 33, 20001, 1);
    check_same_bits(3, 17, 30002, 2);
}

static void check_quantised(
    const char *name, int kind, const float *x, size_t K, const uint8_t *q, struct dg_int8_act act)
{
    for (size_t k = 0; k < K; k++) {
        double back = (double)act.scale * (q[k] - act.zero);
        /* Half a step, plus the roundings of scale, product and of ties at both ends. */
        double tolerance = (double)act.scale * 0.5001 + 1e-30;
        assert_in_range(q[k], 0, 127);
        if (!(fabs(back - (double)x[k]) <= tolerance))
            fail_msg("%s, kind %d, K %zu: element %zu is %.9g, comes back as %.9g", name, kind, K,
                k, (double)x[k], back);
        if (x[k] == 0)
            assert_true(q[k] == act.zero); /* 0 is exact */
    }
}

static void test_quantize(void **state)
{
    (void)state;
    for (size_t K = 1; K < 140; K++)
        for (int kind = 0; kind < KINDS; kind++) {
            float x[140];
            uint8_t want[192], q[192];
            fill_row(kind, x, K, K * 16 + (size_t)kind);
            struct dg_int8_act act = dg_int8_plain.quantize(x, K, DG_INT8_STEPS, want);
            check_quantised("generic", kind, x, K, want, act);
            for (size_t i = 1; i < PATHS; i++) {
                if (!runs(&paths[i]))
                    continue;
                struct dg_int8_act other = paths[i].int8->quantize(x, K, DG_INT8_STEPS, q);
                if (memcmp(q, want, K) || memcmp(&act, &other, sizeof act))
                    fail_msg(
                        "%s: kind %d, K %zu differs from the plain one", paths[i].name, kind, K);
            }
        }
}

/* Rows of ReLU outputs use all 128 steps; NaN and infinity give scale NaN, wherever they are. */
static void test_quantize_ends(void **state)
{
    (void)state;
    enum { K = 101 }; /* at any width: four vectors at once, single ones, and a part */
    for (size_t i = 0; i < PATHS; i++) {
        if (!runs(&paths[i]))
            continue;
        float x[K] = {0};
        uint8_t q[128];
        x[3] = 5, x[K - 1] = 2.5f;
        struct dg_int8_act act = paths[i].int8->quantize(x, K, DG_INT8_STEPS, q);
        assert_int_equal(act.zero, 0);
        assert_int_equal(q[3], 127);
        assert_int_equal(q[K - 1], 64);
        const float odd[] = {NAN, INFINITY, -INFINITY};
        for (size_t k = 0; k < K; k++)
            for (size_t j = 0; j < 3; j++) {
                float y[K] = {0};
                y[k] = odd[j];
                assert_true(isnan(paths[i].int8->quantize(y, K, DG_INT8_STEPS, q).scale));
            }
    }
}

/* Fine activations: the same steps and sums on every path, with the largest neighbouring weights
 * allowed and the largest activations. */
static void test_fine(void **state)
{
    (void)state;
    static const int8_t pairs[][4] = {
        {127, 19, -127, -19}, {73, 73, -73, -73}, {127, -127, 1, 127}};
    for (size_t i = 0; i < PATHS; i++)
        for (size_t K = 1; K <= 1031 && runs(&paths[i]); K += K < 70 ? 1 : 137)
            for (size_t e = 0; e < 3; e++) {
                const int shift = paths[i].int8->fine_shift;
                struct problem p = problem_new(1 + K % 9, 18, K, 1);
                for (size_t n = 0; n < p.N * K; n++)
                    p.w[n] = (int8_t)(n / K % 2 ? -pairs[e][n % K % 4] : pairs[e][n % K % 4]);
                for (size_t k = 0; k < p.M * p.ldx; k++)
                    p.x[k] = (uint8_t)((k / p.ldx % 2 && k % 3 ? 0 : DG_INT8_FINE_STEPS) - shift);
                for (size_t m = 0; m < p.M; m++) {
                    p.acts[m] = (struct dg_int8_act){1, (m % 3 ? DG_INT8_FINE_STEPS : 0) - shift};
                }
                for (size_t n = 0; n < p.N; n++) {
                    p.scales[n] = 1;
                    assert_true(dg_int8_two_sum(p.w + n * K, K) <= DG_INT8_FINE);
                }
                float *y = ops_memory(p.M * p.ldy, sizeof *y);
                dg_int8_pack(p.w, p.N, K, p.packed);
                assert_true(dg_int8_packed_two_sum(p.packed, p.N, K) <= DG_INT8_FINE);
                p.paired = false;
                multiply(&p, paths[i].int8, false, false, y);
                for (size_t m = 0; m < p.M; m++)
                    for (size_t n = 0; n < p.N; n++) {
                        int sum = 0;
                        for (size_t k = 0; k < K; k++) {
                            const uint8_t q = p.x[m * p.ldx + k];
                            sum += ((shift ? (int8_t)q : q) - p.acts[m].zero) * p.w[n * K + k];
                        }
                        if (y[m * p.ldy + n] != (float)sum)
                            fail_msg("%s: K %zu, row %zu, output %zu is %.9g, expected %d",
                                paths[i].name, K, m, n, (double)y[m * p.ldy + n], sum);
                    }
                free(y);
                problem_free(&p);
            }
}

static void test_quantize_fine(void **state)
{
    (void)state;
    for (size_t K = 1; K < 140; K++)
        for (int kind = 0; kind < KINDS; kind++) {
            float x[140];
            uint8_t want[192], q[192];
            fill_row(kind, x, K, K * 16 + (size_t)kind);
            struct dg_int8_act act = dg_int8_plain.quantize(x, K, DG_INT8_FINE_STEPS, want);
            for (size_t k = 0; k < K && act.scale > 0; k++) {
                double back = (double)act.scale * (want[k] - act.zero);
                assert_true(want[k] <= DG_INT8_FINE_STEPS);
                assert_true(fabs(back - (double)x[k]) <= 1.001 * (double)act.scale);
            }
            for (size_t i = 1; i < PATHS; i++) {
                if (!runs(&paths[i]))
                    continue;
                const int shift = paths[i].int8->fine_shift;
                struct dg_int8_act other = paths[i].int8->quantize(x, K, DG_INT8_FINE_STEPS, q);
                other.zero += shift;
                for (size_t k = 0; k < K; k++)
                    q[k] = (uint8_t)(q[k] + shift);
                /* a row that counts as zero has 0 as steps and zero point before the shift */
                if (act.scale > 0 && (memcmp(q, want, K) || memcmp(&act, &other, sizeof act)))
                    fail_msg("%s: kind %d, K %zu differs", paths[i].name, kind, K);
            }
        }
}

/* Each element is in its place, padding is zero; sums; rows read back. */
static void test_pack(void **state)
{
    (void)state;
    for (size_t s = 0; s < 80; s++) {
        struct problem p = problem_new(1, 1 + s * 5 % 50, 1 + s * 3 % 70, s);
        float *row = ops_memory(p.K, sizeof *row);
        memset(p.packed, 0x55, dg_int8_packed_bytes(p.N, p.K));
        dg_int8_pack(p.w, p.N, p.K, p.packed);
        for (size_t n = 0; n < (p.N + 15) / 16 * 16; n++) {
            const int8_t *panel = (const int8_t *)p.packed + n / 16 * dg_int8_panel_bytes(p.K);
            int32_t sum = 0, stored;
            memcpy(&stored, panel + dg_int8_groups(p.K) * 64 + n % 16 * 4, 4);
            for (size_t k = 0; k < dg_int8_groups(p.K) * 4; k++) {
                int8_t want = n < p.N && k < p.K ? p.w[n * p.K + k] : 0;
                assert_int_equal(panel[k / 4 * 64 + n % 16 * 4 + k % 4], want);
                sum += want;
            }
            assert_int_equal(stored, sum);
        }
        for (size_t n = 0; n < p.N; n++) {
            dg_int8_row(p.packed, n, p.K, row);
            for (size_t k = 0; k < p.K; k++)
                assert_true(row[k] == (float)p.w[n * p.K + k]);
        }
        free(row);
        problem_free(&p);
    }
}

/* Which sums may be paired: every place of a group of eight, within and after the last whole group,
 * at the limit and above. */
static void test_pairs(void **state)
{
    (void)state;
    static const size_t places[2][4] = {{0, 1, 4, 5}, {2, 3, 6, 7}};
    for (size_t K = 1; K <= 32; K++)
        for (size_t first = 0; first < K; first += 8)
            for (int sign = -1; sign <= 1; sign += 2)
                for (int i = 0; i < 2; i++) {
                    int8_t row[32] = {0};
                    char packed[1024];
                    int sum = 0;
                    for (size_t j = 0; j < 4; j++)
                        if (first + places[i][j] < K)
                            row[first + places[i][j]] = (int8_t)(sign * (j < 3 ? 127 : 0)),
                                        sum += j < 3 ? 127 : 0;
                    for (size_t j = 0; j < 4;
                         j++) /* of the other sign, or in the other four: not added */
                        if (first + places[!i][j] < K)
                            row[first + places[!i][j]] = (int8_t)(sign * 64);
                    if (sum == 3 * 127 && first + places[i][3] < K)
                        row[first + places[i][3]] = (int8_t)(-sign * 100);
                    int others = dg_int8_pair_sum(row, K);
                    assert_true(others >= sum);
                    assert_int_equal(dg_int8_pack(row, 1, K, packed), others <= 258);
                    if (sum < 3 * 127)
                        continue;
                    row[first + places[i][0]] = (int8_t)(sign * 4);
                    assert_true(dg_int8_pack(row, 1, K, packed));
                    row[first + places[i][0]] = (int8_t)(sign * 5);
                    assert_false(dg_int8_pack(row, 1, K, packed));
                    assert_int_equal(dg_int8_pair_sum(row, K), 259);
                }
    const int8_t lowest[6] = {-128, -126, 0, 0, -4, 0};
    char packed[256];
    assert_true(dg_int8_pack(lowest, 1, 6, packed));
    assert_int_equal(dg_int8_pair_sum(lowest, 6), 258);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact),
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_quantize),
        cmocka_unit_test(test_fine), cmocka_unit_test(test_quantize_fine),
        cmocka_unit_test(test_quantize_ends), cmocka_unit_test(test_pack),
        cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
