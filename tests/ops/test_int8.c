/* int8: sums exact at the extremes, every instruction set the bits of the plain one, quantisation within half a step,
 * the product within its bound of fp32's, weights packed or in rows, looked up, refused. */
#ifdef __x86_64__
#define DG_X86 /* as kernels/ is built there */
#endif
#include "kernels/cpu/int8.h"
#include "tests/ops/ops.h"

/* clang-format off: the body builds on the vector. */
#include "tests/ops/vec_emulated.h"
#include "kernels/cpu/simd_int8.h"
/* clang-format on */

static const struct dg_cpu_int8 emulated = { int8_quantize, int8_gemm };

struct path {
    const char *name, *isa; /* the set that the machine needs; NULL: none */
    const struct dg_cpu_int8 *int8;
};

static const struct path paths[] = {
    { "generic", NULL, &dg_int8_plain },
    { "AVX-512's body, emulated", NULL, &emulated },
#ifdef DG_X86
    { "avx2", "avx2", &dg_int8_avx2 },
    { "avxvnni", "avxvnni", &dg_int8_avxvnni },
    { "avx512", "avx512", &dg_int8_avx512 },
    { "avx512vnni", "avx512vnni", &dg_int8_avx512vnni },
#endif
};
enum { PATHS = sizeof paths / sizeof *paths };

static bool runs(const struct path *p)
{
    bool found = !p->isa;
    for (const char *const *isa = dg_cpu_isas(); *isa && !found; isa++)
        found = !strcmp(*isa, p->isa);
    return found;
}

/* One product straight from the kernels. */
struct problem {
    size_t M, N, K, ldx, ldy;
    uint8_t *x;      /* [M,ldx] */
    int8_t *w;       /* [N,K] */
    void *packed;
    float *scales, *bias; /* [N] */
    struct dg_int8_act *acts; /* [M] */
};

static void *aligned(size_t n)
{
    void *p = aligned_alloc(64, (n + 63) / 64 * 64);
    assert_non_null(p);
    return p;
}

static struct problem problem_new(size_t M, size_t N, size_t K, uint64_t seed)
{
    struct problem p = { M, N, K, (K + 63) / 64 * 64 + 64 * (seed % 2), N + seed % 3, NULL, NULL, NULL, NULL, NULL, NULL };
    p.x = aligned(M * p.ldx);
    p.w = ops_memory(N * K, 1);
    p.packed = aligned(dg_int8_packed_bytes(N, K));
    p.scales = ops_floats(N, seed);
    p.bias = ops_floats(N, seed + 1);
    p.acts = ops_memory(M, sizeof *p.acts);
    for (size_t i = 0; i < M * p.ldx; i++)
        p.x[i] = (uint8_t)(ops_random(&seed) % 128);
    for (size_t i = 0; i < N * K; i++)
        p.w[i] = (int8_t)((int)(ops_random(&seed) % 255) - 127);
    for (size_t m = 0; m < M; m++)
        p.acts[m] = (struct dg_int8_act){ fabsf(ops_uniform(&seed)), (int32_t)(ops_random(&seed) % 128) };
    return p;
}

static void problem_free(struct problem *p)
{
    free(p->x), free(p->w), free(p->packed), free(p->scales), free(p->bias), free(p->acts);
}

/* y[M,ldy], what lies between the rows as `mark` has it. */
static void multiply(const struct problem *p, const struct dg_cpu_int8 *int8, bool bias, bool relu, float *y)
{
    for (size_t i = 0; i < p->M * p->ldy; i++)
        y[i] = 1234;
    struct dg_int8_gemm g = { p->M, p->N, dg_int8_groups(p->K), p->x, p->ldx, p->acts, p->packed, p->scales,
        bias ? p->bias : NULL, y, p->ldy, relu };
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
    dg_int8_pack(p->w, p->N, p->K, p->packed);
    multiply(p, path->int8, false, false, y);
    for (size_t m = 0; m < p->M; m++)
        for (size_t n = 0; n < p->N; n++) {
            int64_t sum = 0;
            for (size_t k = 0; k < p->K; k++)
                sum += (p->x[m * p->ldx + k] - p->acts[m].zero) * p->w[n * p->K + k];
            if (y[m * p->ldy + n] != (float)sum)
                fail_msg("%s: [%zu,%zu] row %zu, output %zu is %.9g, expected %lld", path->name, p->N, p->K, m, n,
                    (double)y[m * p->ldy + n], (long long)sum);
        }
    free(y);
}

