/* The CPU as a device, for targets that open models. */
#ifndef DG_TESTS_FUZZ_CPU_H
#define DG_TESTS_FUZZ_CPU_H

#include "kernels/device.h"
#include "tests/fuzz/fuzz.h"

/* Opens the backend once, for the life of the process. */
static inline struct dg_backend *fuzz_cpu(void)
{
    const struct dg_device_options o = {.device = "cpu"};
    struct dg_device device;
    struct dg_backend *be = NULL;
    struct dg_error err = {0};
    require(dg_device_choose(&o, &device, &err) == DG_OK);
    require(dg_device_open(&device, &be, &err) == DG_OK);
    return be;
}

#endif
