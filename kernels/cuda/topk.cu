/* Log-softmax and the best candidates of rows of logits. A block owns a row: thread t its elements
 * t, t + THREADS, ... A first walk finds the maximum; a second sums exp(x - max), four chains in
 * fp32 and their sums in double, while each thread keeps its HELD best elements. The best of all
 * are then drawn one by one: the threads' heads are compared, the winner moves on, and one whose
 * list is empty walks its elements again for those behind the last it gave. Order: by value, then
 * by smaller id; the same whatever k is. */
#include "kernels/cuda/device.cuh"

enum { THREADS = 256, WARPS = THREADS / DG_WARP, HELD = 4 };

struct candidate {
    float value;
    int32_t id; /* -1: none */
};

static __device__ __forceinline__ bool better(struct candidate a, struct candidate b)
{
    if (a.id < 0 || b.id < 0)
        return b.id < 0 && a.id >= 0;
    return a.value > b.value || (a.value == b.value && a.id < b.id);
}

/* A thread's best, best first. */
struct held {
    struct candidate best[HELD];
    int n;
};

/* Fill with the best of the thread's elements that come after `last`. */
static __device__ void refill(
    const struct dg_k_topk &k, size_t m, struct candidate last, struct held *h)
{
    h->n = 0;
    for (size_t i = threadIdx.x; i < k.V; i += THREADS) {
        struct candidate c = {dg_load(k.logits.p, k.logits.type, m * k.logits.ld + i), (int32_t)i};
        if (!(c.value == c.value) || (last.id >= 0 && !better(last, c)))
            continue;
        if (h->n == HELD && !better(c, h->best[HELD - 1]))
            continue;
        int at = h->n < HELD ? h->n++ : HELD - 1;
        for (; at > 0 && better(c, h->best[at - 1]); at--)
            h->best[at] = h->best[at - 1];
        h->best[at] = c;
    }
}

static __device__ __forceinline__ struct candidate warp_best(struct candidate c)
{
    for (int step = DG_WARP / 2; step; step /= 2) {
        struct candidate other;
        other.value = __shfl_xor_sync(0xFFFFFFFFu, c.value, step);
        other.id = __shfl_xor_sync(0xFFFFFFFFu, c.id, step);
        if (better(other, c))
            c = other;
    }
    return c;
}

/* max + log sum exp(x - max), on all threads. */
static __device__ double log_sum(const struct dg_k_topk &k, size_t m, float *parts, double *sums)
{
    const size_t row = m * k.logits.ld;
    float top = -INFINITY, sum[4] = {0, 0, 0, 0};
    for (size_t i = threadIdx.x; i < k.V; i += THREADS)
        top = fmaxf(top, dg_load(k.logits.p, k.logits.type, row + i));
    top = dg_warp_max(top);
    if (threadIdx.x % DG_WARP == 0)
        parts[threadIdx.x / DG_WARP] = top;
    __syncthreads();
    for (int w = 0; w < WARPS; w++)
        top = fmaxf(top, parts[w]);
    int chain = 0;
    for (size_t i = threadIdx.x; i < k.V; i += THREADS, chain++)
        sum[chain & 3] += expf(dg_load(k.logits.p, k.logits.type, row + i) - top);
    double total = ((double)sum[0] + sum[1]) + ((double)sum[2] + sum[3]);
    return (double)top + log(dg_block_sum<WARPS>(total, sums));
}

static __global__ void __launch_bounds__(THREADS) best_of_row(struct dg_k_topk k)
{
    __shared__ float parts[WARPS];
    __shared__ double sums[WARPS];
    __shared__ struct candidate heads[2][WARPS];
    const size_t m = blockIdx.x;
    if (k.k[m] == 0)
        return;
    const double base = log_sum(k, m, parts, sums);
    float *logprob = k.logprob + (k.fit ? m * 2 * *k.fit : m * k.stride);
    int32_t *ids = k.fit ? (int32_t *)(void *)(logprob + *k.fit) : k.ids + m * k.stride;
    if (k.force && k.force[m] >= 0) {
        if (threadIdx.x == 0) {
            ids[0] = k.force[m];
            logprob[0] =
                (float)(dg_load(k.logits.p, k.logits.type, m * k.logits.ld + (size_t)k.force[m]) -
                        base);
        }
        return;
    }
    const struct candidate none = {-INFINITY, -1};
    struct held h;
    int next = 0;
    refill(k, m, none, &h);
    for (uint32_t r = 0; r < k.k[m]; r++) {
        struct candidate c = warp_best(next < h.n ? h.best[next] : none);
        if (threadIdx.x % DG_WARP == 0)
            heads[r & 1][threadIdx.x / DG_WARP] = c;
        __syncthreads(); /* one a round is enough: the next round writes the other half */
        for (int w = 0; w < WARPS; w++)
            c = better(heads[r & 1][w], c) ? heads[r & 1][w] : c;
        if (threadIdx.x == 0) {
            ids[r] = c.id;
            logprob[r] = c.id < 0 ? -INFINITY : (float)(c.value - base);
        }
        if (c.id >= 0 && c.id % THREADS == (int32_t)threadIdx.x && ++next == HELD) {
            refill(k, m, c, &h);
            next = 0;
        }
    }
}

extern "C" int dg_launch_topk(cudaStream_t stream, const struct dg_k_topk *k)
{
    DG_LAUNCH(best_of_row, (unsigned)k->M, THREADS, 0, stream, *k);
    return cudaGetLastError();
}
