/* int8 with AMX, whose sums are exact as all others are; few rows use vpdpbusd, which is faster for
 * them. Compiled with the matching compiler flags; called only if the machine supports them
 * (open.c). */
#define INT8_VNNI
#include "kernels/cpu/tiles_amx.h"
#include "kernels/cpu/vec_int8_avx512.h"

/* The bodies build on the vector and on one another. */
#include "kernels/cpu/simd_int8.h"
#include "kernels/cpu/tiles_int8.h"

/* Measured (docs/cpu.md). */
enum { FEW_ROWS = 8 };

static void gemm(const struct dg_int8_gemm *g)
{
    if (g->M <= FEW_ROWS)
        int8_gemm(g);
    else
        tiles_int8_gemm(g);
}

const struct dg_cpu_int8 dg_int8_amx = {.quantize = int8_quantize, .gemm = gemm};
