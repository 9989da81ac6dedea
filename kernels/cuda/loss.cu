/* Label-smoothed cross-entropy and its gradient (contract of struct dg_loss): a block a row of fp32
 * logits, which its threads hold in registers between the three passes over it: the maximum, the
 * sum of exponentials, the gradient. So it is read once; one longer than a block can hold is read a
 * tile at a time in each of them, and so is one that does not lie in fours. Sums: a thread's own in
 * fp32, four chains, across threads in double, in a fixed order. The gradient may overwrite the
 * logits, or go to rows of another type, which the products behind it read. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch_train.h"

#include <float.h>
#include <math.h>

/* How a row is cut: each of W warps' threads holds H groups of four, in one tile or several; a
 * group lies in fours, and in the row or beyond it as a whole, or not. */
template <uint32_t W, uint32_t H, bool ONE_TILE, bool IN_FOURS> struct cut {
    static const uint32_t WARPS = W, HELD = H, STEP = W * DG_WARP * 4, SIZE = STEP * H;
    static const bool ONE = ONE_TILE, WIDE = IN_FOURS;
};

/* Few warps where they can hold the row, so that several rows share a processor. */
typedef struct cut<4, 20, true, true> few;
typedef struct cut<16, 20, true, true> many;
typedef struct cut<16, 8, false, true> walk;
typedef struct cut<16, 8, false, false> slow;

/* Beyond the row, or a piece that can never come. Not so of a NaN, which must be seen. */
static __device__ __forceinline__ bool impossible(float x)
{
    return x < -FLT_MAX;
}

/* The row's logits from column i on, in steps; those beyond the row are -inf. */
template <typename C>
static __device__ __forceinline__ void load(const struct dg_k_loss &k, uint32_t i, float (*x)[4])
{
    const float *row = (const float *)k.logits.p + blockIdx.x * k.logits.ld;
    const uint32_t V = (uint32_t)k.V;
#pragma unroll
    for (uint32_t j = 0; j < C::HELD; j++, i += C::STEP) {
        struct dg_four<float> four = {
            {
                -INFINITY, -INFINITY, -INFINITY, -INFINITY
            }
        };
        if (C::WIDE && i < V)
            four = *(const struct dg_four<float> *)(row + i);
        for (uint32_t e = 0; e < 4; e++)
            x[j][e] = C::WIDE || i + e >= V ? four.v[e] : row[i + e];
    }
}

template <typename C> static __device__ __forceinline__ float look(const float (*x)[4], float *sum)
{
    float top = -INFINITY;
#pragma unroll
    for (uint32_t j = 0; j < C::HELD; j++)
        for (uint32_t e = 0; e < 4; e++) {
            top = fmaxf(top, x[j][e]);
            sum[e] += impossible(x[j][e]) ? 0 : x[j][e];
        }
    return top;
}

/* -1 for what is impossible. */
template <typename C> static __device__ __forceinline__ void exponentials(float top, float (*x)[4])
{
#pragma unroll
    for (uint32_t j = 0; j < C::HELD; j++)
        for (uint32_t e = 0; e < 4; e++)
            x[j][e] = impossible(x[j][e]) ? -1 : expf(x[j][e] - top);
}

/* x a - b, or 0, everywhere but at the target right. */
template <typename C, typename T>
static __device__ __forceinline__ void store(
    const struct dg_k_loss &k, uint32_t i, const float (*x)[4], float a, float b)
{
    const uint32_t V = (uint32_t)k.V;
    T *grad = (T *)k.grad.p + blockIdx.x * k.grad.ld;
#pragma unroll
    for (uint32_t j = 0; j < C::HELD; j++, i += C::STEP) {
        struct dg_four<T> four;
        for (uint32_t e = 0; e < 4; e++)
            dg_put(&four.v[e], x[j][e] < 0 ? 0 : x[j][e] * a - b);
        if (C::WIDE && i < V)
            *(struct dg_four<T> *)(grad + i) = four;
        for (uint32_t e = 0; e < 4 && !C::WIDE; e++)
            if (i + e < V)
                grad[i + e] = four.v[e];
    }
}

/* A thread's four sums with those of its warp. */
static __device__ __forceinline__ double warp_total(const float *sum)
{
    return dg_warp_sum(((double)sum[0] + sum[1]) + ((double)sum[2] + sum[3]));
}

