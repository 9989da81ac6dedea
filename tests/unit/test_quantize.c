/* Weights to s8 (values worked by hand), and bundles in int8 through real files: what is quantised,
 * packed, kept, refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "kernels/cpu/int8.h"
#include "kernels/cpu/quantize.h"
#include "weights/quantize.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void rows_by_hand(void **state)
{
    (void)state;
    /* Scales 2, 0 and 0.5; ties go to even. */
    const float rows[3 * 4] = {254, -254, 3, -5, 0, 0, -0.0f, 0, 63.5f, 0.25f, -0.75f, 1};
    const int8_t want[3 * 4] = {127, -127, 2, -2, 0, 0, 0, 0, 127, 0, -2, 2};
    int8_t q[3 * 4];
    float scales[3];
    assert_true(dg_quantize_rows(rows, 3, 4, DG_INT8_STEPS, q, scales));
    assert_memory_equal(q, want, sizeof q);
    assert_true(scales[0] == 2 && scales[1] == 0 && scales[2] == 0.5f);
    /* Remainders: 3 - 4, -5 + 4, 0.25, -0.75 + 1. */
    double error = sqrt(
        (1 + 1 + 0.0625 + 0.0625) / (254 * 254 * 2 + 9 + 25 + 63.5 * 63.5 + 0.0625 + 0.5625 + 1));
    assert_true(fabs(dg_quantize_error(rows, 3, 4, q, scales) - error) < 1e-9);
    assert_true(dg_quantize_error(rows + 4, 1, 4, q + 4, scales + 1) == 0);
}

/* The smallest and largest numbers stay within -127 .. 127; values that are not finite are
 * refused. */
static void rows_at_the_ends(void **state)
{
    (void)state;
    const float sizes[] = {FLT_MAX, 1, FLT_MIN, 1e-40f, 1e-45f};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const float rows[3] = {-sizes[i], sizes[i], sizes[i] / 2};
        int8_t q[3];
        float scale;
        assert_true(dg_quantize_rows(rows, 1, 3, DG_INT8_STEPS, q, &scale));
        assert_in_range(q[1], 0, 127);
        assert_int_equal(q[0], -q[1]);
        if (sizes[i] >= FLT_MIN)
            assert_int_equal(q[1], 127);
    }
    const float odd[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        const float rows[4] = {1, 2, 3, odd[i]};
        int8_t q[4];
        float scales[2];
        assert_false(dg_quantize_rows(rows, 2, 2, DG_INT8_STEPS, q, scales));
    }
}

/* No element is more than half a step from its original. */
static void rows_within_half_a_step(void **state)
{
    (void)state;
    enum { N = 50, K = 200 };
    static float rows[N * K], scales[N];
    static int8_t q[N * K];
    uint32_t x = 1;
    for (size_t i = 0; i < N * K; i++) {
        x = x * 1664525u + 1013904223u;
        rows[i] = ((float)(x >> 8) * 0x1p-23f - 1) * (float)(i / K + 1);
    }
    assert_true(dg_quantize_rows(rows, N, K, DG_INT8_STEPS, q, scales));
    for (size_t i = 0; i < N * K; i++)
        assert_true(fabs((double)rows[i] - (double)scales[i / K] * q[i]) <=
                    0.50001 * (double)scales[i / K]);
}

/* Rows with only large weights get a scale at which sums may be paired (int8.h), and no larger
 * one. */
static void rows_to_be_paired(void **state)
{
    (void)state;
    for (size_t K = 1; K < 40; K++) {
        float row[40];
        int8_t q[40];
        float scale;
        for (size_t k = 0; k < K; k++)
            row[k] = k % 3 ? 1.0f - (float)k * 0x1p-10f : 1.0f;
        assert_true(dg_quantize_rows(row, 1, K, DG_INT8_STEPS, q, &scale));
        int sum = dg_int8_pair_sum(q, K);
        assert_true(sum <= 258);
        assert_true(K < 3 ? sum == 127 * (int)K
                          : sum >= 250 || K < 7); /* 127, 254; four: 64 and a half each */
        for (size_t k = 0; k < K; k++)
            assert_true(fabs((double)row[k] - (double)scale * q[k]) <= 0.50001 * (double)scale);
    }
}

/* Rows for fine activations: neighbouring weights within their limit, with no larger scale than
 * that requires. */
