/* The inner kernels with NEON, which every 64-bit ARM has: the shared bodies at this vector
 * width. */
#include "kernels/cpu/vec_neon.h"

#include "kernels/cpu/simd_isa.h"

const struct dg_cpu_isa dg_cpu_neon = {.name = "neon", DG_SIMD_KERNELS};
