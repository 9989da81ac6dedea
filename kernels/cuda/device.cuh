/* Shared by kernels: launching, element types, dropout, reductions over a warp.
 * Sums call fmaf explicitly where it is meant, so that every instantiation of a template gives the
 * same bits. tests/emu builds the same sources for the host, with a cuda_runtime.h of its own. */
#ifndef DG_KERNELS_CUDA_DEVICE_CUH
#define DG_KERNELS_CUDA_DEVICE_CUH

#include "kernels/cuda/launch.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

/* The host build defines its own. */
#ifndef DG_START
#define DG_START(kernel, grid, block, shared, stream, ...)                                         \
    kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define DG_SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]
#define DG_START_EARLY dg_start_early

/* Launches a kernel that may start while the kernel before it in the stream is still ending; only
 * what it does before DG_AFTER_THE_LAST overlaps. */
template <typename... A>
static void dg_start_early(
    void (*kernel)(A...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream, A... args)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, args...);
}
#endif

/* Waits until the kernels before this one have ended and all their writes are visible; then allows
 * the next kernel to start, which waits in its turn. The first statement of a kernel that
 * DG_LAUNCH_EARLY launches: the kernel's blocks are on the device by then, so a launch costs less.
 * (Code compiled for 9.0 and later; elsewhere every launch waits, dg_cuda_starts_early.) */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define DG_AFTER_THE_LAST()                                                                        \
    asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory")
#else
#define DG_AFTER_THE_LAST() (void)0
#endif

