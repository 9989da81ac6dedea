/* The CUDA backend that kernels/device.c finds: the emulated one in `make test`, the device's in
 * `make test-gpu`. After cmocka's headers. */
#ifndef DG_TESTS_EMU_CUDA_H
#define DG_TESTS_EMU_CUDA_H

#include "kernels/device.h"

#include <stdlib.h>

/* The caller's to close. Without a device the program ends as skipped, which ctest knows by the
 * exit status. */
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

#endif
