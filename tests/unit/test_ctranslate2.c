/* CTranslate2's model.bin: a small file written to its format, every type, aliases; every cut and
 * every changed bit. tests/parity/test_ctranslate2.py checks real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "convert/ctranslate2/reader.h"

#include <stdlib.h>
#include <string.h>

#define SMALL "tests/fuzz/corpus/ctranslate2/small.bin"

static void expect(const struct dg_ct2 *m, const char *name, size_t n, const float *want)
{
    const struct dg_ct2_variable *v = dg_ct2_find(m, name);
    float got[8];
    assert_non_null(v);
    assert_int_equal(v->count, n);
    dg_ct2_read(v, got);
    assert_memory_equal(got, want, n * sizeof *want);
}

static void variables_are_read(void **state)
{
    (void)state;
    struct dg_ct2 *m;
    struct dg_error err = {0};
    if (dg_ct2_open(dg_input_path(SMALL), &m, &err))
        fail_msg("%s", err.message);
    assert_int_equal(dg_ct2_version(m), 6);
    assert_string_equal(dg_ct2_spec(m), "TransformerSpec");
    assert_int_equal(dg_ct2_count(m), 7);
    expect(m, "a/weight", 6, (const float[]){1, 2, 3, -3, 5, 6});
    expect(m, "tied/weight", 6, (const float[]){1, 2, 3, -3, 5, 6});
    expect(m, "tied/weight_scale", 2, (const float[]){127, 63.5f});
    expect(m, "flag", 1, (const float[]){1});
    expect(m, "h", 2, (const float[]){1, -0.5f});
    expect(m, "w", 2, (const float[]){-7, 300});
    expect(m, "b", 1, (const float[]){1});
    expect(m, "i", 1, (const float[]){-9});
    assert_int_equal(dg_ct2_find(m, "a/weight")->n_dims, 2);
    assert_int_equal(dg_ct2_find(m, "flag")->n_dims, 0);
    assert_null(dg_ct2_find(m, "tied"));
    assert_null(dg_ct2_find(m, "tied/weight_zero"));
    dg_ct2_close(m);
}

static int try(const char *data, size_t n)
{
    struct dg_ct2 *m;
    struct dg_error err = {0};
    char *copy = malloc(n ? n : 1); /* a block of exact size: a read beyond it is found */
    memcpy(copy, data, n);
    int rc = dg_ct2_open(dg_input_memory(copy, n), &m, &err);
    assert_true(rc == 0 || err.message[0] != '\0');
    for (size_t i = 0; rc == 0 && i < dg_ct2_count(m); i++) {
        float *values = malloc(dg_ct2_at(m, i)->count * sizeof *values);
        dg_ct2_read(dg_ct2_at(m, i), values);
        free(values);
    }
    if (rc == 0)
        dg_ct2_close(m);
    free(copy);
    return rc;
}

static void cut_and_changed_files_are_safe(void **state)
{
    (void)state;
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(SMALL, &b, NULL), 0);
    for (size_t n = 0; n < b.len; n++)
        assert_true(try(b.data, n) != 0);
    for (size_t at = 0; at < b.len; at++)
        for (int bit = 0; bit < 8; bit++) {
            b.data[at] = (char)(b.data[at] ^ 1 << bit);
            try(b.data, b.len);
            b.data[at] = (char)(b.data[at] ^ 1 << bit);
        }
    b.data[0] = 3;
    assert_int_equal(try(b.data, b.len), DG_EUNSUP);
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_read), cmocka_unit_test(cut_and_changed_files_are_safe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
