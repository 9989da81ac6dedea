#include "trainer/run/average.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static void add(
    struct dg_checkpoint_dir *k, uint64_t step, const float *params, const float *ema, size_t n)
{
    struct dg_error err = {0};
    struct dg_json *recipe = dg_json_new_object();
    const float zeros[8] = {0};
    struct dg_checkpoint_state s = {
        .step = step, .threads = 1, .backend = "cpu/generic", .data = "", .recipe = recipe};
    struct dg_checkpoint_blocks b = {n, params, zeros, zeros, ema};
    if (dg_checkpoint_dir_add(k, &s, &b, DG_KEPT_DUE, &err))
        fail_msg("%s", err.message);
    dg_json_free(recipe);
}

static struct dg_checkpoint_dir *open_keeper(void)
{
    struct dg_checkpoint_dir *k = NULL;
    struct dg_error err = {0};
    snprintf(folder, sizeof folder, "/tmp/test_average_XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(dg_checkpoint_dir_open(folder, 9, 0, &k, &err), 0);
    return k;
}

static void close_keeper(struct dg_checkpoint_dir *k)
{
    char index[96];
    for (size_t i = 0; i < k->n; i++) {
        char *path = dg_checkpoint_dir_path(k, k->kept[i].step);
        unlink(path);
        free(path);
    }
    snprintf(index, sizeof index, "%s/index.json", folder);
    unlink(index);
    dg_checkpoint_dir_close(k);
    assert_int_equal(rmdir(folder), 0);
}

/* The mean is computed in double: a float sum of these three numbers would lose the small one. */
static void test_mean(void **state)
{
    (void)state;
    const float a[3] = {1, -6, 1e8f}, b[3] = {2, 0, 1}, c[3] = {6, 3, -1e8f},
                unused[3] = {100, 100, 100};
    const uint64_t steps[3] = {20, 30, 40};
    struct dg_checkpoint_dir *k = open_keeper();
    struct dg_error err = {0};
    float out[3];
    add(k, 10, unused, NULL, 3);
    add(k, 20, a, NULL, 3);
    add(k, 30, b, NULL, 3);
    add(k, 40, c, NULL, 3);
    assert_int_equal(dg_average(k, steps, 3, out, 3, &err), 0);
    assert_float_equal(out[0], 3, 0);
    assert_float_equal(out[1], -1, 0);
    assert_float_equal(out[2], 1.0f / 3, 0);
    close_keeper(k);
}

static void test_averaged_weights(void **state)
{
    (void)state;
    const float p[2] = {1, 2}, ema[2] = {3, 5}, q[2] = {7, 7};
    const uint64_t steps[2] = {1, 2};
    struct dg_checkpoint_dir *k = open_keeper();
    struct dg_error err = {0};
    float out[2];
    add(k, 1, p, ema, 2);
    add(k, 2, p, q, 2);
    assert_int_equal(dg_average(k, steps, 2, out, 2, &err), 0);
    assert_float_equal(out[0], 5, 0);
    assert_float_equal(out[1], 6, 0);
    close_keeper(k);
}

static void test_refusals(void **state)
{
    (void)state;
    const float p[3] = {1, 2, 3};
    const uint64_t steps[2] = {1, 77};
    struct dg_checkpoint_dir *k = open_keeper();
    struct dg_error err = {0};
    float out[3];
    add(k, 1, p, NULL, 3);
    assert_int_equal(dg_average(k, steps, 1, out, 2, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "holds 3 parameters, expected 2"));
    dg_error_clear(&err);
    assert_int_equal(dg_average(k, steps, 2, out, 3, &err), DG_ENOTFOUND);
    dg_error_clear(&err);
    assert_int_equal(dg_average(k, steps, 0, out, 3, &err), DG_ENOTFOUND);
    close_keeper(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mean),
        cmocka_unit_test(test_averaged_weights), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
