/* int8 with AVX2. Compiled with the matching compiler flags; called only if the machine supports
 * them (open.c). */
#include "kernels/cpu/vec_int8_avx2.h"

/* The body builds on the vector. */
#include "kernels/cpu/simd_int8.h"

const struct dg_cpu_int8 dg_int8_avx2 = {.quantize = int8_quantize, .gemm = int8_gemm};
