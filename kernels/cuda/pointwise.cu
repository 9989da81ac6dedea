/* Element by element: embedding, the end of a linear, copies between types and into the cache.
 * A block takes a row at a time, its threads the row's elements: rows are hundreds of elements wide
 * and accesses lie side by side. A thread has BATCH elements on their way before it uses the first.
 * Arithmetic is fp32. */
#include "kernels/cuda/rows.cuh"

static const uint32_t THREADS = 128;
enum { BATCH = 8 };

/* T, P: the tables' types. */
template <typename T, typename P>
static __global__ void __launch_bounds__(THREADS) embed_rows(struct dg_k_embed k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const int32_t id = k.ids[m];
        const size_t row = id < 0 ? 0 : (size_t)id * k.D, pos = (size_t)k.pos[m] * k.D;
        const uint32_t key = k.drop.row_key ? k.drop.row_key[m] ^ k.drop.site : 0;
        for (size_t d0 = threadIdx.x; d0 < k.D; d0 += THREADS * BATCH) {
            T table[BATCH];
            P position[BATCH];
            float v[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
                const size_t d = d0 + (size_t)j * THREADS;
                table[j] = dg_get<T>(id >= 0 && d < k.D, k.table, k.table_type, row + d);
                position[j] = dg_get<P>(d < k.D, k.positions, k.positions_type, pos + d);
            }
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
                v[j] = __fmul_rn(k.scale, dg_float(table[j])) + dg_float(position[j]);
                if (k.drop.row_key)
                    v[j] = dg_drop(k.drop, key, (uint32_t)(d0 + (size_t)j * THREADS), v[j]);
            }
            dg_put_batch<THREADS>(k.y, m, d0, k.D, v);
        }
    }
}

static __device__ __forceinline__ float activate(float x, enum dg_act act)
{
    switch (act) {
    case DG_ACT_NONE: return x;
    case DG_ACT_RELU: return x < 0 ? 0 : x;
    case DG_ACT_SWISH: return x / (1.0f + expf(-x));
    case DG_ACT_GELU: return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    }
    return x;
}

/* y and pre are of one type, T. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) finish_rows(struct dg_k_finish k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const uint32_t key = k.drop.row_key ? k.drop.row_key[m] ^ k.drop.site : 0;
        for (size_t n0 = threadIdx.x; n0 < k.N; n0 += THREADS * BATCH) {
            T y[BATCH];
            float bias[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
                const size_t n = n0 + (size_t)j * THREADS;
                y[j] = dg_get<T>(n < k.N, k.y.p, k.y.type, m * k.y.ld + n);
                bias[j] = k.bias && n < k.N ? k.bias[n] : 0.0f;
            }
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
                const size_t n = n0 + (size_t)j * THREADS;
                float v = dg_float(y[j]);
                if (k.bias)
                    v += bias[j];
                if (k.pre.p && n < k.N)
                    dg_set<T>(k.pre.p, k.pre.type, m * k.pre.ld + n, v);
                v = activate(v, k.act);
                if (k.drop.row_key)
                    v = dg_drop(k.drop, key, (uint32_t)n, v);
                if (n < k.N)
                    dg_set<T>(k.y.p, k.y.type, m * k.y.ld + n, v);
            }
        }
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) copy_rows(struct dg_k_copy k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const int32_t slot = k.slots ? k.slots[m] : 0;
        const size_t to = k.slots ? (size_t)slot : m;
        for (size_t n0 = threadIdx.x; slot >= 0 && n0 < k.N; n0 += THREADS * BATCH) {
            T x[BATCH];
            float v[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
                const size_t n = n0 + (size_t)j * THREADS;
                x[j] = dg_get<T>(n < k.N, k.x.p, k.x.type, m * k.x.ld + n);
            }
#pragma unroll
            for (int j = 0; j < BATCH; j++)
                v[j] = dg_float(x[j]);
            dg_put_batch<THREADS>(k.y, to, n0, k.N, v);
        }
    }
}

/* Positions are never multiplied, so that their table is fp32 in every mode. */
extern "C" int dg_launch_embed(cudaStream_t stream, const struct dg_k_embed *k)
{
    const unsigned blocks = dg_blocks(k->M, 1);
    if (k->positions_type == DG_F32)
        DG_TYPED(k->table_type, DG_LAUNCH((embed_rows<T, float>), blocks, THREADS, 0, stream, *k));
    else
        DG_LAUNCH((embed_rows<struct dg_any, struct dg_any>), blocks, THREADS, 0, stream, *k);
    return cudaGetLastError();
}

extern "C" int dg_launch_finish(cudaStream_t stream, const struct dg_k_finish *k)
{
    DG_TYPED_OR_ANY(dg_one_type(k->y, k->pre), k->y.type,
        DG_LAUNCH(finish_rows<T>, dg_blocks(k->M, 1), THREADS, 0, stream, *k));
    return cudaGetLastError();
}

extern "C" int dg_launch_copy(cudaStream_t stream, const struct dg_k_copy *k)
{
    DG_TYPED(k->x.type, DG_LAUNCH(copy_rows<T>, dg_blocks(k->M, 1), THREADS, 0, stream, *k));
    return cudaGetLastError();
}
