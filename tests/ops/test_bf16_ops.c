/* bf16 weights in a backend. A backend that has the product (here: any set with the plain product
 * added, bf16_plain.c) keeps them in 16 bits: linear with all that follows it, in blocks, in turns
 * over the scratch space, on one thread and more; lookups in a tied table. A backend without it
 * widens them: the same bits as with these weights in fp32. */
#include "kernels/cpu/internal.h"
#include "kernels/cpu/pack.h"
#include "tests/ops/ops.h"
#include "weights/half.h"

struct matrix {
    size_t N, K;
    uint16_t *brain;
    float *wide; /* the same values in fp32 */
};

static struct matrix matrix_new(size_t N, size_t K, uint64_t seed)
{
    struct matrix w = {N, K, ops_memory(N * K, 2), ops_floats(N * K, seed)};
    for (size_t i = 0; i < N * K; i++) {
        w.brain[i] = dg_bf16_from_f32(w.wide[i]);
        w.wide[i] = dg_bf16_to_f32(w.brain[i]);
    }
    return w;
}

static void matrix_free(struct matrix *w)
{
    free(w->brain), free(w->wide);
}

static struct dg_weight *weight_of(
    struct dg_backend *be, const struct matrix *w, unsigned use, enum dg_type type)
{
    struct dg_stored form = {
        type, DG_LAYOUT_ROWS, type == DG_BF16 ? (const void *)w->brain : w->wide, NULL};
    struct dg_weight_spec spec = {
        "test.weight", use, w->N, w->K, false, &form, 1, .in_place = NULL};
    struct dg_error err = {0};
    struct dg_weight *out;
    if (be->ops->weight_new(be, &spec, &out, &err))
        fail_msg("%s", err.message);
    return out;
}

/* Opens a backend that keeps bf16 weights. */
static struct dg_backend *open_bf16(const char *isa, int threads)
{
    struct dg_backend *be = ops_open(isa, threads);
    dg_cpu_of(be)->bf16 = &dg_bf16_plain;
    return be;
}

/* Computes linear's expected result: rounding, the product, and the fp32 kernels' own finish. */
static void expect(const struct dg_cpu *cpu, const struct matrix *w, const struct dg_linear *op,
    const float *x, size_t m, float *y, float *pre)
{
    uint16_t *rounded = ops_memory(w->K + 1, 2),
             *packed = ops_memory(dg_bf16_packed(w->N, w->K), 2);
    dg_bf16_plain.round(x, w->K, rounded);
    dg_bf16_pack(w->brain, w->N, w->K, packed);
    dg_bf16_plain.gemm(&(struct dg_bf16_gemm){
        1, w->N, dg_bf16_pairs(w->K), rounded, w->K + 1, packed, y, w->N, .add = false});
    cpu->isa->finish(y, pre, op->bias ? dg_weight_floats(op->bias) : NULL, w->N, op->act);
    if (op->drop)
        cpu->isa->dropout(y, w->N, dg_mask_of(op->drop, m, 0));
    free(rounded), free(packed);
}

