/* The inner kernels with AVX2: the shared bodies at this vector width. Compiled with the matching
 * compiler flags; called only if the machine supports them (open.c). */
#include "kernels/cpu/vec_avx2.h"

#include "kernels/cpu/simd_isa.h"

const struct dg_cpu_isa dg_cpu_avx2 = {.name = "avx2", DG_SIMD_KERNELS};
