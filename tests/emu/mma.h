/* kernels/cuda/mma.cuh's instructions on the host: every lane shares its registers and computes its
 * own results from the fragment layouts in the PTX ISA ("Matrix Fragments for mma.m16n8k16",
 * "ldmatrix"; CUTLASS' mma_traits_sm80.hpp has the same). Sums run in the order of k, which a real
 * device does not promise. */
#ifndef DG_TESTS_EMU_MMA_H
#define DG_TESTS_EMU_MMA_H

#include "tests/emu/emu.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <string.h>

#define DG_MMA_GIVEN

static inline float dg_emu_half(uint16_t bits, __half)
{
    return __half2float({bits});
}

static inline float dg_emu_half(uint16_t bits, __nv_bfloat16)
{
    return __bfloat162float({bits});
}

/* A lane's operands of a product. */
struct dg_emu_operands {
    uint16_t a[8], b[4];
};

/* Returns A[row,k] from the lane and register that hold it. */
static inline uint16_t dg_emu_a(const struct dg_emu_operands *of, unsigned row, unsigned k)
{
    const unsigned lane = row % 8 * 4 + k % 8 / 2, i = k % 2 + (row >= 8) * 2 + (k >= 8) * 4;
    return of[lane].a[i];
}

/* Returns B[k,column]. */
static inline uint16_t dg_emu_b(const struct dg_emu_operands *of, unsigned k, unsigned column)
{
    return of[column * 4 + k % 8 / 2].b[k % 2 + (k >= 8) * 2];
}

template <typename T>
static inline void dg_mma(float (&c)[4], const uint32_t (&a)[4], const uint32_t *b)
{
    struct dg_emu_operands mine, of[32];
    const unsigned lane = dg_emu_self()->thread.x % 32;
    memcpy(mine.a, a, sizeof mine.a);
    memcpy(mine.b, b, sizeof mine.b);
    dg_emu_gather(&mine, of, sizeof mine);
    for (unsigned i = 0; i < 4; i++) {
        const unsigned row = lane / 4 + (i >= 2) * 8, column = lane % 4 * 2 + i % 2;
        for (unsigned k = 0; k < 16; k++)
            c[i] +=
                dg_emu_half(dg_emu_a(of, row, k), T()) * dg_emu_half(dg_emu_b(of, k, column), T());
    }
}

/* Sets r[i] to two elements of matrix i, to whose eight rows lanes 8i .. 8i+7 point: elements of
 * row lane / 4, or of column lane / 4 if `turned`. */
static inline void dg_emu_matrices(uint32_t (&r)[4], const void *row, bool turned)
{
    const uint16_t *rows[32];
    const unsigned lane = dg_emu_self()->thread.x % 32;
    dg_emu_gather(&row, rows, sizeof row);
    for (unsigned i = 0; i < 4; i++) {
        uint16_t two[2];
        for (unsigned e = 0; e < 2; e++)
            two[e] = turned ? rows[i * 8 + lane % 4 * 2 + e][lane / 4]
                            : rows[i * 8 + lane / 4][lane % 4 * 2 + e];
        memcpy(&r[i], two, sizeof two);
    }
}

static inline void dg_matrices(uint32_t (&r)[4], const void *row)
{
    dg_emu_matrices(r, row, false);
}

static inline void dg_matrices_turned(uint32_t (&r)[4], const void *row)
{
    dg_emu_matrices(r, row, true);
}

static inline void dg_copy16(void *to, const void *from)
{
    dg_emu_copy(to, from);
}

static inline void dg_copies_done()
{
    dg_emu_copy_wait();
}

#endif
