/* Choosing a device: accepted words, the reasons why there is no CUDA device, and falling back to
 * the CPU. tests/emu tests what a plugin opens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/device.h"

static int choose(
    const char *device, const char *precision, struct dg_device *out, struct dg_error *err)
{
    const struct dg_device_options o = {.device = device, .precision = precision, .threads = 1};
    *err = (struct dg_error){0};
    return dg_device_choose(&o, out, err);
}

static void test_words(void **state)
{
    const char *const wrong[] = {"gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "CPU",
        "cuda:99999999999", ",", "cuda:0,", ",cuda:0", "cuda:0,,cuda:1", "cuda:0,auto",
        "cuda:0,cpu", "cuda:0, cuda:1", "cuda:ALL"};
    struct dg_device d;
    struct dg_error err;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(choose(wrong[i], NULL, &d, &err), DG_EINVAL);
        assert_string_equal(err.field, "device");
        assert_non_null(strstr(err.message, "cuda:N"));
    }
    assert_int_equal(choose("cpu", "int4", &d, &err), DG_EINVAL);
    assert_string_equal(err.field, "precision");
    assert_int_equal(choose("cpu", "bf16", &d, &err), DG_OK);
    assert_int_equal(d.type, DG_BF16);
    assert_false(d.cuda);
    assert_string_equal(d.note, "");
}

/* Checks only the words: a device that does not exist is still well named. */
static void test_check(void **state)
{
    struct dg_error err = {0};
    const struct dg_device_options wrong = {.device = "gpu"}, type = {.precision = "int4"},
                                   one = {.device = "cuda:900", .precision = "bf16"},
                                   all = {.device = "cuda:all"}, two = {.device = "cuda:0,cuda:1"};
    (void)state;
    assert_int_equal(dg_device_check(&wrong, &err), DG_EINVAL);
    assert_string_equal(err.field, "device");
    assert_int_equal(dg_devices_check(&wrong, NULL), DG_EINVAL);
    assert_int_equal(dg_device_check(&type, NULL), DG_EINVAL);
    assert_int_equal(dg_devices_check(&type, NULL), DG_EINVAL);
    assert_int_equal(dg_device_check(&one, NULL), DG_OK);
    assert_int_equal(dg_device_check(&all, NULL), DG_OK);
    assert_int_equal(dg_devices_check(&two, NULL), DG_OK);
    dg_error_clear(&err);
    assert_int_equal(dg_device_check(&two, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "2 devices are named where one is expected"));
}

/* Without a plugin: an error if CUDA is named, the CPU and a note for "auto". */
static void test_no_plugin(void **state)
{
    struct dg_device d;
    struct dg_error err;
    struct dg_backend *be;
    (void)state;
    setenv("DRAGOMAN_CUDA_PLUGIN", "/nowhere/libdragoman-cuda.so", 1);
    assert_int_equal(choose("cuda", NULL, &d, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, "/nowhere/libdragoman-cuda.so"));
    assert_int_equal(choose("auto", NULL, &d, &err), DG_OK);
    assert_false(d.cuda);
    assert_non_null(strstr(d.note, "/nowhere"));
    assert_int_equal(dg_device_open(&d, &be, &err), DG_OK);
    assert_string_equal(be->ops->device, "cpu");
    assert_int_equal(be->ops->status(be, &err), DG_OK);
    dg_device_close(be);
    dg_device_close(NULL);
    unsetenv("DRAGOMAN_CUDA_PLUGIN");
}

/* A library that is not our plugin. The code says so without a place for the message, too. */
static void test_other_library(void **state)
{
    const struct dg_device named = {.cuda = true};
    struct dg_device d;
    struct dg_backend *be;
    struct dg_error err;
    (void)state;
    setenv("DRAGOMAN_CUDA_PLUGIN", "libm.so.6", 1);
    assert_int_equal(choose("cuda:0", NULL, &d, &err), DG_EUNSUP);
    assert_non_null(strstr(err.message, "version"));
    assert_int_equal(dg_device_open(&named, &be, NULL), DG_EUNSUP);
    assert_int_equal(dg_device_probe(&named, NULL), DG_EUNSUP);
    unsetenv("DRAGOMAN_CUDA_PLUGIN");
}

static void test_environment(void **state)
{
    struct dg_device d;
    struct dg_error err;
    (void)state;
    setenv("DRAGOMAN_DEVICE", "nonsense", 1);
    assert_int_equal(choose(NULL, NULL, &d, &err), DG_EINVAL);
    assert_int_equal(choose("cpu", NULL, &d, &err), DG_OK); /* the option wins */
    setenv("DRAGOMAN_DEVICE", "cpu", 1);
    setenv("DRAGOMAN_PRECISION", "fp16", 1);
    assert_int_equal(choose(NULL, NULL, &d, &err), DG_OK);
    assert_int_equal(d.type, DG_F16);
    unsetenv("DRAGOMAN_DEVICE");
    unsetenv("DRAGOMAN_PRECISION");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_check),
        cmocka_unit_test(test_no_plugin), cmocka_unit_test(test_other_library),
        cmocka_unit_test(test_environment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