static void rows_for_fine_inputs(void **state)
{
    (void)state;
    for (size_t K = 2; K < 40; K++) {
        float row[40];
        int8_t q[40];
        float scale;
        for (size_t k = 0; k < K; k++)
            row[k] = k % 3 ? 1.0f - (float)k * 0x1p-10f : 1.0f;
        assert_true(dg_quantize_rows(row, 1, K, DG_INT8_FINE_STEPS, q, &scale));
        assert_true(dg_int8_two_sum(q, K) <= DG_INT8_FINE);
        assert_true(dg_int8_pair_sum(q, K) <= DG_INT8_PAIRED);
        assert_true(dg_int8_two_sum(q, K) >= 124); /* four of 64 and a half where there are four */
        for (size_t k = 0; k < K; k++)
            assert_true(fabs((double)row[k] - (double)scale * q[k]) <= 0.50001 * (double)scale);
    }
    const int8_t mixed[5] = {100, -100, 127, 20, -128};
    assert_int_equal(dg_int8_two_sum(mixed, 2), 100);
    assert_int_equal(dg_int8_two_sum(mixed, 4), 147);
    assert_int_equal(dg_int8_two_sum(mixed + 4, 1), 128);
}

struct place {
    char from[160], to[160], dir[128];
    char path[300];
};

enum { MATRIX_N = 20, MATRIX_K = 10, TABLE_N = 6, TABLE_K = 5 };

static const char manifest_text[] = "{\"name\":\"tiny\",\"format\":1,\"pairs\":[[\"en\",\"de\"]],"
                                    "\"files\":{\"weights\":\"w.dgw\",\"source_spm\":\"s.spm\","
                                    "\"target_spm\":\"s.spm\",\"source_vocab\":\"s.vocab\","
                                    "\"target_vocab\":\"t.vocab\"},\"model\":{\"zeta\":1}}";

static const char *in(struct place *p, const char *dir, const char *name)
{
    snprintf(p->path, sizeof p->path, "%s/%s", dir, name);
    return p->path;
}

static float matrix_at(size_t i)
{
    return (float)((int)(i * 37 % 101) - 50) / 8;
}

static void write_weights(const char *path, float last)
{
    static const int8_t before[4] = {1, -2, 3, 127};
    static const float before_scales[2] = {0.5f, 2};
    float matrix[MATRIX_N * MATRIX_K], table[TABLE_N * TABLE_K], vector[3] = {1, 2, 3};
    struct dg_stored s8 = {DG_S8, DG_LAYOUT_ROWS, before, before_scales};
    struct dg_weights_writer *w;
    for (size_t i = 0; i < MATRIX_N * MATRIX_K; i++)
        matrix[i] = matrix_at(i);
    for (size_t i = 0; i < TABLE_N * TABLE_K; i++)
        table[i] = i % TABLE_K ? 0.5f : -7;
    matrix[MATRIX_N * MATRIX_K - 1] = last;
    assert_int_equal(dg_weights_writer_open(&w, NULL), 0);
    assert_int_equal(
        dg_weights_writer_add(w, "matrix", MATRIX_N, MATRIX_K, DG_F32, matrix, NULL), 0);
    assert_int_equal(dg_weights_writer_add(w, "table", TABLE_N, TABLE_K, DG_F16, table, NULL), 0);
    assert_int_equal(dg_weights_writer_add(w, "vector", 1, 3, DG_F32, vector, NULL), 0);
    assert_int_equal(dg_weights_writer_add_rows(w, "before", 2, 2, &s8, NULL), 0);
    assert_int_equal(dg_weights_writer_commit(w, path, NULL), 0);
    dg_weights_writer_close(w);
}

