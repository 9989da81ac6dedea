/* The CUDA backend that kernels/device.c finds: the emulated one in `make test`, the real device's
 * in `make test-gpu`. Include after cmocka's headers. */
#ifndef DG_TESTS_EMU_CUDA_H
#define DG_TESTS_EMU_CUDA_H

#include "kernels/device.h"

#include <stdlib.h>
#include <string.h>

/* Opens the backend, which the caller closes. Without a device the program exits as skipped; ctest
 * recognises this by the exit status. */
static inline struct dg_backend *cuda_or_skip(const char *precision)
{
    const struct dg_device_options options = {.device = "cuda", .precision = precision};
    struct dg_device device;
    struct dg_backend *be = NULL;
    struct dg_error err = {0};
    if (dg_device_choose(&options, &device, &err)) {
        print_message("skipped: no device: %s\n", err.message);
        exit(77);
    }
    if (dg_device_open(&device, &be, &err))
        fail_msg("%s", err.message);
    return be;
}

/* True if the device is the emulated one. Skips as cuda_or_skip does. */
static inline bool cuda_is_emulated(void)
{
    struct dg_backend *be = cuda_or_skip("fp32");
    const bool is = strstr(be->name, "emulated") != NULL;
    dg_device_close(be);
    return is;
}

/* Returns the bytes of device memory that the backend holds. */
static inline size_t cuda_held(struct dg_backend *be)
{
    struct dg_memory m;
    struct dg_error err = {0};
    if (be->ops->memory(be, &m, &err))
        fail_msg("%s", err.message);
    return m.held;
}

/* The body of a test's main(): runs `check` once per precision, with the precision's name as its
 * state. */
static inline int cuda_each_precision(CMUnitTestFunction check)
{
    const struct CMUnitTest tests[] = {{"fp32", check, NULL, NULL, (void *)"fp32"},
        {"fp16", check, NULL, NULL, (void *)"fp16"}, {"bf16", check, NULL, NULL, (void *)"bf16"}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