/* n pieces share ε. */
static __device__ void put_row(
    const struct dg_k_loss &k, float at_target, float top, double sum_x, double sum_e, double n)
{
    const double log_z = (double)top + log(sum_e), eps = k.epsilon;
    struct dg_k_row_loss r;
    r.nll = log_z - at_target;
    r.smoothed = log_z - (1 - eps) * at_target - eps / n * sum_x;
    r.correct = at_target == top;
    r.pad = 0;
    k.rows[blockIdx.x] = r;
}

template <typename C, typename T>
static __global__ void __launch_bounds__(C::WARPS *DG_WARP) loss_rows(struct dg_k_loss k)
{
    __shared__ float tops[C::WARPS];
    __shared__ double sums[3][C::WARPS];
    const uint32_t warp = threadIdx.x / DG_WARP, lane = threadIdx.x % DG_WARP,
                   own = threadIdx.x * 4, target = (uint32_t)k.target[blockIdx.x],
                   end = C::ONE ? C::SIZE : (uint32_t)k.V; /* of the tiles' first columns */
    const float at_target = ((const float *)k.logits.p)[blockIdx.x * k.logits.ld + target];
    float x[C::HELD][4], top = -INFINITY, sum[4] = {0, 0, 0, 0};
    uint32_t possible = 0;
    for (uint32_t first = 0; first < end; first += C::SIZE) {
        load<C>(k, first + own, x);
        top = fmaxf(top, look<C>(x, sum));
    }
    top = dg_warp_max(top);
    const double warp_x = warp_total(sum);
    if (lane == 0) {
        tops[warp] = top;
        sums[0][warp] = warp_x;
    }
    __syncthreads();
    top = dg_warp_max(lane < C::WARPS ? tops[lane] : -INFINITY);
    for (uint32_t e = 0; e < 4; e++)
        sum[e] = 0;
    for (uint32_t first = 0; first < end; first += C::SIZE) {
        if (!C::ONE)
            load<C>(k, first + own, x);
        exponentials<C>(top, x);
#pragma unroll
        for (uint32_t j = 0; j < C::HELD; j++)
            for (uint32_t e = 0; e < 4; e++) {
                sum[e] += x[j][e] < 0 ? 0 : x[j][e];
                possible += x[j][e] < 0 ? 0 : 1;
            }
    }
    const double warp_e = warp_total(sum), warp_n = dg_warp_sum((double)possible);
    if (lane == 0) {
        sums[1][warp] = warp_e;
        sums[2][warp] = warp_n;
    }
    __syncthreads();
    const double sum_x = dg_warp_sum(lane < C::WARPS ? sums[0][lane] : 0.0),
                 sum_e = dg_warp_sum(lane < C::WARPS ? sums[1][lane] : 0.0),
                 n = dg_warp_sum(lane < C::WARPS ? sums[2][lane] : 0.0);
    if (threadIdx.x == 0)
        put_row(k, at_target, top, sum_x, sum_e, n);
    if (!k.grad.p)
        return;
    const float a = (float)(k.scale / sum_e), b = (float)((double)k.scale * k.epsilon / n);
    for (uint32_t first = 0; first < end; first += C::SIZE) {
        if (!C::ONE) {
            load<C>(k, first + own, x);
            exponentials<C>(top, x);
        }
        store<C, T>(k, first + own, x, a, b);
    }
    if (threadIdx.x == target / 4 % (C::WARPS * DG_WARP)) /* who has written there */
        dg_put((T *)k.grad.p + blockIdx.x * k.grad.ld + target,
            expf(at_target - top) * a - b - k.scale * (1.0f - k.epsilon));
}

template <typename C> static int launch(cudaStream_t stream, const struct dg_k_loss *k)
{
    DG_TYPED(k->grad.type,
        DG_LAUNCH((loss_rows<C, T>), (unsigned)k->M, C::WARPS * DG_WARP, 0, stream, *k));
    return cudaGetLastError();
}

extern "C" int dg_launch_loss(cudaStream_t stream, const struct dg_k_loss *k)
{
    if (!dg_in_fours(k->logits) || !dg_in_fours(k->grad) || k->V % 4)
        return launch<slow>(stream, k);
    if (k->V > many::SIZE)
        return launch<walk>(stream, k);
    return k->V > few::SIZE ? launch<many>(stream, k) : launch<few>(stream, k);
}
