/* Put before tests/ops/test_*.c (-include): their ops run on the CUDA backend that kernels/device.c
 * finds, which is the emulated one in `make test` and the device's in `make test-gpu`. Without a
 * device: skipped, which ctest knows by the exit status. */
#ifndef DG_TESTS_EMU_OPS_CUDA_H
#define DG_TESTS_EMU_OPS_CUDA_H

#define ops_each_isa ops_each_isa_of_the_cpu
#include "tests/ops/ops.h"
#undef ops_each_isa

#include "kernels/device.h"

static inline void ops_each_isa(const char *what, void (*f)(struct dg_backend *be, const char *isa))
{
    const struct dg_device_options options = {.device = "cuda", .precision = "fp32"};
    struct dg_device device;
    struct dg_error err = {0};
    struct dg_backend *be = NULL;
    if (dg_device_choose(&options, &device, &err)) {
        printf("skipped: no device: %s\n", err.message);
        exit(77);
    }
    if (dg_device_open(&device, &be, &err))
        fail_msg("%s", err.message);
    printf("%s: %s runs\n", what, be->name);
    f(be, be->name);
    assert_int_equal(be->ops->status(be, &err), DG_OK);
    dg_device_close(be);
}

#endif
