/* Our own matrix products, where cuBLASLt has no algorithm. A block owns TILE by TILE results, a
 * thread 2 by 2 of them; the summed dimension goes through shared memory in steps of TILE. Sums are
 * single chains of fmaf in order of k: row-stable. Simple rather than fast: no tensor cores.
 * Calculated for an H200, 256 rows of N = K = 2,048 in bf16: 10 MB and 2.1 GFLOP, at 10 TFLOP/s on
 * CUDA cores 200 us, where cuBLASLt would take 5 us. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/gemm.h"

static const uint32_t TILE = 32, SIDE = TILE / 2, THREADS = SIDE * SIDE;

/* n rows of an operand; columns: n columns, where the sum runs over its rows. */
struct operand {
    struct dg_k_rows x;
    size_t n;
    bool columns;
};

/* Loads tile[TILE,TILE+1]: the operand's rows from `first` on, elements from k0 on out of K; zero
 * outside. */
static __device__ void load(
    const struct operand &of, size_t first, size_t k0, size_t K, float *tile)
{
    const size_t row = of.columns ? 1 : of.x.ld, step = of.columns ? of.x.ld : 1;
    for (uint32_t at = threadIdx.x; at < TILE * TILE; at += THREADS) {
        /* Neighbouring threads read neighbouring elements. */
        const uint32_t i = step == 1 ? at / TILE : at % TILE, k = step == 1 ? at % TILE : at / TILE;
        const bool inside = first + i < of.n && k0 + k < K;
        tile[i * (TILE + 1) + k] =
            inside ? dg_load(of.x.p, of.x.type, (first + i) * row + (k0 + k) * step) : 0.0f;
    }
}

static __global__ void __launch_bounds__(THREADS) multiply(struct dg_gemm_call c)
{
    __shared__ float a[TILE * (TILE + 1)], b[TILE * (TILE + 1)];
    const bool forward = c.kind == DG_GEMM_FORWARD, weight = c.kind == DG_GEMM_WEIGHT;
    const struct operand left = {c.a, weight ? c.N : c.M, weight},
                         right = {c.b, forward ? c.N : c.K, !forward};
    const uint32_t ti = threadIdx.x / SIDE, tj = threadIdx.x % SIDE;
    const size_t i0 = (size_t)blockIdx.y * TILE, j0 = (size_t)blockIdx.x * TILE,
                 K = forward  ? c.K
                     : weight ? c.M
                              : c.N;
    float acc[2][2] = {{0, 0}, {0, 0}};
    for (size_t k0 = 0; k0 < K; k0 += TILE) {
        __syncthreads();
        load(left, i0, k0, K, a);
        load(right, j0, k0, K, b);
        __syncthreads();
        const uint32_t n = K - k0 < TILE ? (uint32_t)(K - k0) : TILE;
        for (uint32_t k = 0; k < n; k++)
#pragma unroll
            for (uint32_t r = 0; r < 4; r++)
                acc[r / 2][r % 2] = fmaf(a[(ti + r / 2 * SIDE) * (TILE + 1) + k],
                    b[(tj + r % 2 * SIDE) * (TILE + 1) + k], acc[r / 2][r % 2]);
    }
#pragma unroll
    for (uint32_t r = 0; r < 4; r++) {
        const size_t i = i0 + ti + r / 2 * SIDE, j = j0 + tj + r % 2 * SIDE, at = i * c.c.ld + j;
        if (i >= left.n || j >= right.n)
            continue;
        float v = acc[r / 2][r % 2];
        if (c.add)
            v += dg_load(c.c.p, c.c.type, at);
        if (c.bias)
            v += dg_load(c.bias, c.c.type, j);
        dg_store(c.c.p, c.c.type, at, c.relu && v < 0 ? 0.0f : v);
    }
}

extern "C" void dg_launch_gemm(struct dg_cuda *cu, const struct dg_gemm_call *call)
{
    const size_t rows = call->kind == DG_GEMM_WEIGHT ? call->N : call->M,
                 columns = call->kind == DG_GEMM_FORWARD ? call->N : call->K;
    const dim3 grid((unsigned)((columns + TILE - 1) / TILE), (unsigned)((rows + TILE - 1) / TILE));
    if (grid.y > 65535)
        dg_cuda_ok(cu, cudaErrorInvalidValue, "a product of so many rows");
    else
        DG_LAUNCH(cu, multiply, grid, THREADS, 0, *call);
}
