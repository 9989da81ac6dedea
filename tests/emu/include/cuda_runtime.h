/* The language part of CUDA that the kernels use, for g++: see tests/emu/emu.h. */
#ifndef DG_EMU_CUDA_RUNTIME_H
#define DG_EMU_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"
#include "tests/emu/device.h"
#include "tests/emu/emu.h"
#include "tests/emu/stream.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static

#define threadIdx (dg_emu_self()->thread)
#define blockIdx (dg_emu_self()->block)
#define gridDim (dg_emu_self()->grid_dim)

#define __syncthreads() dg_emu_sync_block()
#define __syncwarp() dg_emu_sync_warp()

template <typename V> static inline V __shfl_xor_sync(unsigned mask, V value, int lanes)
{
    (void)mask;
    V out;
    dg_emu_exchange(&value, &out, sizeof value, lanes);
    return out;
}

/* Maximum over the 32 lanes of a warp. */
static inline unsigned __reduce_max_sync(unsigned mask, unsigned value)
{
    for (int lanes = 16; lanes; lanes /= 2) {
        const unsigned other = __shfl_xor_sync(mask, value, lanes);
        value = other > value ? other : value;
    }
    return value;
}

static inline unsigned __reduce_min_sync(unsigned mask, unsigned value)
{
    return ~__reduce_max_sync(mask, ~value);
}

/* A vector type, through which kernels read memory of other types. */
struct __attribute__((may_alias, aligned(16))) uint4 {
    unsigned x, y, z, w;
};

static inline unsigned __float_as_uint(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float __uint_as_float(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float __fmul_rn(float a, float b)
{
    return a * b; /* the host build does not contract to fma */
}

#include "tests/emu/mma.h"

/* Queues a launch; arguments are copied at the time of the call. */
template <typename F, typename... A>
static inline void dg_emu_kernel(
    cudaStream_t stream, dim3 grid, dim3 block, size_t shared, F *kernel, const A &...args)
{
    dg_emu_device_of(stream, "a launch on another device's stream");
    dg_emu_may_share((const void *)kernel, shared);
    dg_emu_give(stream, [=] { dg_emu_launch(grid, block, shared, [&] { kernel(args...); }); });
}

#define DG_START(kernel, grid, block, shared, stream, ...)                                         \
    dg_emu_kernel((stream), dim3(grid), dim3(block), (shared), (kernel), __VA_ARGS__)
#define DG_START_EARLY(...)                                                                        \
    do {                                                                                           \
        dg_emu_launched_early();                                                                   \
        DG_START(__VA_ARGS__);                                                                     \
    } while (0)
#define DG_SHARED_BYTES(name) unsigned char *name = dg_emu_shared()

#endif