/* Runs M rows with all options, against row by row. */
static void check_linear(struct dg_backend *be, size_t M, size_t N, size_t K, enum dg_act act)
{
    struct matrix w = matrix_new(N, K, 3);
    float *x = ops_floats(M * K, 4), *bias = ops_floats(N, 5), *want = ops_memory(N, sizeof *want),
          *want_pre = ops_memory(N, sizeof *want_pre), *got = ops_memory(M * N, sizeof *got),
          *got_pre = ops_memory(M * N, sizeof *got_pre);
    uint32_t *keys = ops_memory(M, sizeof *keys);
    for (size_t m = 0; m < M; m++)
        keys[m] = (uint32_t)(m * 7 + 1);
    struct dg_dropout drop = {0.25f, 77, keys};
    struct dg_rows xr = ops_rows(be, x, M, K, 5, K + 2), yr = ops_rows(be, NULL, M, N, 3, N + 1),
                   pre = ops_rows(be, NULL, M, N, 0, N);
    struct dg_linear op = {.w = weight_of(be, &w, DG_USE_MATRIX, DG_BF16),
        .bias = ops_weight(be, DG_USE_VECTOR, 1, N, bias, false),
        .act = act,
        .drop = act == DG_ACT_SWISH ? &drop : NULL,
        .pre = act == DG_ACT_NONE ? (struct dg_rows){0} : pre};
    assert_int_equal(op.w->kind, DG_WEIGHT_BF16);
    be->ops->linear(be, &op, xr, yr, M);
    be->ops->read(be, yr, M, N, got);
    be->ops->read(be, pre, M, N, got_pre);
    for (size_t m = 0; m < M; m++) {
        expect(dg_cpu_of(be), &w, &op, x + m * K, m, want, want_pre);
        if (memcmp(got + m * N, want, N * sizeof *want))
            fail_msg("%s, [%zu,%zu], M = %zu: row %zu differs", be->name, N, K, M, m);
        if (op.pre.buf)
            assert_memory_equal(got_pre + m * N, want_pre, N * sizeof *want);
    }
    be->ops->weight_free(be, (struct dg_weight *)(uintptr_t)op.w);
    be->ops->weight_free(be, (struct dg_weight *)(uintptr_t)op.bias);
    be->ops->buf_free(be, xr.buf), be->ops->buf_free(be, yr.buf), be->ops->buf_free(be, pre.buf);
    free(x), free(bias), free(want), free(want_pre), free(got), free(got_pre), free(keys);
    matrix_free(&w);
}

static void test_linear(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        struct dg_backend *be = open_bf16(threads == 3 ? "generic" : NULL, threads);
        for (size_t M = 1; M <= 33; M += M < 6 ? 1 : 9)
            for (int act = DG_ACT_NONE; act <= DG_ACT_GELU; act++)
                check_linear(be, M, 77, 35, (enum dg_act)act);
        check_linear(be, 70, 600, 33, DG_ACT_RELU); /* blocks of rows and of columns */
        dg_cpu_close(be);
    }
}

/* 140 rows of 8,000 take 2.1 MiB: three turns over the scratch space. The longest K: 4 rows per
 * turn. */
static void test_turns(void **state)
{
    (void)state;
    struct dg_backend *be = open_bf16(NULL, 2);
    check_linear(be, 140, 5, 8000, DG_ACT_SWISH);
    check_linear(be, 5, 1, DG_BF16_K_MAX, DG_ACT_NONE);
    dg_cpu_close(be);
}

/* bf16 rows are kept in 16 bits, unless an fp32 form is available or K is too long. */
static void test_forms(void **state)
{
    (void)state;
    struct dg_backend *be = open_bf16(NULL, 1);
    struct matrix w = matrix_new(16, 40, 1), long_one = matrix_new(1, DG_BF16_K_MAX + 1, 2);
    float *panels = aligned_alloc(64, dg_pack_elements(16, 40) * sizeof *panels);
    assert_non_null(panels);
    dg_pack_panels(&(struct dg_stored){DG_F32, DG_LAYOUT_ROWS, w.wide, NULL}, 16, 40, panels);
    struct dg_stored forms[] = {{DG_BF16, DG_LAYOUT_ROWS, w.brain, NULL},
        {DG_F32, DG_LAYOUT_PANEL16, panels, NULL}, {DG_F32, DG_LAYOUT_ROWS, w.wide, NULL}};
    static const enum dg_weight_kind kinds[] = {DG_WEIGHT_BF16, DG_WEIGHT_PANEL, DG_WEIGHT_PANEL};
    struct dg_error err = {0};
    struct dg_weight *out;
    for (size_t n = 1; n <= 3; n++) {
        struct dg_weight_spec spec = {
            "w", DG_USE_MATRIX, 16, 40, false, forms, n, .in_place = NULL};
        assert_int_equal(be->ops->weight_new(be, &spec, &out, &err), DG_OK);
        assert_int_equal(out->kind, kinds[n - 1]);
        be->ops->weight_free(be, out);
    }
    out = weight_of(be, &long_one, DG_USE_MATRIX, DG_BF16);
    assert_int_equal(out->kind, DG_WEIGHT_PANEL);
    be->ops->weight_free(be, out);
    struct dg_weight_spec vector = {"w", DG_USE_VECTOR, 1, 640, false, forms, 1, .in_place = NULL};
    assert_int_equal(be->ops->weight_new(be, &vector, &out, &err), DG_OK);
    assert_memory_equal(dg_weight_floats(out), w.wide, 640 * sizeof(float));
    be->ops->weight_free(be, out);
    free(panels);
    matrix_free(&w), matrix_free(&long_one);
    dg_cpu_close(be);
}

