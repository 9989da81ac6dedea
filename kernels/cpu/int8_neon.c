/* int8 with NEON alone. */
#include "kernels/cpu/vec_int8_neon.h"

/* The body builds on the vector. */
#include "kernels/cpu/simd_int8.h"

const struct dg_cpu_int8 dg_int8_neon = {
    .quantize = int8_quantize, .gemm = int8_gemm, .fine_shift = DG_INT8_FINE_SHIFT};
