/* All inner kernels of one vector width, from the shared bodies: include a vec_*.h first, then
 * this; .name and DG_SIMD_KERNELS fill a struct dg_cpu_isa. Any thread. */
#ifndef DG_KERNELS_CPU_SIMD_ISA_H
#define DG_KERNELS_CPU_SIMD_ISA_H

/* The bodies build on one another. */
#include "kernels/cpu/simd_rows.h"
#include "kernels/cpu/simd_attention.h"
#include "kernels/cpu/simd_step.h"
#include "kernels/cpu/simd_topk.h"
#include "kernels/cpu/simd_gemm.h"

#define DG_SIMD_KERNELS                                                                            \
    .gemm = gemm, .dot = dot, .finish = finish, .dropout = dropout, .norm = norm, .ssru = ssru,    \
    .scores = scores, .weigh = weigh, .step = step, .max = max_of, .exp_sum = exp_sum,             \
    .scale = scale_by, .widen = widen, .narrow = narrow, .run_max = run_max, .sum_exp = sum_exp,   \
    .at_least = at_least

#endif