static void make_bundle(struct place *p, float last)
{
    struct dg_error err = {0};
    write_weights(in(p, p->from, "w.dgw"), last);
    assert_int_equal(dg_file_write(in(p, p->from, "s.spm"), "spm\0bytes", 9, NULL), 0);
    assert_int_equal(dg_file_write(in(p, p->from, "s.vocab"), "a\n", 2, NULL), 0);
    assert_int_equal(dg_file_write(in(p, p->from, "t.vocab"), "b\nc\n", 4, NULL), 0);
    struct dg_json *m = dg_json_parse(manifest_text, strlen(manifest_text), &err);
    if (!m || dg_bundle_seal(p->from, m, &err))
        fail_msg("seal: %s", err.message);
    dg_json_free(m);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    const char *tmp = getenv("TMPDIR");
    snprintf(p->dir, sizeof p->dir, "%s/dg_quantize_XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->from, sizeof p->from, "%s/from", p->dir);
    snprintf(p->to, sizeof p->to, "%s/to", p->dir);
    assert_int_equal(dg_file_make_dir(p->from, NULL), 0);
    make_bundle(p, 6);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"manifest.json", "w.dgw", "s.spm", "s.vocab", "t.vocab"};
    struct place *p = *state;
    char again[200];
    snprintf(again, sizeof again, "%s/again", p->dir);
    const char *const dirs[] = {p->from, p->to, again};
    for (size_t d = 0; d < 3; d++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            unlink(in(p, dirs[d], names[i]));
        rmdir(dirs[d]);
    }
    rmdir(p->dir);
    free(p);
    return 0;
}

static enum dg_quantize_as choose(void *arg, const char *name)
{
    (void)arg;
    return !strcmp(name, "vector")  ? DG_QUANTIZE_NO
           : !strcmp(name, "table") ? DG_QUANTIZE_TABLE
                                    : DG_QUANTIZE_MATRIX;
}

static int count(void *arg, const struct dg_quantized *t, struct dg_error *err)
{
    (void)err;
    int *n = arg;
    n[t->rows ? 0 : 1]++;
    if (t->rows)
        assert_true(t->error > 0 && t->error < 0.02);
    return 0;
}

/* Quantises the bundle, opens it and verifies every byte. */
static struct dg_bundle *quantize(struct place *p, bool packed)
{
    int n[2] = {0};
    struct dg_quantize o = {.bundle = p->from,
        .out = p->to,
        .packed = packed,
        .choose = choose,
        .done = count,
        .arg = n};
    struct dg_bundle *b;
    struct dg_error err = {0};
    if (dg_quantize_bundle(&o, &err) || dg_bundle_open(p->to, &b, &err) ||
        dg_bundle_verify(b, &err))
        fail_msg("%s: %s", err.field, err.message);
    assert_int_equal(n[0], 2);
    assert_int_equal(n[1], 1);
    return b;
}

static void check_matrix(const struct dg_tensor *t, bool packed)
{
    float rows[MATRIX_N * MATRIX_K], scales[MATRIX_N];
    int8_t q[MATRIX_N * MATRIX_K];
    unsigned char panels[2048];
    for (size_t i = 0; i < MATRIX_N * MATRIX_K; i++)
        rows[i] = matrix_at(i);
    rows[MATRIX_N * MATRIX_K - 1] = 6;
    assert_true(dg_quantize_rows(rows, MATRIX_N, MATRIX_K, DG_INT8_STEPS, q, scales));
    assert_int_equal(t->stored[0].type, DG_S8);
    assert_memory_equal(t->stored[0].data, q, sizeof q);
    assert_memory_equal(t->stored[0].scales, scales, sizeof scales);
    assert_int_equal(t->n_stored, packed ? 2 : 1);
    if (!packed)
        return;
    dg_int8_pack(q, MATRIX_N, MATRIX_K, panels);
    assert_int_equal(t->stored[1].layout, DG_LAYOUT_PANEL16_S8);
    assert_int_equal(
        t->bytes[1], 2 * (3 * 64 + 64)); /* FORMAT.md: two panels of three groups and sums */
    assert_memory_equal(t->stored[1].data, panels, t->bytes[1]);
    assert_memory_equal(t->stored[1].scales, scales, sizeof scales);
}

