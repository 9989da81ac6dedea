/* The search's state on the device: makes a step's lists from it, and its next state from the
 * step's candidates. begin_step: one warp per sentence writes the lists of its rows; blocks beyond
 * the last sentence fill the rows, segments and tiles that pad the step. select_hypotheses: one
 * block per sentence; in its first warp lane r holds row r's next candidate, and the best of all is
 * drawn repeatedly, as model/engine/beam.c does on the host; then every thread moves columns of the
 * hypotheses' histories, one at a time, through its own shared memory, so that no second copy of
 * them is needed. Before that, one warp per row finds the source position that the row attends to
 * most. Totals are double and added in the host's order, so that both decide alike. At most 32
 * hypotheses per place. */
#include "kernels/cuda/device.cuh"

enum { THREADS = 128, MOST_HYPS = DG_WARP };

/* One block per sentence. */
static __global__ void __launch_bounds__(THREADS)
    place_sentences(struct dg_k_device_search k, struct dg_k_places all)
{
    const struct dg_k_place p = all.places[blockIdx.x];
    const size_t hyp = (size_t)p.place * k.width;
    const int32_t *last = all.lists + p.lists, *memory = last + p.n_hyps,
                  *history = memory + p.n_memory;
    for (uint32_t r = threadIdx.x; r < p.n_hyps; r += THREADS) {
        k.total[hyp + r] = all.totals[p.total + r];
        k.last[hyp + r] = last[r];
    }
    for (uint32_t i = threadIdx.x; i < p.n_memory; i += THREADS)
        k.memories[(size_t)p.place * k.memory + i] = memory[i];
    for (uint32_t r = 0; r < p.n_hyps; r++)
        for (uint32_t j = threadIdx.x; j < p.t; j += THREADS)
            k.history[(hyp + r) * k.positions + j] = history[(size_t)r * p.t + j];
}

static __device__ void put_seg(
    struct dg_k_seg *to, uint32_t q0, uint32_t n_q, uint32_t n_k, size_t slots)
{
    to->q0 = q0;
    to->n_q = n_q;
    to->n_k = n_k;
    to->k0 = 0;
    to->slots = (int64_t)slots;
    to->probs = 0;
    to->causal = 0;
}

/* The segment over a sentence's memory, with room of its own for its probabilities. */
static __device__ void put_cross(
    const struct dg_k_device_search &k, const struct dg_k_part &p, struct dg_k_seg *to)
{
    put_seg(to, p.row0, p.is.n_in, p.is.n_memory, (size_t)p.is.place * k.memory);
    to->probs = (uint64_t)p.row0 * k.H * k.memory;
}

/* Fills row, segment and tile i if they are beyond the step's own. */
static __device__ void pad(
    const struct dg_k_device_search &k, const struct dg_k_step &s, uint32_t i, uint32_t M)
{
    if (i >= s.n_rows) {
        k.ids[i] = k.force[i] = -1;
        k.pos[i] = 0;
        k.k[i] = 0;
        put_seg(&k.self[i], i, 0, 0, 0);
        k.cross_tiles[i].seg = M - 1; /* there are fewer segments than M: the last one is empty */
        k.cross_tiles[i].first = 0;
    }
    if (i >= s.n_parts)
        put_seg(&k.cross[i], 0, 0, 0, 0);
}

static __global__ void __launch_bounds__(DG_WARP) begin_step(struct dg_k_device_search k)
{
    DG_AFTER_THE_LAST();
    const uint32_t b = blockIdx.x, lane = threadIdx.x;
    const struct dg_k_step s = *k.step;
    if (lane == 0)
        pad(k, s, b, gridDim.x);
    if (b >= s.n_parts)
        return;
    const struct dg_k_part p = k.parts[b];
    if (lane == 0)
        put_cross(k, p, &k.cross[b]);
    if (lane >= p.is.n_in)
        return;
    const uint32_t m = p.row0 + lane;
    const size_t hyp = (size_t)p.is.place * k.width + lane, history = hyp * k.positions;
    k.ids[m] = k.last[hyp];
    k.pos[m] = (int32_t)p.is.t;
    k.history[history + p.is.t] = k.given[m];
    k.k[m] = p.is.k;
    k.force[m] = p.is.force;
    k.cross_tiles[m].seg = b;
    k.cross_tiles[m].first = lane;
    put_seg(&k.self[m], m, 1, p.is.t + 1, history);
}

/* Row `lane`'s next candidate; total -inf: none. */
struct next {
    double total;
    int32_t id;
    uint32_t lane;
};

/* The largest total; ties go to the smaller row. */
static __device__ __forceinline__ struct next warp_best(struct next a)
{
    for (int step = DG_WARP / 2; step; step /= 2) {
        struct next b;
        b.total = __shfl_xor_sync(0xFFFFFFFFu, a.total, step);
        b.id = __shfl_xor_sync(0xFFFFFFFFu, a.id, step);
        b.lane = __shfl_xor_sync(0xFFFFFFFFu, a.lane, step);
        if (b.total > a.total || (b.total == a.total && b.lane < a.lane))
            a = b;
    }
    return a;
}

/* Selects the next hypotheses of a sentence; parents[n_out], shared. A row for which no candidate
 * is left has no hypothesis from now on: its piece and parent are arbitrary, and it is never
 * chosen. */
