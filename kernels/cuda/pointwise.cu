/* Element by element: embedding, the end of a linear, copies between types and into the cache.
 * A block takes a row at a time, its threads the row's elements: rows are hundreds of elements wide
 * and accesses lie side by side. Arithmetic is fp32. */
#include "kernels/cuda/device.cuh"

enum { THREADS = 128 };

static __global__ void embed_rows(struct dg_k_embed k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        int32_t id = k.ids[m];
        size_t pos = (size_t)k.pos[m];
        uint32_t key = k.drop.row_key ? k.drop.row_key[m] ^ k.drop.site : 0;
        for (size_t d = threadIdx.x; d < k.D; d += THREADS) {
            float t = id < 0 ? 0.0f : dg_load(k.table, k.table_type, (size_t)id * k.D + d);
            float v = __fmul_rn(k.scale, t) + dg_load(k.positions, k.positions_type, pos * k.D + d);
            if (k.drop.row_key)
                v = dg_drop(k.drop, key, (uint32_t)d, v);
            dg_store(k.y.p, k.y.type, m * k.y.ld + d, v);
        }
    }
}

static __device__ __forceinline__ float activate(float x, enum dg_act act)
{
    switch (act) {
    case DG_ACT_NONE:
        return x;
    case DG_ACT_RELU:
        return x < 0 ? 0 : x;
    case DG_ACT_SWISH:
        return x / (1.0f + expf(-x));
    case DG_ACT_GELU:
        return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    }
    return x;
}

static __global__ void finish_rows(struct dg_k_finish k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        uint32_t key = k.drop.row_key ? k.drop.row_key[m] ^ k.drop.site : 0;
        for (size_t n = threadIdx.x; n < k.N; n += THREADS) {
            float v = dg_load(k.y.p, k.y.type, m * k.y.ld + n);
            if (k.bias)
                v += k.bias[n];
            if (k.pre.p)
                dg_store(k.pre.p, k.pre.type, m * k.pre.ld + n, v);
            v = activate(v, k.act);
            if (k.drop.row_key)
                v = dg_drop(k.drop, key, (uint32_t)n, v);
            dg_store(k.y.p, k.y.type, m * k.y.ld + n, v);
        }
    }
}

static __global__ void copy_rows(struct dg_k_copy k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        if (k.slots && k.slots[m] < 0)
            continue;
        size_t to = k.slots ? (size_t)k.slots[m] : m;
        for (size_t n = threadIdx.x; n < k.N; n += THREADS)
            dg_store(k.y.p, k.y.type, to * k.y.ld + n, dg_load(k.x.p, k.x.type, m * k.x.ld + n));
    }
}

extern "C" int dg_launch_embed(cudaStream_t stream, const struct dg_k_embed *k)
{
    DG_LAUNCH(embed_rows, dg_blocks(k->M, 1), THREADS, 0, stream, *k);
    return cudaGetLastError();
}

extern "C" int dg_launch_finish(cudaStream_t stream, const struct dg_k_finish *k)
{
    DG_LAUNCH(finish_rows, dg_blocks(k->M, 1), THREADS, 0, stream, *k);
    return cudaGetLastError();
}

extern "C" int dg_launch_copy(cudaStream_t stream, const struct dg_k_copy *k)
{
    DG_LAUNCH(copy_rows, dg_blocks(k->M, 1), THREADS, 0, stream, *k);
    return cudaGetLastError();
}