static void bundle_in_int8(void **state)
{
    struct place *p = *state;
    for (int packed = 0; packed < 2; packed++) {
        struct dg_bundle *b = quantize(p, packed), *from;
        const struct dg_weights *w = dg_bundle_weights(b);
        assert_int_equal(dg_bundle_open(p->from, &from, NULL), 0);
        assert_int_equal(dg_weights_count(w), 4);
        check_matrix(dg_weights_find(w, "matrix"), packed);
        const struct dg_tensor *t = dg_weights_find(w, "table"), *v = dg_weights_find(w, "vector");
        assert_int_equal(t->stored[0].type, DG_S8);
        assert_int_equal(t->n_stored, 1);                  /* a table is never multiplied */
        assert_true(t->stored[0].scales[0] == 7.0f / 127); /* rows -7, 0.5, ... */
        assert_int_equal(v->stored[0].type, DG_F32);
        assert_memory_equal(v->stored[0].data, ((const float[]){1, 2, 3}), 12);
        t = dg_weights_find(w, "before");
        assert_memory_equal(t->stored[0].data, ((const int8_t[]){1, -2, 3, 127}), 4);
        assert_int_equal(t->n_stored, packed ? 2 : 1);
        /* The rest of the bundle was copied, and the manifest names the original. */
        assert_string_equal(dg_bundle_name(b), "tiny");
        const struct dg_json *training = dg_json_get(dg_bundle_manifest(b), "training");
        assert_string_equal(
            dg_json_string(dg_json_get(training, "quantised_from"), NULL), dg_bundle_version(from));
        assert_string_not_equal(dg_bundle_version(b), dg_bundle_version(from));
        struct dg_map spm;
        assert_int_equal(dg_file_map(dg_bundle_target_spm(b), &spm, NULL), 0);
        assert_int_equal(spm.size, 9);
        assert_memory_equal(spm.data, "spm\0bytes", 9);
        dg_file_unmap(&spm);
        dg_bundle_close(from);
        dg_bundle_close(b);
    }
}

/* Quantising the int8 bundle again, packed, gives the same rows, and still names the first
 * version. */
static void bundle_again(void **state)
{
    struct place *p = *state;
    struct dg_bundle *b = quantize(p, false), *from;
    char again[200];
    snprintf(again, sizeof again, "%s/again", p->dir);
    struct dg_quantize o = {.bundle = p->to, .out = again, .packed = true, .choose = choose};
    assert_int_equal(dg_quantize_bundle(&o, NULL), 0);
    dg_bundle_close(b);
    assert_int_equal(dg_bundle_open(again, &b, NULL), 0);
    assert_int_equal(dg_bundle_open(p->from, &from, NULL), 0);
    check_matrix(dg_weights_find(dg_bundle_weights(b), "matrix"), true);
    const struct dg_json *training = dg_json_get(dg_bundle_manifest(b), "training");
    assert_string_equal(
        dg_json_string(dg_json_get(training, "quantised_from"), NULL), dg_bundle_version(from));
    dg_bundle_close(from);
    dg_bundle_close(b);
}

static void refusals(void **state)
{
    struct place *p = *state;
    struct dg_error err = {0};
    struct dg_quantize o = {.bundle = p->from, .out = p->from, .choose = choose};
    assert_int_equal(dg_quantize_bundle(&o, &err), DG_EINVAL);
    assert_string_equal(err.field, "out");
    assert_int_equal(access(in(p, p->from, "manifest.json"), R_OK), 0); /* untouched */
    dg_error_clear(&err);
    dg_bundle_close(quantize(p, false));
    make_bundle(p, NAN);
    o.out = p->to;
    assert_int_equal(dg_quantize_bundle(&o, &err), DG_EFORMAT);
    assert_string_equal(err.field, "matrix");
    struct dg_bundle *before;
    assert_int_equal(dg_bundle_open(p->to, &before, NULL), 0); /* nothing was replaced */
    assert_int_equal(dg_bundle_verify(before, NULL), 0);
    dg_bundle_close(before);
    dg_error_clear(&err);
    make_bundle(p, 1);
    unlink(in(p, p->to, "t.vocab"));
    assert_int_equal(mkdir(in(p, p->to, "t.vocab"), 0755), 0);
    assert_int_equal(dg_quantize_bundle(&o, &err), DG_EIO);
    assert_int_not_equal(
        access(in(p, p->to, "manifest.json"), F_OK), 0); /* half replaced: does not look complete */
    rmdir(in(p, p->to, "t.vocab"));
    dg_error_clear(&err);
    o.bundle = "/nowhere";
    assert_int_not_equal(dg_quantize_bundle(&o, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_by_hand),
        cmocka_unit_test(rows_at_the_ends), cmocka_unit_test(rows_within_half_a_step),
        cmocka_unit_test(rows_to_be_paired), cmocka_unit_test(rows_for_fine_inputs),
        cmocka_unit_test_setup_teardown(bundle_in_int8, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bundle_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