/* Weights of +-127 and activations of 0 and 127 in every pattern of signs within a group of four, zero points at both
 * ends: what a 16-bit step would saturate on, up to the longest K. */
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

static void test_exact(void **state)
{
    (void)state;
    const size_t longest[] = { 1, 2, 3, 4, 5, 63, 512, 2048, 4096 };
    for (size_t i = 0; i < PATHS; i++) {
        printf("int8: %s %s\n", paths[i].name, runs(&paths[i]) ? "runs" : "is compiled, but this machine cannot run it");
        if (!runs(&paths[i]))
            continue;
        for (size_t s = 0; s < sizeof longest / sizeof *longest; s++)
            check_extremes(&paths[i], longest[s]);
        check_extremes(&paths[i], DG_INT8_K_MAX);
        for (size_t s = 0; s < 60; s++) {
            struct problem p = problem_new(1 + s % 19, 1 + s * 7 % 70, 1 + s * 13 % 150, s);
            check_exact(&paths[i], &p);
            problem_free(&p);
        }
    }
}

/* Bit for bit the plain one: odd N and K, every height of a tile, bias and ReLU or not; nothing beside [M,N] written. */
static void test_same_bits(void **state)
{
    (void)state;
    for (size_t s = 0; s < 300; s++) {
        struct problem p = problem_new(1 + s % 21, 1 + s * 11 % 101, 1 + s * 29 % 333, s);
        float *want = ops_memory(p.M * p.ldy, sizeof *want), *y = ops_memory(p.M * p.ldy, sizeof *y);
        dg_int8_pack(p.w, p.N, p.K, p.packed);
        multiply(&p, &dg_int8_plain, s & 1, s & 2, want);
        for (size_t m = 0; m < p.M; m++)
            for (size_t n = p.N; n < p.ldy; n++)
                assert_true(want[m * p.ldy + n] == 1234);
        for (size_t i = 1; i < PATHS; i++) {
            if (!runs(&paths[i]))
                continue;
            multiply(&p, paths[i].int8, s & 1, s & 2, y);
            if (memcmp(y, want, p.M * p.ldy * sizeof *y))
                fail_msg("%s: M %zu, N %zu, K %zu differs from the plain one", paths[i].name, p.M, p.N, p.K);
        }
        free(want), free(y);
        problem_free(&p);
    }
}

/* A row of one kind: what range and zero point have to get right. */
static void fill_row(int kind, float *x, size_t K, uint64_t seed)
{
    for (size_t k = 0; k < K; k++)
        x[k] = ops_uniform(&seed);
    for (size_t k = 0; k < K; k++)
        switch (kind) {
        case 1: x[k] = fabsf(x[k]); break;
        case 2: x[k] = -fabsf(x[k]) - 3; break;
        case 3: x[k] = 0; break;
        case 4: x[k] = -7.25f; break;
        case 5: x[k] *= 1e-31f; break;
        case 6: x[k] *= 1e37f; break;
        case 7: x[k] = (float)((int)(ops_random(&seed) % 128) - 64) + 0.5f; break; /* ties */
        case 8: x[k] = k ? x[k] : 1000; break;
        case 9: x[k] = k % 2 ? -0.0f : 0.0f; break;
        default: break;
        }
}
enum { KINDS = 10 };

static void check_quantised(const char *name, int kind, const float *x, size_t K, const uint8_t *q,
    struct dg_int8_act act)
{
    for (size_t k = 0; k < K; k++) {
        double back = (double)act.scale * (q[k] - act.zero);
        /* Half a step, and the roundings of scale, product and of ties at both ends. */
        double tolerance = (double)act.scale * 0.5001 + 1e-30;
        assert_in_range(q[k], 0, 127);
        if (!(fabs(back - (double)x[k]) <= tolerance))
            fail_msg("%s, kind %d, K %zu: element %zu is %.9g, comes back as %.9g", name, kind, K, k, (double)x[k], back);
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
            struct dg_int8_act act = dg_int8_plain.quantize(x, K, want);
            check_quantised("generic", kind, x, K, want, act);
            for (size_t i = 1; i < PATHS; i++) {
                if (!runs(&paths[i]))
                    continue;
                struct dg_int8_act other = paths[i].int8->quantize(x, K, q);
                if (memcmp(q, want, K) || memcmp(&act, &other, sizeof act))
                    fail_msg("%s: kind %d, K %zu differs from the plain one", paths[i].name, kind, K);
            }
        }
}