static void embed(
    struct dg_backend *be, const struct matrix *table, unsigned use, enum dg_type type, float *y)
{
    enum { M = 6 };
    static const int32_t ids[M] = {0, 20, -1, 16, 15, 7}, pos[M] = {0, 0, 1, 1, 0, 1};
    float *positions = ops_floats(2 * table->K, 8);
    struct dg_embed op = {weight_of(be, table, use, type),
        ops_weight(be, DG_USE_TABLE, 2, table->K, positions, false), 5.9f, ids, pos, NULL};
    struct dg_rows yr = ops_rows(be, NULL, M, table->K, 0, table->K);
    be->ops->embed(be, &op, yr, M);
    be->ops->read(be, yr, M, table->K, y);
    be->ops->weight_free(be, (struct dg_weight *)(uintptr_t)op.table);
    be->ops->weight_free(be, (struct dg_weight *)(uintptr_t)op.positions);
    be->ops->buf_free(be, yr.buf);
    free(positions);
}

/* A tied table's rows are exact, packed or not. */
static void test_embed(void **state)
{
    (void)state;
    enum { N = 21, K = 35 };
    struct matrix table = matrix_new(N, K, 6);
    float want[6 * K], got[6 * K];
    for (int kept = 0; kept < 2; kept++) {
        struct dg_backend *be = kept ? open_bf16(NULL, 1) : ops_open("generic", 1);
        embed(be, &table, DG_USE_TABLE, DG_F32, want);
        embed(be, &table, DG_USE_TABLE | DG_USE_MATRIX, DG_BF16, got);
        assert_memory_equal(got, want, sizeof want);
        embed(be, &table, DG_USE_TABLE, DG_BF16, got);
        assert_memory_equal(got, want, sizeof want);
        dg_cpu_close(be);
    }
    matrix_free(&table);
}

/* A set without the product multiplies bf16 weights as the same values in fp32. */
static void check_widened(struct dg_backend *be, const char *isa)
{
    enum { M = 5, N = 40, K = 67 };
    struct matrix w = matrix_new(N, K, 9);
    float *x = ops_floats(M * K, 10), y[2][M * N];
    struct dg_rows xr = ops_rows(be, x, M, K, 0, K), yr = ops_rows(be, NULL, M, N, 0, N);
    assert_null(dg_cpu_of(be)->bf16);
    for (int i = 0; i < 2; i++) {
        struct dg_linear op = {.w = weight_of(be, &w, DG_USE_MATRIX, i ? DG_BF16 : DG_F32)};
        assert_int_equal(op.w->kind, DG_WEIGHT_PANEL);
        be->ops->linear(be, &op, xr, yr, M);
        be->ops->read(be, yr, M, N, y[i]);
        be->ops->weight_free(be, (struct dg_weight *)(uintptr_t)op.w);
    }
    if (memcmp(y[0], y[1], sizeof y[0]))
        fail_msg("%s: widened weights multiply otherwise than fp32 ones", isa);
    be->ops->buf_free(be, xr.buf), be->ops->buf_free(be, yr.buf);
    free(x);
    matrix_free(&w);
}

static void test_widened(void **state)
{
    (void)state;
    ops_each_isa("bf16 widened", check_widened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_linear), cmocka_unit_test(test_turns),
        cmocka_unit_test(test_forms), cmocka_unit_test(test_embed), cmocka_unit_test(test_widened)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
