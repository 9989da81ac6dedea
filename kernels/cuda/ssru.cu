/* The SSRU's recurrence, c = σ(f) c + (1 - σ(f)) x~ and relu(c). Teacher forcing: a thread owns an
 * element of a piece's rows, walks them in time's order and keeps its state in a register; a block
 * is THREADS elements of one piece. A cached step: a block takes a row at a time, its threads the
 * row's elements; states come from one row of the pool and go to another, which no row of the call
 * reads. Arithmetic and states are fp32 on both ways, so that they give the same bits. */
#include "kernels/cuda/rows.cuh"

static const uint32_t THREADS = 128;

static __device__ __forceinline__ float next_state(float x, float f, float before)
{
    const float keep = 1.0f / (1.0f + expf(-f));
    return __fmul_rn(keep, before) + __fmul_rn(1.0f - keep, x);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) ssru_pieces(struct dg_k_ssru k)
{
    const size_t d = (size_t)blockIdx.y * THREADS + threadIdx.x;
    for (size_t s = blockIdx.x; s < k.n_pieces && d < k.D; s += gridDim.x) {
        const size_t end = (size_t)k.pieces[s].q0 + k.pieces[s].n_q;
        float c = 0;
        for (size_t m = k.pieces[s].q0; m < end; m++) {
            const T *z = (const T *)k.z.p + m * k.z.ld;
            c = next_state(dg_float(z[d]), dg_float(z[k.D + d]), c);
            dg_put((T *)k.y.p + m * k.y.ld + d, c < 0 ? 0 : c);
        }
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) ssru_step(struct dg_k_ssru k)
{
    for (size_t m = blockIdx.x; m < k.M; m += gridDim.x) {
        const T *z = (const T *)k.z.p + m * k.z.ld;
        const float *from =
            k.from[m] < 0 ? NULL : (const float *)k.states.p + (size_t)k.from[m] * k.states.ld;
        float *to = (float *)k.states.p + (size_t)k.to[m] * k.states.ld;
        for (size_t d = threadIdx.x; d < k.D; d += THREADS) {
            const float c = next_state(dg_float(z[d]), dg_float(z[k.D + d]), from ? from[d] : 0.0f);
            to[d] = c;
            dg_put((T *)k.y.p + m * k.y.ld + d, c < 0 ? 0 : c);
        }
    }
}

extern "C" int dg_launch_ssru(cudaStream_t stream, const struct dg_k_ssru *k)
{
    if (k->from) {
        DG_TYPED(k->z.type, DG_LAUNCH(ssru_step<T>, dg_blocks(k->M, 1), THREADS, 0, stream, *k));
    } else {
        const dim3 blocks(dg_blocks(k->n_pieces, 1), (unsigned)((k->D + THREADS - 1) / THREADS));
        DG_TYPED(k->z.type, DG_LAUNCH(ssru_pieces<T>, blocks, THREADS, 0, stream, *k));
    }
    return cudaGetLastError();
}