/* Rows behind ReLU use all 128 steps; NaN and infinity show. */
static void test_quantize_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < PATHS; i++) {
        if (!runs(&paths[i]))
            continue;
        float x[37] = { 0 };
        uint8_t q[64];
        x[3] = 5, x[36] = 2.5f;
        struct dg_int8_act act = paths[i].int8->quantize(x, 37, q);
        assert_int_equal(act.zero, 0);
        assert_int_equal(q[3], 127);
        assert_int_equal(q[36], 64);
        const float odd[] = { NAN, INFINITY, -INFINITY };
        for (size_t k = 0; k < 37; k++)
            for (size_t j = 0; j < 3; j++) {
                float y[37] = { 0 };
                y[k] = odd[j];
                assert_true(isnan(paths[i].int8->quantize(y, 37, q).scale));
            }
    }
}

/* Rows, packing and back; sums; padding is zero. */
static void test_pack(void **state)
{
    (void)state;
    for (size_t s = 0; s < 80; s++) {
        struct problem p = problem_new(1, 1 + s * 5 % 50, 1 + s * 3 % 70, s);
        int8_t *back = ops_memory(p.N * p.K, 1);
        float *row = ops_memory(p.K, sizeof *row);
        memset(p.packed, 0x55, dg_int8_packed_bytes(p.N, p.K));
        dg_int8_pack(p.w, p.N, p.K, p.packed);
        dg_int8_unpack(p.packed, p.N, p.K, back);
        assert_memory_equal(back, p.w, p.N * p.K);
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
        dg_int8_row(p.packed, p.N - 1, p.K, row);
        for (size_t k = 0; k < p.K; k++)
            assert_true(row[k] == (float)p.w[(p.N - 1) * p.K + k]);
        free(back), free(row);
        problem_free(&p);
    }
}

static struct dg_weight *int8_weight(struct dg_backend *be, unsigned use, const struct problem *p, bool packed)
{
    struct dg_stored forms[2] = { { DG_S8, DG_LAYOUT_ROWS, p->w, p->scales },
        { DG_S8, DG_LAYOUT_PANEL16_S8, p->packed, p->scales } };
    struct dg_weight_spec spec = { "w", use, p->N, p->K, false, forms, packed ? 2 : 1 };
    struct dg_error err = { 0 };
    struct dg_weight *w;
    dg_int8_pack(p->w, p->N, p->K, p->packed);
    for (size_t n = 0; n < p->N; n++)
        p->scales[n] = fabsf(p->scales[n]);
    if (be->ops->weight_new(be, &spec, &w, &err))
        fail_msg("%s", err.message);
    return w;
}

static double activate(double x, enum dg_act act)
{
    return act == DG_ACT_RELU ? fmax(x, 0) : act == DG_ACT_SWISH ? x / (1 + exp(-x))
        : act == DG_ACT_GELU ? 0.5 * x * (1 + erf(x / sqrt(2))) : x;
}

/* The op against the same weights in double: a row's error is at most half a step of its activations times the weights'
 * size. Activations' slopes are at most 1.13. */
