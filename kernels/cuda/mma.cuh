/* Tensor cores (sm_80 and later): a warp's product C[16,8] += A[16,16] B[16,8] of fp16 or bf16 with
 * fp32 sums, and helpers for the rows of a head. With g = lane / 4 and t = lane % 4, a lane
 * holds
 * (PTX ISA, "Matrix Fragments for mma.m16n8k16")
 *   A: a[0] row g, columns 2t and 2t+1; a[1] row g+8; a[2], a[3] the same rows, columns 8 later
 *   B: b[0] rows 2t and 2t+1 of column g; b[1] rows 8 later
 *   C: c[0], c[1] row g, columns 2t and 2t+1; c[2], c[3] row g+8
 * so that two neighbouring C, rounded and paired, form an A. In shared memory, rows of D elements
 * are D + DG_PAD apart: 16 bytes of eight neighbouring rows are in different banks. */
#ifndef DG_KERNELS_CUDA_MMA_CUH
#define DG_KERNELS_CUDA_MMA_CUH

#include "kernels/cuda/device.cuh"

#include <string.h>

enum { DG_PAD = 8 };

/* The host build defines its own (tests/emu/mma.h). */
#ifndef DG_MMA_GIVEN

template <typename T>
static __device__ __forceinline__ void dg_mma(
    float (&c)[4], const uint32_t (&a)[4], const uint32_t *b);

#define DG_MMA_OF(T, name)                                                                         \
    template <>                                                                                    \
    __device__ __forceinline__ void dg_mma<T>(                                                     \
        float(&c)[4], const uint32_t(&a)[4], const uint32_t *b)                                    \
    {                                                                                              \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 "                \
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                       \
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
    }
DG_MMA_OF(__half, "f16")
DG_MMA_OF(__nv_bfloat16, "bf16")

/* Four matrices [8,8] from shared memory: lanes 8i .. 8i+7 point to the rows of matrix i, 16 bytes
 * each, and every lane gets elements 2t and 2t+1 of row g in r[i]. */
static __device__ __forceinline__ void dg_matrices(uint32_t (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(row))
                 : "memory");
}

/* The same, transposed: every lane gets rows 2t and 2t+1 of column g. */
static __device__ __forceinline__ void dg_matrices_turned(uint32_t (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(row))
                 : "memory");
}

/* Copies 16 aligned bytes from global to shared memory asynchronously. They are there for this
 * thread after dg_copies_done, and for others after a barrier that follows it. */
static __device__ __forceinline__ void dg_copy16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from))
                 : "memory");
}

static __device__ __forceinline__ void dg_copies_done()
{
    asm volatile("cp.async.wait_all;" : : : "memory");
}

#endif

/* A warp has 16 of a tile's n rows: its first row, and how many of the 16 exist. */
static __device__ __forceinline__ uint32_t dg_warp_first()
{
    return threadIdx.x / DG_WARP * 16;
}

static __device__ __forceinline__ uint32_t dg_warp_rows(uint32_t n)
{
    const uint32_t first = dg_warp_first();
    if (n <= first)
        return 0;
    return n - first < 16 ? n - first : 16;
}

/* Two results in the form that a register holds. */
template <typename T> static __device__ __forceinline__ uint32_t dg_pair(float low, float high);

#define DG_PAIR_OF(T, T2, pair)                                                                    \
    template <> __device__ __forceinline__ uint32_t dg_pair<T>(float low, float high)              \
    {                                                                                              \
        const T2 two = pair(low, high);                                                            \
        uint32_t bits;                                                                             \
        memcpy(&bits, &two, sizeof bits);                                                          \
        return bits;                                                                               \
    }
DG_PAIR_OF(__half, __half2, __floats2half2_rn)
DG_PAIR_OF(__nv_bfloat16, __nv_bfloat162, __floats2bfloat162_rn)

template <typename T> static __device__ __forceinline__ void dg_unpair(float (&x)[2], uint32_t bits)
{
    T two[2];
    memcpy(two, &bits, sizeof bits);
    x[0] = dg_float(two[0]);
    x[1] = dg_float(two[1]);
}

/* Fetches n rows of one head to to[rows,D + DG_PAD], followed by zeros, with THREADS threads. The
 * caller waits for the copies and then needs a barrier. */
