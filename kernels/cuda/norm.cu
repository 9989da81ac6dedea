/* Residual and LayerNorm. A warp owns a row: lane l its elements l, l + 32, ...; sums run over a
 * lane's elements in order and then across the lanes as a tree, in fp32, the variance in a second
 * pass around the mean (one pass loses rows far from zero). A chunk of 32 N elements is in
 * registers: all that a lane wants of it is on its way before it uses any. A row of one chunk is
 * read once, longer ones once for each pass, with the same bits. y, or the sum, may be x or r: a
 * lane reads what it writes, before.
 * Calculated for an H200, bf16, 256 rows of D = 512: x, r and y are 0.8 MB; 2 us. */
#include "kernels/cuda/rows.cuh"

enum { ROWS = 4 }; /* of a block */

/* v = r + drop(x), from element `first` of row m on, which is the lane's; zeros beyond the end. */
template <typename T, int N>
static __device__ __forceinline__ void residual(
    const struct dg_k_norm &k, size_t m, uint32_t first, float (&v)[N])
{
    const uint32_t D = (uint32_t)k.D, key = dg_drop_key(k.drop, m);
    T x[N], r[N];
    dg_get_row(k.x, m, first, D, x);
    dg_get_row(k.r, m, first, D, r);
#pragma unroll
    for (int j = 0; j < N; j++) {
        v[j] = dg_drop(k.drop, key, first + (uint32_t)j * DG_WARP, dg_float(x[j]));
        if (k.r.p)
            v[j] = dg_float(r[j]) + v[j];
    }
}

/* N: elements of a chunk that a lane holds. */
template <typename T, int N>
static __global__ void __launch_bounds__(ROWS *DG_WARP) norm_rows(struct dg_k_norm k)
{
    const uint32_t lane = threadIdx.x % DG_WARP, D = (uint32_t)k.D, CHUNK = N * DG_WARP;
    const struct dg_k_rows gains = {(void *)k.gain, 0, DG_F32},
                           biases = {(void *)k.bias, 0, DG_F32};
    for (size_t m = (size_t)blockIdx.x * ROWS + threadIdx.x / DG_WARP; m < k.M;
         m += (size_t)gridDim.x * ROWS) {
        float v[N], gain[N], bias[N], sum = 0, squares = 0;
        for (uint32_t i = lane; i < D; i += CHUNK) {
            residual<T>(k, m, i, v);
#pragma unroll
            for (int j = 0; j < N; j++)
                sum += v[j];
        }
        const float mean = dg_warp_sum(sum) / (float)k.D;
        for (uint32_t i = lane; i < D; i += CHUNK) {
            if (D > CHUNK)
                residual<T>(k, m, i, v);
#pragma unroll
            for (int j = 0; j < N; j++) {
                const float d = i + (uint32_t)j * DG_WARP < D ? v[j] - mean : 0.0f;
                squares = fmaf(d, d, squares);
            }
        }
        const float rstd = 1.0f / sqrtf(dg_warp_sum(squares) / (float)k.D + k.eps);
        for (uint32_t i = lane; i < D; i += CHUNK) {
            if (D > CHUNK)
                residual<T>(k, m, i, v);
            dg_get_row(gains, 0, i, D, gain);
            dg_get_row(biases, 0, i, D, bias);
#pragma unroll
            for (int j = 0; j < N; j++) {
                const uint32_t at = i + (uint32_t)j * DG_WARP;
                const float xhat = (v[j] - mean) * rstd;
                if (at >= D)
                    continue;
                if (k.sum.p)
                    dg_put((T *)k.sum.p + m * k.sum.ld + at, v[j]);
                if (k.xhat.p)
                    dg_put((T *)k.xhat.p + m * k.xhat.ld + at, xhat);
                dg_put((T *)k.y.p + m * k.y.ld + at, __fmul_rn(xhat, gain[j]) + bias[j]);
            }
        }
        if (k.rstd.p && lane == 0)
            dg_store(k.rstd.p, k.rstd.type, m * k.rstd.ld, rstd);
    }
}

extern "C" void dg_launch_norm(struct dg_cuda *cu, const struct dg_k_norm *k)
{
    const unsigned blocks = dg_blocks(k->M, ROWS);
    if (k->D <= DG_WARP * 16)
        DG_TYPED(k->x.type, DG_LAUNCH(cu, (norm_rows<T, 16>), blocks, ROWS * DG_WARP, 0, *k));
    else
        DG_TYPED(k->x.type, DG_LAUNCH(cu, (norm_rows<T, 32>), blocks, ROWS * DG_WARP, 0, *k));
}
