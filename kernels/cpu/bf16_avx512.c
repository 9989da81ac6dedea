/* bf16 with AVX512_BF16. Compiled with its flags, entered only after the machine was asked
 * (open.c). */
#include "kernels/cpu/vec_bf16_avx512.h"

/* clang-format off: the body builds on the vector. */
#include "kernels/cpu/simd_bf16.h"
#include "kernels/cpu/bf16_round.h"
/* clang-format on */

const struct dg_cpu_bf16 dg_bf16_avx512 = {.round = bf16_round, .gemm = bf16_gemm};
