/* Matrix products of our own, for what cuBLASLt has no algorithm for. A block owns TILE by TILE
 * results, a thread 2 by 2 of them; the summed side goes through shared memory in steps of TILE.
 * Sums are single chains of fmaf in order of k: row-stable. Plain rather than fast: no tensor
 * cores.
 * Calculated for an H200, 256 rows of N = K = 2,048 in bf16: 10 MB and 2.1 GFLOP, at 10 TFLOP/s on
 * CUDA cores 200 us, where cuBLASLt would take 5 us. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch.h"

static const uint32_t TILE = 32, SIDE = TILE / 2, THREADS = SIDE * SIDE;

/* tile[TILE,TILE+1] = x[row0+i, k0+k], zero outside. */
static __device__ void load(const void *x, enum dg_type type, size_t row0, size_t rows,
    size_t row_step, size_t k0, size_t sum, size_t k_step, float *tile)
{
    for (uint32_t at = threadIdx.x; at < TILE * TILE; at += THREADS) {
        /* Threads side by side read what lies side by side. */
        const uint32_t i = k_step == 1 ? at / TILE : at % TILE,
                       k = k_step == 1 ? at % TILE : at / TILE;
        const bool inside = row0 + i < rows && k0 + k < sum;
        tile[i * (TILE + 1) + k] =
            inside ? dg_load(x, type, (row0 + i) * row_step + (k0 + k) * k_step) : 0.0f;
    }
}

static __global__ void __launch_bounds__(THREADS) multiply(struct dg_k_gemm g)
{
    __shared__ float a[TILE * (TILE + 1)], b[TILE * (TILE + 1)];
    const uint32_t ti = threadIdx.x / SIDE, tj = threadIdx.x % SIDE;
    const size_t i0 = (size_t)blockIdx.y * TILE, j0 = (size_t)blockIdx.x * TILE;
    float acc[2][2] = {{0, 0}, {0, 0}};
    for (size_t k0 = 0; k0 < g.sum; k0 += TILE) {
        __syncthreads();
        load(g.a, g.in, i0, g.rows, g.ai, k0, g.sum, g.ak, a);
        load(g.b, g.in, j0, g.columns, g.bj, k0, g.sum, g.bk, b);
        __syncthreads();
        const uint32_t n = g.sum - k0 < TILE ? (uint32_t)(g.sum - k0) : TILE;
        for (uint32_t k = 0; k < n; k++)
#pragma unroll
            for (uint32_t r = 0; r < 4; r++)
                acc[r / 2][r % 2] = fmaf(a[(ti + r / 2 * SIDE) * (TILE + 1) + k],
                    b[(tj + r % 2 * SIDE) * (TILE + 1) + k], acc[r / 2][r % 2]);
    }
#pragma unroll
    for (uint32_t r = 0; r < 4; r++) {
        const size_t i = i0 + ti + r / 2 * SIDE, j = j0 + tj + r % 2 * SIDE;
        if (i >= g.rows || j >= g.columns)
            continue;
        float v = acc[r / 2][r % 2];
        if (g.add)
            v += dg_load(g.c, g.out, i * g.ldc + j);
        if (g.bias)
            v += dg_load(g.bias, g.out, j);
        dg_store(g.c, g.out, i * g.ldc + j, g.relu && v < 0 ? 0.0f : v);
    }
}

extern "C" void dg_launch_gemm(struct dg_cuda *cu, const struct dg_k_gemm *g)
{
    const dim3 grid(
        (unsigned)((g->columns + TILE - 1) / TILE), (unsigned)((g->rows + TILE - 1) / TILE));
    if (grid.y > 65535)
        dg_cuda_ok(cu, cudaErrorInvalidValue, "a product of so many rows");
    else
        DG_LAUNCH(cu, multiply, grid, THREADS, 0, *g);
}
