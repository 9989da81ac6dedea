/* Included before tests/ops/test_*.c (-include): runs their ops on the CUDA backend, or skips
 * them. */
#ifndef DG_TESTS_EMU_OPS_CUDA_H
#define DG_TESTS_EMU_OPS_CUDA_H

#define ops_each_isa ops_each_isa_of_the_cpu
#include "tests/ops/ops.h"
#undef ops_each_isa

#include "tests/emu/cuda.h"

static inline void ops_each_isa(const char *what, void (*f)(struct dg_backend *be, const char *isa))
{
    struct dg_error err = {0};
    struct dg_backend *be = cuda_or_skip("fp32");
    printf("%s: %s runs\n", what, be->name);
    f(be, be->name);
    assert_int_equal(be->ops->status(be, &err), DG_OK);
    dg_device_close(be);
}

#endif
