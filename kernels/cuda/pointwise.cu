/* Element by element: embedding, the end of a linear, copies between types and into the cache,
 * SSRU decoders' states.
 * A block takes a row at a time, its threads the row's elements: rows are hundreds of elements wide
 * and accesses lie side by side. A thread has BATCH elements on their way before it uses the first.
 * Arithmetic is fp32.
 * Calculated for an H200, bf16: embed_rows of 256 rows of 512 moves M D (2 + 4 + 2) = 1 MB, 2 us;
 * copy_rows of an encoder pass' 4,096 pieces to a layer's keys and values 16.8 MB, 6 us. */
#include "kernels/cuda/rows.cuh"

static const uint32_t THREADS = 128;
enum { BATCH = 8 };

/* T: the words' type. Positions are never multiplied, so that their table is fp32 in every mode. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) embed_rows(struct dg_k_embed k)
{
    const struct dg_k_rows positions = {(void *)k.positions, k.D, DG_F32};
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const int32_t id = k.ids[m];
        const struct dg_k_rows table = {id < 0 ? NULL : (void *)k.table, k.D, k.table_type};
        const uint32_t key = dg_drop_key(k.drop, m);
        for (uint32_t d = threadIdx.x; d < k.D; d += THREADS * BATCH) {
            T word[BATCH];
            float position[BATCH], v[BATCH];
            dg_get_row<THREADS>(table, (size_t)id, d, (uint32_t)k.D, word);
            dg_get_row<THREADS>(positions, (size_t)k.pos[m], d, (uint32_t)k.D, position);
#pragma unroll
            for (int j = 0; j < BATCH; j++)
                v[j] = dg_drop(k.drop, key, d + (uint32_t)j * THREADS,
                    __fmul_rn(k.scale, dg_float(word[j])) + position[j]);
            dg_put_batch<THREADS>(k.y, m, d, k.D, v);
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

template <typename T>
static __global__ void __launch_bounds__(THREADS) copy_rows(struct dg_k_copy k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const int64_t to = k.slots ? k.slots[m] : (int64_t)m;
        const uint32_t key = dg_drop_key(k.drop, m);
        for (uint32_t n = threadIdx.x; to >= 0 && n < k.N; n += THREADS * BATCH) {
            T x[BATCH];
            float v[BATCH];
            dg_get_row<THREADS>(k.x, m, n, (uint32_t)k.N, x);
#pragma unroll
            for (int j = 0; j < BATCH; j++)
                v[j] = dg_float(x[j]);
            if (k.pre.p)
                dg_put_batch<THREADS>(k.pre, m, n, k.N, v);
#pragma unroll
            for (int j = 0; j < BATCH; j++)
                v[j] = dg_drop(k.drop, key, n + (uint32_t)j * THREADS, activate(v[j], k.act));
            dg_put_batch<THREADS>(k.y, (size_t)to, n, k.N, v);
        }
    }
}

/* The SSRU's recurrence, c = sigmoid(f) c + (1 - sigmoid(f)) x~ and relu(c). Arithmetic and states
 * are fp32 both by segments and by steps, so that they give the same bits. */
static __device__ __forceinline__ float next_state(float x, float f, float before)
{
    const float keep = 1.0f / (1.0f + expf(-f));
    return __fmul_rn(keep, before) + __fmul_rn(1.0f - keep, x);
}

/* A thread owns an element of a piece's rows and walks them in order. A step's states come from one
 * row of the pool and go to another, which no row of the call reads. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) ssru_rows(struct dg_k_ssru k)
{
    const size_t d = (size_t)blockIdx.y * THREADS + threadIdx.x;
    float *states = (float *)k.states.p + d;
    for (size_t s = blockIdx.x; s < k.n_pieces && d < k.D; s += gridDim.x) {
        const size_t first = k.pieces ? k.pieces[s].q0 : s,
                     end = first + (k.pieces ? k.pieces[s].n_q : 1);
        float c = k.from && k.from[s] >= 0 ? states[(size_t)k.from[s] * k.states.ld] : 0;
        for (size_t m = first; m < end; m++) {
            const T *z = (const T *)k.z.p + m * k.z.ld;
            c = next_state(dg_float(z[d]), dg_float(z[k.D + d]), c);
            dg_put((T *)k.y.p + m * k.y.ld + d, c < 0 ? 0 : c);
        }
        if (k.to)
            states[(size_t)k.to[s] * k.states.ld] = c;
    }
}

extern "C" void dg_launch_embed(struct dg_cuda *cu, const struct dg_k_embed *k)
{
    DG_TYPED(k->table_type, DG_LAUNCH(cu, embed_rows<T>, dg_blocks(k->M, 1), THREADS, 0, *k));
}

extern "C" void dg_launch_copy(struct dg_cuda *cu, const struct dg_k_copy *k)
{
    DG_TYPED(k->x.type, DG_LAUNCH(cu, copy_rows<T>, dg_blocks(k->M, 1), THREADS, 0, *k));
}

extern "C" void dg_launch_ssru(struct dg_cuda *cu, const struct dg_k_ssru *k)
{
    const dim3 blocks(dg_blocks(k->n_pieces, 1), (unsigned)((k->D + THREADS - 1) / THREADS));
    DG_TYPED(k->z.type, DG_LAUNCH(cu, ssru_rows<T>, blocks, THREADS, 0, *k));
}