static __device__ void select_next(
    const struct dg_k_device_search &k, const struct dg_k_part &p, uint32_t *parents)
{
    const uint32_t lane = threadIdx.x, stride = k.step->stride;
    const size_t hyp = (size_t)p.is.place * k.width + lane;
    const float *logprob = k.candidates + ((size_t)p.row0 + lane) * 2 * stride;
    const int32_t *ids = (const int32_t *)(logprob + stride);
    const double total = lane < p.is.n_in ? k.total[hyp] : -INFINITY;
    struct next mine = {-INFINITY, 0, 0};
    uint32_t at = 0, n = 0, looked = p.is.greedy || p.is.force >= 0 ? 1 : 2 * p.is.n_out;
    while (looked && n < p.is.n_out) {
        struct next c = {-INFINITY, 0, lane};
        if (lane < p.is.n_in && at < p.is.k) {
            const double sum = total + (double)logprob[at];
            c.total = sum > -INFINITY ? sum : -INFINITY; /* NaN is no candidate */
            c.id = ids[at];
        }
        c = warp_best(c);
        if (c.total == -INFINITY)
            break;
        at += c.lane == lane;
        if (p.is.force < 0 && (c.id == k.never || (c.id == k.eos && p.is.no_eos)))
            continue; /* passed over: consider one more instead */
        looked--;
        if (c.id == k.eos && p.is.force < 0)
            continue; /* finished */
        if (lane == n)
            mine = c;
        n++;
    }
    __syncwarp();
    if (lane >= p.is.n_out)
        return;
    k.total[hyp] = mine.total;
    k.last[hyp] = mine.id;
    parents[lane] = mine.lane;
    k.parents[p.out0 + lane] = (int32_t)mine.lane;
    k.pieces[p.out0 + lane] = lane < n ? mine.id : -1;
}

/* The source position that each of a sentence's rows attends to most: the key with the largest sum
 * over the heads, which are added in the order of the host (model/engine/align.c); ties go to the
 * smaller key. One warp per row. */
static __device__ void find_sources(const struct dg_k_device_search &k, const struct dg_k_part &p)
{
    const uint32_t lane = threadIdx.x % DG_WARP;
    const float *weights = k.weights + (size_t)p.row0 * k.H * k.memory;
    for (uint32_t r = threadIdx.x / DG_WARP; r < p.is.n_in; r += THREADS / DG_WARP) {
        float most = -1;
        uint32_t at = 0;
        for (uint32_t j = lane; j < p.is.n_memory; j += DG_WARP) {
            float sum = 0;
            for (uint32_t h = k.first_head; h < k.first_head + k.n_heads; h++)
                sum += weights[((size_t)h * p.is.n_in + r) * p.is.n_memory + j];
            if (sum > most) {
                most = sum;
                at = j;
            }
        }
        for (int step = DG_WARP / 2; step; step /= 2) {
            const float other = __shfl_xor_sync(0xFFFFFFFFu, most, step);
            const uint32_t there = __shfl_xor_sync(0xFFFFFFFFu, at, step);
            if (other > most || (other == most && there < at)) {
                most = other;
                at = there;
            }
        }
        if (lane == 0)
            k.sources[p.row0 + r] = (int32_t)at;
    }
}

static __global__ void __launch_bounds__(THREADS) select_hypotheses(struct dg_k_device_search k)
{
    DG_AFTER_THE_LAST();
    __shared__ uint32_t parents[MOST_HYPS];
    __shared__ int32_t columns[MOST_HYPS * THREADS];
    if (blockIdx.x >= k.step->n_parts)
        return;
    const struct dg_k_part p = k.parts[blockIdx.x];
    find_sources(k, p);
    if (threadIdx.x < DG_WARP)
        select_next(k, p, parents);
    __syncthreads();
    bool same = true;
    for (uint32_t r = 0; r < p.is.n_out; r++)
        same = same && parents[r] == r;
    if (same)
        return;
    int32_t *rows = k.history + (size_t)p.is.place * k.width * k.positions,
            *column = columns + threadIdx.x;
    for (uint32_t j = threadIdx.x; j <= p.is.t; j += THREADS) {
        for (uint32_t r = 0; r < p.is.n_in; r++)
            column[r * THREADS] = rows[(size_t)r * k.positions + j];
        for (uint32_t r = 0; r < p.is.n_out; r++)
            rows[(size_t)r * k.positions + j] = column[parents[r] * THREADS];
    }
}

extern "C" void dg_launch_place(
    struct dg_cuda *cu, const struct dg_k_device_search *k, const struct dg_k_places *places)
{
    DG_LAUNCH(cu, place_sentences, places->n, THREADS, 0, *k, *places);
}

extern "C" void dg_launch_begin(struct dg_cuda *cu, const struct dg_k_device_search *k, uint32_t M)
{
    DG_LAUNCH_EARLY(cu, begin_step, M, DG_WARP, 0, *k);
}

extern "C" void dg_launch_select(struct dg_cuda *cu, const struct dg_k_device_search *k, uint32_t M)
{
    DG_LAUNCH_EARLY(cu, select_hypotheses, M, THREADS, 0, *k);
}
