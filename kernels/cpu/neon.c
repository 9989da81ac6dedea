/* The inner kernels with NEON, which every 64-bit ARM has: the shared bodies at this vector
 * width. */
#include "kernels/cpu/vec_neon.h"

/* clang-format off: the bodies build on one another. */
#include "kernels/cpu/simd_rows.h"
#include "kernels/cpu/simd_attention.h"
#include "kernels/cpu/simd_step.h"
#include "kernels/cpu/simd_topk.h"
#include "kernels/cpu/simd_gemm.h"
/* clang-format on */

const struct dg_cpu_isa dg_cpu_neon = {
    .name = "neon",
    .gemm = gemm,
    .dot = dot,
    .finish = finish,
    .dropout = dropout,
    .norm = norm,
    .ssru = ssru,
    .scores = scores,
    .weigh = weigh,
    .step = step,
    .max = max_of,
    .exp_sum = exp_sum,
    .scale = scale_by,
    .widen = widen,
    .narrow = narrow,
    .run_max = run_max,
    .sum_exp = sum_exp,
    .at_least = at_least,
};
