/* The bodies of the vector kernels at AVX-512's width, over an emulated vector, against the plain
 * kernels: tails, masks, tiles of two panels. AVX-512's own instructions (vec_avx512.h) are not
 * covered. */
#include "kernels/cpu/isa.h"
#include "kernels/cpu/pack.h"
#include "tests/ops/ops.h"
#include "tests/ops/vec_emulated.h"

#include "kernels/cpu/simd_isa.h"

static const struct dg_cpu_isa wide = {.name = "emulated", DG_SIMD_KERNELS};

static void compare(
    const char *what, const float *got, const float *want, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        ops_near(what, wide.name, i, got[i], want[i], tolerance * (1 + fabs((double)want[i])));
}

/* Products: against the plain ones, and each row against the row alone. */
static void test_gemm(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {40, 24}, {64, 300}, {77, 257}, {16, 512}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t N = sizes[s][0], K = sizes[s][1];
        enum { M_MOST = 14 };
        float *x = ops_floats(M_MOST * K, 1), *w = ops_floats(N * K, 2),
              *panels = ops_memory(dg_pack_elements(N, K), 4);
        float *alone = ops_memory(M_MOST * N, 4), *want = ops_memory(M_MOST * N, 4),
              *y = ops_memory(M_MOST * (N + 3), 4);
        dg_pack_panels(&(struct dg_stored){DG_F32, DG_LAYOUT_ROWS, w, NULL}, N, K, panels);
        for (size_t m = 0; m < M_MOST; m++)
            wide.gemm(&(struct dg_gemm){1, N, K, x + m * K, K, panels, alone + m * N, N});
        dg_cpu_plain.gemm(&(struct dg_gemm){M_MOST, N, K, x, K, panels, want, N});
        compare("gemm", alone, want, M_MOST * N, EPS * (double)K);
        for (size_t M = 1; M <= M_MOST; M++) {
            wide.gemm(&(struct dg_gemm){M, N, K, x, K, panels, y, N + 3});
            for (size_t m = 0; m < M; m++)
                if (memcmp(y + m * (N + 3), alone + m * N, N * sizeof *y))
                    fail_msg("[%zu,%zu], M = %zu: row %zu differs from the row alone", N, K, M, m);
        }
        free(x), free(w), free(panels), free(alone), free(want), free(y);
    }
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 70; n++) {
        float *x = ops_floats(n, n), *r = ops_floats(n, n + 1), *g = ops_floats(n, 3),
              *b = ops_floats(n, 4);
        float y[2][70], pre[2][70], xhat[2][70], rstd[2];
        const struct dg_cpu_isa *both[2] = {&wide, &dg_cpu_plain};
        for (int act = DG_ACT_NONE; act <= DG_ACT_GELU; act++) {
            for (int i = 0; i < 2; i++) {
                memcpy(y[i], x, n * sizeof *x);
                both[i]->finish(y[i], pre[i], b, n, (enum dg_act)act);
                both[i]->dropout(y[i], n, (struct dg_mask){77, 5, 0.4f});
            }
            compare("finish and dropout", y[0], y[1], n, 8 * EPS);
            compare("pre", pre[0], pre[1], n, 0);
        }
        for (int i = 0; i < 2; i++)
            both[i]->norm(
                &(struct dg_norm_row){x, r, y[i], g, b, xhat[i], &rstd[i], 0.1f, {9, 0, 0.2f}}, n);
        compare("norm", y[0], y[1], n, 32 * EPS); /* σ² >= 0.1 bounds what 1/σ magnifies */
        compare("xhat", xhat[0], xhat[1], n, 32 * EPS);
        compare("rstd", rstd, rstd + 1, 1, 32 * EPS);
        for (int i = 0; i < 2; i++)
            both[i]->ssru(&(struct dg_ssru_row){x, r, n % 2 ? b : NULL, pre[i], y[i]}, n);
        compare("ssru's state", pre[0], pre[1], n, 8 * EPS);
        compare("ssru", y[0], y[1], n, 8 * EPS);
        ops_near(
            "dot", "emulated", n, wide.dot(x, r, n), dg_cpu_plain.dot(x, r, n), EPS * (double)n);
        free(x), free(r), free(g), free(b);
    }
}

static void test_softmax(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 70; n++) {
        float *x = ops_floats(n, n), s[2][70], sum[2][16] = {{0}};
        for (size_t i = 0; i < n; i++)
            x[i] *= 30;
        float max = wide.max(x, n);
        assert_true(max == dg_cpu_plain.max(x, n));
        memcpy(s[0], x, n * sizeof *x);
        memcpy(s[1], x, n * sizeof *x);
        wide.exp_sum(s[0], n, max, 0.7f, sum[0]);
        dg_cpu_plain.exp_sum(s[1], n, max, 0.7f, sum[1]);
        compare("exp_sum", s[0], s[1], n, 4 * EPS);
        compare("exp_sum's lanes", sum[0], sum[1], 16, 16 * EPS);
        wide.scale(s[0], n, 0.3f);
        dg_cpu_plain.scale(s[1], n, 0.3f);
        compare("scale", s[0], s[1], n, 4 * EPS);
        ops_near("sum_exp", "emulated", n, wide.sum_exp(x, n, max, x),
            dg_cpu_plain.sum_exp(x, n, max, x), 32 * EPS);
        free(x);
    }
}