/* Launch in the backend's stream; an error is noted under the kernel's name. */
#define DG_LAUNCH(cu, kernel, grid, block, shared, ...)                                            \
    do {                                                                                           \
        DG_START(kernel, grid, block, shared, dg_cuda_stream(cu), __VA_ARGS__);                    \
        dg_cuda_ok(cu, cudaGetLastError(), #kernel);                                               \
    } while (0)

#define DG_LAUNCH_EARLY(cu, kernel, grid, block, shared, ...)                                      \
    do {                                                                                           \
        if (dg_cuda_starts_early(cu))                                                              \
            DG_START_EARLY(kernel, grid, block, shared, dg_cuda_stream(cu), __VA_ARGS__);          \
        else                                                                                       \
            DG_START(kernel, grid, block, shared, dg_cuda_stream(cu), __VA_ARGS__);                \
        dg_cuda_ok(cu, cudaGetLastError(), #kernel);                                               \
    } while (0)

enum { DG_WARP = 32 };

static __device__ __forceinline__ float dg_float(float x)
{
    return x;
}

static __device__ __forceinline__ float dg_float(__half x)
{
    return __half2float(x);
}

static __device__ __forceinline__ float dg_float(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

static __device__ __forceinline__ void dg_put(float *y, float x)
{
    *y = x;
}

static __device__ __forceinline__ void dg_put(__half *y, float x)
{
    *y = __float2half(x);
}

static __device__ __forceinline__ void dg_put(__nv_bfloat16 *y, float x)
{
    *y = __float2bfloat16(x);
}

/* Run the statement with T as the element type of `type`. */
#define DG_TYPED(type, ...)                                                                        \
    do {                                                                                           \
        if ((type) == DG_F32) {                                                                    \
            typedef float T;                                                                       \
            __VA_ARGS__;                                                                           \
        } else if ((type) == DG_F16) {                                                             \
            typedef __half T;                                                                      \
            __VA_ARGS__;                                                                           \
        } else {                                                                                   \
            typedef __nv_bfloat16 T;                                                               \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)

/* For code in which the type is not worth an instantiation. */
static __device__ __forceinline__ float dg_load(const void *p, enum dg_type type, size_t i)
{
    float x;
    DG_TYPED(type, x = dg_float(((const T *)p)[i]));
    return x;
}

static __device__ __forceinline__ void dg_store(void *p, enum dg_type type, size_t i, float x)
{
    DG_TYPED(type, dg_put((T *)p + i, x));
}

/* Dropout's key of row m. */
static __device__ __forceinline__ uint32_t dg_drop_key(const struct dg_k_drop &d, size_t m)
{
    return d.row_key ? d.row_key[m] ^ d.site : 0;
}

/* Element e after dropout, by the hash of backend.h, which a device cannot call. */
static __device__ __forceinline__ float dg_drop(
    const struct dg_k_drop &d, uint32_t key, uint32_t e, float x)
{
    if (!d.row_key)
        return x;
    uint32_t h = e * 0x9E3779B9u + key;
    h ^= h >> 16;
    h *= 0x7FEB352Du;
    h ^= h >> 15;
    h *= 0x846CA68Bu;
    h ^= h >> 16;
    return (h >> 8) >= d.floor ? x * d.scale : 0.0f;
}

/* float or double */
template <typename F> static __device__ __forceinline__ F dg_warp_sum(F x)
{
    for (int step = DG_WARP / 2; step; step /= 2)
        x += __shfl_xor_sync(0xFFFFFFFFu, x, step);
    return x;
}

/* The sum over a block of WARPS warps, in a fixed order and on every thread. warps: [WARPS],
 * shared. */
template <uint32_t WARPS>
static __device__ __forceinline__ double dg_block_sum(double x, double *warps)
{
    x = dg_warp_sum(x);
    if (threadIdx.x % DG_WARP == 0)
        warps[threadIdx.x / DG_WARP] = x;
    __syncthreads();
    x = 0;
    for (uint32_t w = 0; w < WARPS; w++)
        x += warps[w];
    return x;
}

static __device__ __forceinline__ float dg_warp_max(float x)
{
    for (int step = DG_WARP / 2; step; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, step));
    return x;
}

/* Four elements, read or written at once where they are aligned to that. */
template <typename T> struct alignas(4 * sizeof(T)) dg_four {
    T v[4];
};

/* True if every group of four elements of the rows is aligned to that. */
static inline bool dg_in_fours(const struct dg_k_rows &rows)
{
    return dg_k_alignment(rows) >= 4 * dg_cuda_type_bytes(rows.type);
}

/* Gets four elements of p, of which `left` exist, and `beyond` in place of the others; all four at
 * once if WIDE, which requires dg_in_fours. */
template <typename T, bool WIDE>
static __device__ __forceinline__ void dg_get_four(
    const T *p, size_t left, float beyond, float (&x)[4])
{
    if (WIDE && left >= 4) {
        const struct dg_four<T> four = *(const struct dg_four<T> *)p;
        for (size_t e = 0; e < 4; e++)
            x[e] = dg_float(four.v[e]);
    } else {
        for (size_t e = 0; e < 4; e++)
            x[e] = e < left ? dg_float(p[e]) : beyond;
    }
}

/* Rows whose type a kernel knows when it is compiled. Loads are then plain, and a thread has a
 * batch of them in flight before it uses the first; a type found at run time is a branch at each
 * element, with the conversion waiting right after the load. Kernels keep both steps apart: dg_get
 * into registers for a whole batch, dg_float after it. */

/* Element i of p if `in`, else 0. */
template <typename T> static __device__ __forceinline__ T dg_get(bool in, const void *p, size_t i)
{
    return in ? ((const T *)p)[i] : T{};
}

/* Gets elements first, first + STEP, ... of row m of D elements; zeros beyond the end, and if there
 * are no rows. */
template <uint32_t STEP = DG_WARP, typename T, int N>
static __device__ __forceinline__ void dg_get_row(
    const struct dg_k_rows &x, size_t m, uint32_t first, uint32_t D, T (&to)[N])
{
#pragma unroll
    for (int j = 0; j < N; j++) {
        const uint32_t i = first + (uint32_t)j * STEP;
        to[j] = dg_get<T>(x.p && i < D, x.p, m * x.ld + i);
    }
}

template <uint32_t STEP, typename T, int N>
static __device__ __forceinline__ void dg_put_steps(
    T *y, size_t at, size_t end, const float (&x)[N])
{
#pragma unroll
    for (int j = 0; j < N; j++)
        if (at + (size_t)j * STEP < end)
            dg_put(y + at + (size_t)j * STEP, x[j]);
}

/* Puts x to elements at, at + STEP, ... of row m, those before `end`. The type, found at run time,
 * is looked up once for all of them. */
template <uint32_t STEP, int N>
static __device__ __forceinline__ void dg_put_batch(
    const struct dg_k_rows &y, size_t m, size_t at, size_t end, const float (&x)[N])
{
    DG_TYPED(y.type, dg_put_steps<STEP>((T *)y.p + m * y.ld, at, end, x));
}

/* Lets a kernel have this much dynamic shared memory. Up to 48 KiB, including its own static arrays
 * (1 KiB at most), needs no permission; for more the driver must be told, which a launch that needs
 * no more should not pay for. */
static inline int dg_allow_shared(const void *kernel, size_t bytes)
{
    if (bytes <= 47 * 1024)
        return cudaSuccess;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

/* Number of blocks for this many items; a grid-stride loop takes the rest. */
static inline unsigned dg_blocks(size_t items, size_t per_block)
{
    size_t n = (items + per_block - 1) / per_block;
    return (unsigned)(n < 65535 ? n : 65535);
}

#endif
