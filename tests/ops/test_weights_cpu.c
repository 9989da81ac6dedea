/* Parameters on the CPU: every stored form multiplies alike, packed ones are used in place, wrong
 * ones are refused by name; packing and unpacking. */
#include "kernels/cpu/int8.h"
#include "kernels/cpu/internal.h"
#include "kernels/cpu/pack.h"
#include "tests/ops/ops.h"
#include "tests/sanitized.h"

enum { N = 21, K = 34 };

static void multiply(struct dg_backend *be, const struct dg_weight_spec *spec, float *y)
{
    struct dg_error err = {0};
    struct dg_linear op = {0};
    struct dg_weight *w;
    if (be->ops->weight_new(be, spec, &w, &err))
        fail_msg("%s", err.message);
    op.w = w;
    float *x = ops_floats(K, 9);
    struct dg_rows xr = ops_rows(be, x, 1, K, 0, K), yr = ops_rows(be, NULL, 1, N, 0, N);
    be->ops->linear(be, &op, xr, yr, 1);
    be->ops->read(be, yr, 1, N, y);
    be->ops->weight_free(be, w);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, yr.buf);
    free(x);
}

/* Matrices whose values every type holds exactly give the same bits from every form. (s8 ones
 * multiply in int8: test_int8.c.) */
static void run_forms(struct dg_backend *be, const char *isa)
{
    (void)isa;
    static float rows[N * K];
    static uint16_t half[N * K], brain[N * K];
    static int8_t bytes[N * K];
    uint64_t seed = 3;
    for (size_t i = 0; i < N * K; i++) {
        bytes[i] = (int8_t)(ops_random(&seed) % 255 - 127);
        rows[i] = (float)bytes[i] * 0.5f;
        uint32_t bits;
        memcpy(&bits, &rows[i], 4);
        brain[i] = (uint16_t)(bits >> 16); /* |value| < 128 in halves: 8 significant bits */
        uint32_t magnitude =
            ((bits & 0x7FFFFFFFu) >> 13) - (112u << 10); /* exponent bias 127 to 15 */
        half[i] = (uint16_t)(rows[i] == 0 ? 0 : (bits >> 16 & 0x8000u) | magnitude);
    }
    float *panels = aligned_alloc(64, (dg_pack_elements(N, K) * 4 + 63) / 64 * 64);
    assert_non_null(panels);
    struct dg_stored all[] = {{DG_F32, DG_LAYOUT_ROWS, rows, NULL},
        {DG_F16, DG_LAYOUT_ROWS, half, NULL}, {DG_BF16, DG_LAYOUT_ROWS, brain, NULL},
        {DG_F32, DG_LAYOUT_PANEL16, panels, NULL}};
    dg_pack_panels(&all[0], N, K, panels);
    float want[N], y[N];
    struct dg_weight_spec spec = {"w", DG_USE_MATRIX, N, K, false, &all[0], 1, .in_place = NULL};
    multiply(be, &spec, want);
    for (int type = 1; type < 3; type++) {
        spec.stored = &all[type];
        multiply(be, &spec, y);
        assert_memory_equal(y, want, sizeof y);
    }
    struct dg_stored both[2] = {all[0], all[3]};
    spec.stored = both;
    spec.n_stored = 2;
    multiply(be, &spec, y);
    assert_memory_equal(y, want, sizeof y);
    free(panels);
}

static void test_forms(void **state)
{
    (void)state;
    ops_each_isa("stored forms", run_forms);
}

