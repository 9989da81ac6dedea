/* int8 with AVX-VNNI (AVX2 machines since 2021). Compiled with the matching compiler flags; called
 * only if the machine supports them (open.c). */
#define INT8_VNNI
#include "kernels/cpu/vec_int8_avx2.h"

/* The body builds on the vector. */
#include "kernels/cpu/simd_int8.h"

const struct dg_cpu_int8 dg_int8_avxvnni = {.quantize = int8_quantize, .gemm = int8_gemm};
