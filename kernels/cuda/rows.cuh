/* Elements of rows whose type a kernel knows when it is compiled. Loads are then plain, and a
 * thread has a batch of them on their way before it uses the first; a type found at run time is a
 * branch at each element, with the conversion waiting right behind the load. Kernels keep both
 * steps apart: dg_get into registers for a whole batch, dg_float after it. */
#ifndef DG_KERNELS_CUDA_ROWS_CUH
#define DG_KERNELS_CUDA_ROWS_CUH

#include "kernels/cuda/device.cuh"

/* Element i of p where `in`, else 0. */
template <typename T> static __device__ __forceinline__ T dg_get(bool in, const void *p, size_t i)
{
    return in ? ((const T *)p)[i] : T{};
}

/* Elements first, first + STEP, ... of row m of D elements; zeros beyond the end, and where there
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

/* Elements at, at + STEP, ... of row m, those before `end`: of a type that is found at run time,
 * once for all of them. */
template <uint32_t STEP, int N>
static __device__ __forceinline__ void dg_put_batch(
    const struct dg_k_rows &y, size_t m, size_t at, size_t end, const float (&x)[N])
{
    DG_TYPED(y.type, dg_put_steps<STEP>((T *)y.p + m * y.ld, at, end, x));
}

#endif