/* In place: the mapping's own memory is read, also after the weight was made. */
static void test_in_place(void **state)
{
    (void)state;
    struct dg_backend *be = ops_open(NULL, 1);
    float *panels = aligned_alloc(64, 2 * 16 * K * 4), rows[N * K] = {0}, y[N];
    assert_non_null(panels);
    for (size_t i = 0; i < 2 * 16 * K; i++)
        panels[i] = 1;
    struct dg_stored forms[2] = {
        {DG_F32, DG_LAYOUT_ROWS, rows, NULL}, {DG_F32, DG_LAYOUT_PANEL16, panels, NULL}};
    const void *in_place = NULL;
    struct dg_weight_spec spec = {"w", DG_USE_MATRIX, N, K, false, forms, 2, .in_place = &in_place};
    float *x = ops_floats(K, 9), sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += x[k];
    multiply(be, &spec, y);
    ops_near("in place", be->name, 0, y[0], sum, K * EPS);
    assert_ptr_equal(in_place, panels); /* and reported */
    forms[1].data = panels + 1;         /* not aligned: repacked from the rows, which are zero */
    multiply(be, &spec, y);
    assert_true(y[0] == 0);
    assert_null(in_place);
    free(panels), free(x);
    dg_cpu_close(be);
}

/* Notes how far a matrix's rows were reported as no longer needed. */
static void note_spent(const void *of, const void *data, size_t n)
{
    const char **at = *(const char ***)(uintptr_t)of;
    assert_ptr_equal(data, *at); /* each byte once, in order */
    *at += n;
}

/* A matrix of several megabytes is packed in parts: the same bits as in one piece, and each part is
 * reported as no longer needed. */
static void test_parts(void **state)
{
    (void)state;
    enum { LARGE_N = 2 * 4096 * 4 + 21, LARGE_K = 100 };
    struct dg_backend *be = ops_open(NULL, 1);
    float *rows = ops_floats(LARGE_N * LARGE_K, 4), *scales = ops_floats(LARGE_N, 5);
    int8_t *bytes = ops_memory(LARGE_N * LARGE_K, 1);
    for (size_t i = 0; i < LARGE_N * LARGE_K; i++)
        bytes[i] = (int8_t)(rows[i] * 30);
    bytes[LARGE_K] = bytes[LARGE_K + 1] = bytes[LARGE_K + 4] =
        127; /* no paired sums: found in the first part only */
    const struct dg_stored forms[2] = {
        {DG_F32, DG_LAYOUT_ROWS, rows, NULL}, {DG_S8, DG_LAYOUT_ROWS, bytes, scales}};
    const size_t packed[2] = {
        dg_pack_elements(LARGE_N, LARGE_K) * sizeof(float), dg_int8_packed_bytes(LARGE_N, LARGE_K)};
    for (int i = 0; i < 2; i++) {
        const char *spent = forms[i].data;
        const char **at = &spent;
        struct dg_weight *w;
        struct dg_error err = {0};
        char *want = ops_memory(packed[i], 1);
        bool paired = true;
        if (i == 0)
            dg_pack_panels(&forms[0], LARGE_N, LARGE_K, (float *)(void *)want);
        else
            paired = dg_int8_pack(bytes, LARGE_N, LARGE_K, want);
        const struct dg_weight_spec spec = {.name = "w",
            .use = DG_USE_MATRIX,
            .N = LARGE_N,
            .K = LARGE_K,
            .stored = &forms[i],
            .n_stored = 1,
            .spent = note_spent,
            .spent_of = &at};
        if (be->ops->weight_new(be, &spec, &w, &err))
            fail_msg("%s", err.message);
        assert_memory_equal(w->data, want, packed[i]);
        assert_int_equal(w->paired, paired);
        assert_int_equal(paired, i == 0);
        assert_ptr_equal(
            spent, (const char *)forms[i].data + (size_t)LARGE_N * LARGE_K * (i == 0 ? 4 : 1));
        be->ops->weight_free(be, w);
        free(want);
    }
    free(rows), free(scales), free(bytes);
    dg_cpu_close(be);
}

static void test_pack(void **state)
{
    (void)state;
    const size_t shapes[][2] = {{1, 1}, {16, 16}, {17, 33}, {40, 7}, {5, 100}};
    for (size_t s = 0; s < 5; s++) {
        size_t n = shapes[s][0], k = shapes[s][1], all = dg_pack_elements(n, k);
        assert_int_equal(all, (n + 15) / 16 * 16 * k);
        float *rows = ops_floats(n * k, s), *panels = ops_memory(all, 4);
        dg_pack_panels(&(struct dg_stored){DG_F32, DG_LAYOUT_ROWS, rows, NULL}, n, k, panels);
        for (size_t i = 0; i < all; i++) {
            size_t row = i / (16 * k) * 16 + i % 16, column = i / 16 % k;
            assert_true(panels[i] == (row < n ? rows[row * k + column] : 0));
        }
        free(rows), free(panels);
    }
}

