/* int8 with ARM's dot products (sdot; nearly all since 2018). Compiled with the matching compiler
 * flags; called only if the machine supports them (open.c). */
#define INT8_DOTPROD
#include "kernels/cpu/vec_int8_neon.h"

/* The body builds on the vector. */
#include "kernels/cpu/simd_int8.h"

const struct dg_cpu_int8 dg_int8_neondot = {
    .quantize = int8_quantize, .gemm = int8_gemm, .fine_shift = DG_INT8_FINE_SHIFT};
