/* Label-smoothed cross-entropy and its gradient (contract of struct dg_loss): a block a row of
 * logits, three walks over it. Sums: a thread's own in fp32, across threads in double. The gradient
 * may overwrite the logits, or go to rows of another type, which the products behind it read. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch_train.h"

#include <math.h>

static const uint32_t THREADS = 256, WARPS = THREADS / DG_WARP;

static __global__ void __launch_bounds__(THREADS) loss_rows(struct dg_k_loss k)
{
    __shared__ float tops[WARPS];
    __shared__ double sums[2][WARPS];
    const size_t m = blockIdx.x, row = m * k.logits.ld, target = (size_t)k.target[m];
    float top = -INFINITY, before = 0, after = 0;
    for (size_t i = threadIdx.x; i < k.V; i += THREADS)
        top = fmaxf(top, dg_load(k.logits.p, k.logits.type, row + i));
    top = dg_warp_max(top);
    if (threadIdx.x % DG_WARP == 0)
        tops[threadIdx.x / DG_WARP] = top;
    const float at_target = dg_load(k.logits.p, k.logits.type, row + target);
    __syncthreads();
    for (uint32_t w = 0; w < WARPS; w++)
        top = fmaxf(top, tops[w]);
    for (size_t i = threadIdx.x; i < k.V; i += THREADS) {
        const float x = dg_load(k.logits.p, k.logits.type, row + i);
        before += x;
        after += expf(x - top);
    }
    const double sum_x = dg_block_sum<WARPS>(before, sums[0]), sum_e = dg_block_sum<WARPS>(after, sums[1]);
    if (threadIdx.x == 0) {
        const double log_z = (double)top + log(sum_e), eps = k.epsilon;
        struct dg_k_row_loss r;
        r.nll = log_z - at_target;
        r.smoothed = log_z - (1 - eps) * at_target - eps / (double)k.V * sum_x;
        r.correct = at_target == top;
        r.pad = 0;
        k.rows[m] = r;
    }
    if (!k.grad.p)
        return;
    const float a = (float)(k.scale / sum_e),
                b = (float)((double)k.scale * k.epsilon / (double)k.V);
    for (size_t i = threadIdx.x; i < k.V; i += THREADS) {
        float g = expf(dg_load(k.logits.p, k.logits.type, row + i) - top) * a - b;
        if (i == target)
            g -= k.scale * (1.0f - k.epsilon);
        dg_store(k.grad.p, k.grad.type, m * k.grad.ld + i, g);
    }
}

extern "C" int dg_launch_loss(cudaStream_t stream, const struct dg_k_loss *k)
{
    DG_LAUNCH(loss_rows, (unsigned)k->M, THREADS, 0, stream, *k);
    return cudaGetLastError();
}