/* All 65,536 halves: finite ones by their definition, infinities and NaN as such. */
static void test_half(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        uint16_t h = (uint16_t)i;
        float got;
        dg_convert_floats(&h, DG_F16, 0, 1, &got);
        uint32_t e = i >> 10 & 31, f = i & 1023;
        double want = e ? ldexp(1024 + f, (int)e - 25) : ldexp(f, -24);
        if (e == 31)
            assert_true(f ? isnan(got) : isinf(got));
        else
            assert_true((double)got == (i >> 15 ? -want : want));
        assert_int_equal(signbit(got) != 0, i >> 15);
    }
}

static void refuse(struct dg_weight_spec spec, int code, const char *part)
{
    struct dg_backend *be = ops_open(NULL, 1);
    struct dg_error err = {0};
    struct dg_weight *w;
    assert_int_equal(be->ops->weight_new(be, &spec, &w, &err), code);
    assert_null(w);
    if (!strstr(err.message, part) || !strstr(err.message, "enc.0.wq"))
        fail_msg("message lacks \"%s\" or the tensor's name: %s", part, err.message);
    assert_string_equal(err.field, "enc.0.wq");
    dg_cpu_close(be);
}

static void test_refused(void **state)
{
    (void)state;
    static const float data[4];
    struct dg_stored rows = {DG_F32, DG_LAYOUT_ROWS, data, NULL},
                     panel = {DG_F32, DG_LAYOUT_PANEL16, data, NULL};
    struct dg_stored bytes = {DG_S8, DG_LAYOUT_ROWS, data, NULL},
                     odd = {(enum dg_type)9, DG_LAYOUT_ROWS, data, NULL};
    struct dg_stored half = {DG_F16, DG_LAYOUT_ROWS, data, NULL};
    const char *name = "enc.0.wq";
    refuse((struct dg_weight_spec){name, DG_USE_MATRIX, 0, 2, false, &rows, 1, .in_place = NULL},
        DG_EINVAL, "[0,2]");
    refuse((struct dg_weight_spec){name, DG_USE_MATRIX, SIZE_MAX / 2, 4, false, &rows, 1,
               .in_place = NULL},
        DG_EINVAL, "impossible");
    refuse((struct dg_weight_spec){name, 0, 2, 2, false, &rows, 1, .in_place = NULL}, DG_EINVAL,
        "no use");
    refuse((struct dg_weight_spec){name, DG_USE_VECTOR, 2, 2, false, &rows, 1, .in_place = NULL},
        DG_EINVAL, "[1,2]");
    refuse((struct dg_weight_spec){name, DG_USE_MATRIX, 2, 2, false, &panel, 1, .in_place = NULL},
        DG_EFORMAT, "row-major");
    refuse((struct dg_weight_spec){name, DG_USE_MATRIX, 2, 2, false, &bytes, 1, .in_place = NULL},
        DG_EFORMAT, "scales");
    refuse((struct dg_weight_spec){name, DG_USE_MATRIX, 2, 2, false, &odd, 1, .in_place = NULL},
        DG_EUNSUP, "9");
    refuse((struct dg_weight_spec){name, DG_USE_MATRIX, 2, 2, true, &half, 1, .in_place = NULL},
        DG_EUNSUP, "fp32");
#if !SANITIZED /* a sanitizer's malloc ends the program instead */
    refuse((struct dg_weight_spec){name, DG_USE_MATRIX, (size_t)1 << 40, 1 << 16, false, &rows, 1,
               .in_place = NULL},
        DG_ENOMEM, "memory");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_parts), cmocka_unit_test(test_pack),
        cmocka_unit_test(test_half), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
