/* DG_RANGE("name") names the rest of the block for a profiler (Nsight); it does nothing if none is
 * attached, or if NVTX's header, which comes with CUDA, is missing. Ranges nest. Any thread. */
#ifndef DG_KERNELS_CUDA_PROFILE_H
#define DG_KERNELS_CUDA_PROFILE_H

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define DG_RANGE(name)                                                                             \
    const int dg_range __attribute__((cleanup(dg_range_end), unused)) = nvtxRangePushA(name)

static inline void dg_range_end(const int *range)
{
    (void)range;
    nvtxRangePop();
}
#else
#define DG_RANGE(name) (void)(name)
#endif

#endif