static void check_linear(struct dg_backend *be, const char *isa, size_t s, enum dg_act act, bool all, bool packed)
{
    static const size_t shapes[][3] = { { 1, 17, 33 }, { 3, 100, 512 }, { 4, 48, 6 }, { 9, 515, 64 }, { 70, 65, 130 },
        { 2051, 5, 9 }, { 9, 3, DG_INT8_K_MAX } };
    size_t M = shapes[s][0], N = shapes[s][1], K = shapes[s][2];
    struct problem p = problem_new(1, N, K, 77 + s);
    float *x = ops_floats(M * K, s), *y = ops_memory(M * N, sizeof *y), *pre = ops_memory(M * N, sizeof *pre);
    uint32_t *keys = ops_memory(M, sizeof *keys);
    struct dg_dropout drop = { 0.3f, 0x51u, keys };
    struct dg_rows xr = ops_rows(be, x, M, K, 3, K + 5), yr = ops_rows(be, NULL, M, N, 1, N + 2);
    struct dg_weight *w = int8_weight(be, DG_USE_MATRIX, &p, packed), *bias = ops_weight(be, DG_USE_VECTOR, 1, N, p.bias,
        false);
    struct dg_linear op = { .w = w, .bias = bias, .act = act };
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
            double tolerance = 0.5001 * (high - low) / 127 * size + 16 * EPS * fabs(sum) + EPS, want = activate(sum, act);
            if (all)
                ops_near("pre", isa, m * N + n, pre[m * N + n], sum, tolerance);
            if (all)
                want = dg_dropout_keep(keys[m] ^ 0x51u, (uint32_t)n, 0.3f) ? want / (1 - (double)0.3f) : 0;
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
        struct dg_linear op = { .w = int8_weight(be, DG_USE_MATRIX, &p, true), .act = (enum dg_act)act };
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

/* A tied table is looked up in the packed weights, an untied one in its rows: element times scale, exactly. */
static void run_table(struct dg_backend *be, const char *isa)
{
    enum { V = 37, D = 75, M = 6 };
    static const int32_t ids[M] = { 0, 36, -1, 16, 15, 1 }, pos[M] = { 0 };
    struct problem p = problem_new(1, V, D, 5);
    float zero[D] = { 0 }, y[M * D];
    for (unsigned use = DG_USE_TABLE; use <= (DG_USE_TABLE | DG_USE_MATRIX); use += DG_USE_MATRIX)
        for (int packed = 0; packed < 2; packed++) {
            struct dg_embed op = { int8_weight(be, use, &p, packed), ops_weight(be, DG_USE_TABLE, 1, D, zero, false), 2,
                ids, pos, NULL };
            struct dg_rows yr = ops_rows(be, NULL, M, D, 0, D);
            be->ops->embed(be, &op, yr, M);
            be->ops->read(be, yr, M, D, y);
            for (size_t i = 0; i < M * D; i++) {
                int32_t id = ids[i / D];
                float want = id < 0 ? 0 : 2 * ((float)p.w[(size_t)id * D + i % D] * p.scales[id]);
                if (y[i] != want)
                    fail_msg("%s, use %u: element %zu is %g, expected %g", isa, use, i, (double)y[i], (double)want);
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

/* Which form is used: packed ones in place, rows where the packed one is not aligned, fp32 past the longest K. */
static void test_forms(void **state)
{
    (void)state;
    enum { N = 4, K = 8 };
    struct dg_backend *be = ops_open(NULL, 1);
    struct problem p = problem_new(1, N, K, 5);
    float ones[K] = { 1, 1, 1, 1, 1, 1, 1, 1 }, y[N];
    for (size_t n = 0; n < N; n++)
        p.scales[n] = 127;
    memset(p.w, 1, N * K);
    dg_int8_pack(p.w, N, K, p.packed);
    memset(p.w, 2, N * K); /* rows and packed form differ, to see which one is read */
    float f32[N * K] = { 0 };
    struct dg_stored forms[3] = { { DG_F32, DG_LAYOUT_ROWS, f32, NULL }, { DG_S8, DG_LAYOUT_ROWS, p.w, p.scales },
        { DG_S8, DG_LAYOUT_PANEL16_S8, p.packed, p.scales } };
    struct dg_rows xr = ops_rows(be, ones, 1, K, 0, K), yr = ops_rows(be, NULL, 1, N, 0, N);
    const size_t counts[] = { 1, 2, 3, 3 };
    const float want[] = { 0, 2 * 127 * K, 1 * 127 * K, 2 * 127 * K };
    for (size_t i = 0; i < 4; i++) {
        char *moved = aligned(dg_int8_packed_bytes(N, K) + 64);
        memcpy(moved + 4, p.packed, dg_int8_packed_bytes(N, K));
        if (i == 3)
            forms[2].data = moved + 4;
        struct dg_weight_spec spec = { "w", DG_USE_MATRIX, N, K, false, forms, counts[i] };
        struct dg_linear op = { 0 };
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

/* Past what int32 sums are proved for: multiplied in fp32. All but one of the activations would vanish in int8. */
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
    struct dg_linear op = { .w = int8_weight(be, DG_USE_MATRIX, &p, true) };
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_exact), cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_quantize), cmocka_unit_test(test_quantize_ends), cmocka_unit_test(test_pack),
        cmocka_unit_test(test_linear), cmocka_unit_test(test_nan), cmocka_unit_test(test_table),
        cmocka_unit_test(test_forms), cmocka_unit_test(test_too_long) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