template <typename T, uint32_t D, uint32_t THREADS>
static __device__ __forceinline__ void dg_fetch_rows(
    T *to, const struct dg_k_rows &from, size_t row0, uint32_t h, uint32_t n, uint32_t rows)
{
    const uint32_t line = D / 8;
    const T *x = (const T *)from.p + row0 * from.ld + (size_t)h * D;
#pragma unroll 4
    for (uint32_t at = threadIdx.x; at < rows * line; at += THREADS) {
        const uint32_t r = at / line, e = at % line * 8;
        T *place = to + r * (D + DG_PAD) + e;
        if (r < n)
            dg_copy16(place, x + r * from.ld + e);
        else
            *(uint4 *)(void *)place = uint4{0, 0, 0, 0};
    }
}

/* Loads the A of 16 rows. */
template <typename T, uint32_t D>
static __device__ __forceinline__ void dg_left(uint32_t (&a)[D / 16][4], const T *rows)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    const T *mine = rows + lane % 16 * (D + DG_PAD) + lane / 16 * 8;
#pragma unroll
    for (uint32_t k = 0; k < D / 16; k++)
        dg_matrices(a[k], mine + k * 16);
}

/* c = A rows^T, for 8 rows. */
template <typename T, uint32_t D>
static __device__ __forceinline__ void dg_score(
    float (&c)[4], const uint32_t (&a)[D / 16][4], const T *rows)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    const T *mine = rows + lane % 8 * (D + DG_PAD) + lane / 8 * 8;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        c[i] = 0;
#pragma unroll
    for (uint32_t k = 0; k < D / 16; k += 2) {
        uint32_t b[4];
        dg_matrices(b, mine + k * 16);
        dg_mma<T>(c, a[k], b);
        dg_mma<T>(c, a[k + 1], b + 2);
    }
}

/* c += A rows, for 16 rows. */
template <typename T, uint32_t D>
static __device__ __forceinline__ void dg_weigh(
    float (&c)[D / 8][4], const uint32_t (&a)[4], const T *rows)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    const T *mine = rows + lane % 16 * (D + DG_PAD) + lane / 16 * 8;
#pragma unroll
    for (uint32_t n = 0; n < D / 8; n += 2) {
        uint32_t b[4];
        dg_matrices_turned(b, mine + n * 8);
        dg_mma<T>(c[n], a, b);
        dg_mma<T>(c[n + 1], a, b + 2);
    }
}

/* Where a lane's pair of C is in a warp's own [16,W + DG_PAD]: row g (half 0) or g + 8 (half 1),
 * block b. */
template <uint32_t W, typename T>
static __device__ __forceinline__ uint32_t *dg_pair_at(T *own, uint32_t b, uint32_t half)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    return (uint32_t *)(void *)(own + (lane / 4 + half * 8) * (W + DG_PAD) + b * 8 + lane % 4 * 2);
}

/* to[r * ld + j] = own[r,j] for n rows and `width` columns; rows of `to` may begin anywhere. own:
 * shared memory [16,W + DG_PAD], which the warp has written. */
template <typename T, uint32_t W>
static __device__ __forceinline__ void dg_put_lines(
    const T *own, T *to, size_t ld, uint32_t n, uint32_t width)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    __syncwarp();
#pragma unroll 4
    for (uint32_t r = 0; r < n; r++)
#pragma unroll
        for (uint32_t j = lane; j < W; j += DG_WARP)
            if (j < width)
                to[r * ld + j] = own[r * (W + DG_PAD) + j];
}

/* Puts the first n of a warp's 16 rows, times `factor`, to memory, through shared memory [16,D +
 * DG_PAD] that is the warp's own, so that a store is 16 bytes. */
template <typename T, uint32_t D>
static __device__ __forceinline__ void dg_put_rows(const float (&c)[D / 8][4], float factor, T *own,
    const struct dg_k_rows &to, size_t row0, uint32_t h, uint32_t n)
{
    const uint32_t lane = threadIdx.x % DG_WARP, line = D / 8;
    T *y = (T *)to.p + row0 * to.ld + (size_t)h * D;
    __syncwarp();
#pragma unroll
    for (uint32_t b = 0; b < D / 8; b++) {
        *dg_pair_at<D>(own, b, 0) = dg_pair<T>(c[b][0] * factor, c[b][1] * factor);
        *dg_pair_at<D>(own, b, 1) = dg_pair<T>(c[b][2] * factor, c[b][3] * factor);
    }
    __syncwarp();
#pragma unroll
    for (uint32_t at = lane; at < 16 * line; at += DG_WARP) {
        const uint32_t r = at / line, e = at % line * 8;
        if (r < n)
            *(uint4 *)(void *)(y + r * to.ld + e) =
                *(const uint4 *)(const void *)(own + r * (D + DG_PAD) + e);
    }
}

#endif
