/* Buffers, read, write and kv_write: strides, zeroes, nothing written outside the rows. */
#include "tests/ops/ops.h"

static void run_kv(struct dg_backend *be, const char *isa)
{
    enum { M = 5, N = 19, SLOTS = 9 };
    const int32_t slots[M] = {8, 0, 3, 7, 1};
    float *x = ops_floats(M * N, 1), pool[SLOTS * (N + 2)];
    struct dg_rows xr = ops_rows(be, x, M, N, 2, N + 4),
                   pr = ops_rows(be, NULL, SLOTS, N + 2, 0, N + 2);
    be->ops->kv_write(be, xr, (struct dg_rows){pr.buf, 1, N + 2}, slots, M, N);
    be->ops->read(be, pr, SLOTS, N + 2, pool);
    for (size_t s = 0; s < SLOTS; s++)
        for (size_t i = 0; i < N + 2; i++) {
            float want = 0;
            for (size_t m = 0; m < M; m++)
                if ((size_t)slots[m] == s && i >= 1 && i <= N)
                    want = x[m * N + i - 1];
            if (pool[s * (N + 2) + i] != want)
                fail_msg("kv_write, %s: slot %zu element %zu is %g, expected %g", isa, s, i,
                    (double)pool[s * (N + 2) + i], (double)want);
        }
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, pr.buf);
    free(x);
}

static void test_kv(void **state)
{
    (void)state;
    ops_each_isa("kv_write", run_kv);
}

static void test_buffers(void **state)
{
    (void)state;
    struct dg_backend *be = ops_open(NULL, 1);
    struct dg_error err = {0};
    struct dg_buf *buf = (struct dg_buf *)&err;
    assert_int_equal(be->ops->buf_new(be, SIZE_MAX / 4, &buf, &err), DG_ENOMEM);
    assert_null(buf);
    assert_non_null(strstr(err.message, "4611686018427387903"));
    be->ops->buf_free(be, NULL);
    be->ops->weight_free(be, NULL);
    struct dg_rows empty = ops_rows(be, NULL, 0, 0, 0, 0);
    be->ops->buf_free(be, empty.buf);
    dg_cpu_close(be);
    dg_cpu_close(NULL);
}

static void test_isa(void **state)
{
    (void)state;
    struct dg_backend *be = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_cpu_open(&(struct dg_cpu_options){.isa = "sse9"}, &be, &err), DG_EUNSUP);
    assert_null(be);
    assert_non_null(strstr(err.message, "sse9"));
    assert_non_null(strstr(err.message, "generic"));
    setenv("DRAGOMAN_ISA", "generic", 1);
    be = ops_open(NULL, 1);
    assert_string_equal(be->name, "cpu/generic");
    dg_cpu_close(be);
    setenv("DRAGOMAN_ISA", "nonsense", 1);
    assert_int_equal(dg_cpu_open(NULL, &be, NULL), DG_EUNSUP);
    unsetenv("DRAGOMAN_ISA");
    be = ops_open(NULL, 1);
    char best[32];
    snprintf(best, sizeof best, "cpu/%s", dg_cpu_isas()[0]);
    assert_string_equal(be->name, best);
    assert_string_equal(be->ops->device, "cpu");
    dg_cpu_close(be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kv), cmocka_unit_test(test_buffers), cmocka_unit_test(test_isa)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