static void test_attention(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {{1, 5, 64}, {4, 27, 64}, {7, 70, 40}, {8, 9, 130}, {5, 1, 3}};
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        size_t n_q = sizes[c][0], n_k = sizes[c][1], dim = sizes[c][2], lds = (n_k + 7) / 8 * 8;
        float *q = ops_floats(n_q * dim, 1), *rows = ops_floats(n_k * (dim + 2), 2);
        float *s = ops_floats(n_q * lds, 3), *want = ops_floats(n_q * lds, 3);
        float *out = ops_floats(n_q * dim, 4), *sum = ops_floats(n_q * dim, 4);
        struct dg_kv kv = {.data = rows, .ld = dim + 2, .dim = dim};
        struct dg_attn_tile t = {n_q, q, dim, s, lds, out, dim},
                            plain = {n_q, q, dim, want, lds, sum, dim};
        wide.scores(&t, &kv, 0, n_k);
        dg_cpu_plain.scores(&plain, &kv, 0, n_k);
        for (size_t i = 0; i < n_q; i++)
            compare("scores", s + i * lds, want + i * lds, n_k, EPS * (double)dim);
        memcpy(s, want, n_q * lds * sizeof *s);
        wide.weigh(&t, &kv, 0, n_k);
        dg_cpu_plain.weigh(&plain, &kv, 0, n_k);
        compare("weigh", out, sum, n_q * dim, EPS * (double)n_k * 8);
        free(q), free(rows), free(s), free(want), free(out), free(sum);
    }
}

/* Computes query i of head h by the functions for one head at a time: probabilities p[n],
 * out[Dv]. */
static void attend_alone(const struct dg_attn_step *t, size_t i, size_t h, float *p, float *out)
{
    const size_t Dk = t->k.dim, Dv = t->v.dim;
    struct dg_kv k = t->k, v = t->v;
    struct dg_attn_tile one = {1, t->q + i * t->ldq + h * Dk, Dk, p, t->lds, out, Dv};
    float sum[16] = {0};
    k.data += h * Dk;
    v.data += h * Dv;
    memset(out, 0, Dv * sizeof *out);
    wide.scores(&one, &k, 0, t->n);
    wide.exp_sum(p, t->n, wide.max(p, t->n), t->scale, sum);
    for (size_t width = 8; width; width /= 2)
        for (size_t l = 0; l < width; l++)
            sum[l] += sum[l + width];
    wide.scale(p, t->n, 1.0f / sum[0]);
    wide.weigh(&one, &v, 0, t->n);
}

/* A step has the bits of the functions for one head at a time, however many queries share it. */
static void test_step(void **state)
{
    (void)state;
    static const size_t sizes[][4] = {
        {8, 14, 64, 64}, {4, 1, 64, 32}, {5, 70, 16, 128}, {3, 130, 40, 24}, {1, 9, 130, 16}};
    enum { CASES = sizeof sizes / sizeof *sizes, QUERIES = 7 };
    for (size_t c = 0; c < (size_t)CASES * QUERIES; c++) {
        const size_t *size = sizes[c / QUERIES], n_q = c % QUERIES + 1;
        const size_t H = size[0], n = size[1], Dk = size[2], Dv = size[3];
        const size_t lds = (n + 15) / 16 * 16, ldq = H * Dk + 3, ldo = H * Dv + 5;
        float *q = ops_floats(n_q * ldq, 1), *k = ops_floats(n * H * Dk, 2),
              *v = ops_floats(n * H * Dv, 3);
        float *s = ops_memory(H * n_q * lds, 4), *p = ops_memory(lds, 4),
              *out = ops_memory(n_q * ldo, 4), *alone = ops_memory(Dv, 4);
        struct dg_attn_step t = {.n_q = n_q,
            .H = H,
            .n = n,
            .q = q,
            .ldq = ldq,
            .k = {.data = k, .ld = H * Dk, .dim = Dk},
            .v = {.data = v, .ld = H * Dv, .dim = Dv},
            .s = s,
            .lds = lds,
            .scale = 0.125f,
            .out = out,
            .ldo = ldo};
        t.next = t.k;
        t.n_next = n;
        wide.step(&t);
        for (size_t r = 0; r < H * n_q; r++) {
            attend_alone(&t, r % n_q, r / n_q, p, alone);
            assert_memory_equal(s + r * lds, p, n * sizeof *p);
            assert_memory_equal(out + r % n_q * ldo + r / n_q * Dv, alone, Dv * sizeof *alone);
        }
        free(q), free(k), free(v), free(s), free(p), free(out), free(alone);
    }
}

/* Runs of any length, and the places of large values, against the plain loops. */
static void test_topk_parts(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 100; n += 3) {
        float *x = ops_floats(n, n), most[2][7] = {{0}};
        uint32_t at[2][100];
        wide.run_max(x, n, 16, most[0]);
        dg_cpu_plain.run_max(x, n, 16, most[1]);
        assert_memory_equal(most[0], most[1], sizeof most[0]);
        size_t found = wide.at_least(x, n, x[n / 2], at[0]);
        assert_true(found >= 1 && found == dg_cpu_plain.at_least(x, n, x[n / 2], at[1]));
        assert_memory_equal(at[0], at[1], found * sizeof **at);
        free(x);
    }
}

/* Exponentials far below the maximum vanish, and NaN does not. */
static void test_sum_exp_extremes(void **state)
{
    (void)state;
    float x[40];
    for (size_t i = 0; i < 40; i++)
        x[i] = i % 2 ? -INFINITY : -1e30f;
    x[7] = 3;
    assert_true(fabs(wide.sum_exp(x, 40, 3, x) - 1) < 2e-7);
    x[21] = NAN;
    assert_true(isnan(wide.sum_exp(x, 40, 3, x)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gemm), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_softmax), cmocka_unit_test(test_attention),
        cmocka_unit_test(test_step), cmocka_unit_test(test_topk_parts),
        cmocka_unit_test(test_sum_exp_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
