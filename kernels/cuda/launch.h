/* Kernels as host code sees them: structs of device pointers and one launcher each. Launchers use
 * the stream that ops go to, note an error as the backend's failure, and do not wait. All pointers
 * in the structs are to device memory. One thread at a time per backend, as backend.h says. */
#ifndef DG_KERNELS_CUDA_LAUNCH_H
#define DG_KERNELS_CUDA_LAUNCH_H

#include "kernels/device_search.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dg_cuda;

/* The stream that ops go to. */
cudaStream_t dg_cuda_stream(const struct dg_cuda *cu);
/* The virtual architecture (90 for compute_90) from which the kernels that the thread's device runs
 * were compiled; a cudaError_t. */
int dg_kernel_architecture(int *out);
/* True if kernels that themselves wait for the work before them are launched early. */
bool dg_cuda_starts_early(const struct dg_cuda *cu);
/* Note a failed call; the first failure is kept. True if the call succeeded. */
bool dg_cuda_ok(struct dg_cuda *cu, int cuda_error, const char *what);

/* [M,.], rows whose width the user knows: row m begins at element m * ld; p NULL: none. */
struct dg_k_rows {
    void *p;
    size_t ld;
    enum dg_type type;
};

/* Nothing on a device is DG_S8. */
static inline size_t dg_cuda_type_bytes(enum dg_type type)
{
    return type == DG_F32 ? 4 : 2;
}

/* The largest power of two, at most 16, that address and row distance are multiples of. */
static inline uint32_t dg_k_alignment(struct dg_k_rows r)
{
    const uintptr_t bits = (uintptr_t)r.p | r.ld * dg_cuda_type_bytes(r.type) | 16;
    return (uint32_t)(bits & (~bits + 1));
}

/* Element e of row m is kept when hash(row_key[m] ^ site, e) >> 8 >= floor, and scaled; row_key[M]
 * NULL: no dropout. */
struct dg_k_drop {
    const uint32_t *row_key;
    uint32_t site, floor;
    float scale;
};

/* y[M,D] = drop(scale * table[ids[m]] + positions[pos[m]]), table[V,D], positions[P,D] */
struct dg_k_embed {
    const void *table;
    enum dg_type table_type;
    const float *positions;
    float scale;
    const int32_t *ids, *pos;
    struct dg_k_drop drop;
    struct dg_k_rows y;
    size_t M, D;
};
void dg_launch_embed(struct dg_cuda *cu, const struct dg_k_embed *k);

/* y[m] = drop(act(x[m])), or with slots[M] y[slots[m]] where that is >= 0, of any two types;
 * pre[M,N] = x. y may be x. */
struct dg_k_copy {
    struct dg_k_rows x, y, pre;
    const int32_t *slots;
    enum dg_act act;
    struct dg_k_drop drop;
    size_t M, N;
};
void dg_launch_copy(struct dg_cuda *cu, const struct dg_k_copy *k);

/* y[M,D] = LayerNorm(r + drop(x)) * gain[D] + bias[D]; sum[M,D] = r + drop(x), and may be x or r.
 * All but rstd have one type. */
struct dg_k_norm {
    struct dg_k_rows x, r, y, xhat, rstd, sum;
    const float *gain, *bias;
    float eps;
    struct dg_k_drop drop;
    size_t M, D;
};
void dg_launch_norm(struct dg_cuda *cu, const struct dg_k_norm *k);

struct dg_k_piece {
    uint32_t q0, n_q;
};

/* As struct dg_ssru: z[M,2D] -> y[M,D], both of one type, states fp32. pieces[n_pieces] of several
 * rows each; NULL: n_pieces pieces of one row, whose states are rows from[n_pieces] and
 * to[n_pieces] of `states`. */
struct dg_k_ssru {
    struct dg_k_rows z, y, states;
    const struct dg_k_piece *pieces;
    const int32_t *from, *to;
    size_t n_pieces, D;
};
void dg_launch_ssru(struct dg_cuda *cu, const struct dg_k_ssru *k);

/* As struct dg_attn_seg. slots: where its list begins in dg_k_attention.slots; -1: rows k0, k0 + 1,
 * ... No padding between the fields: lists are compared as bytes. */
struct dg_k_seg {
    uint32_t q0, n_q, n_k, k0;
    int64_t slots;
    uint64_t probs, causal;
};

/* Some queries (or, backward, some keys) of one segment, from `first` on. */
struct dg_k_tile {
    uint32_t seg, first;
};

/* As struct dg_attention. slots: the segments' lists, [n_k] from seg.slots on. tiles[n_tiles]: of
 * tile_rows queries each; NULL: each segment is one. */
struct dg_k_attention {
    uint32_t H, Dk, Dv;
    float scale;
    const struct dg_k_seg *segs;
    const int32_t *slots;
    const struct dg_k_tile *tiles;
    uint32_t n_tiles, tile_rows;
    struct dg_k_rows q, k, v, out, probs, new_k, new_v;
    struct dg_k_drop drop;
};
/* For tiles of one query. */
void dg_launch_attention(struct dg_cuda *cu, const struct dg_k_attention *k);
/* Training's attention on tensor cores, for calls that dg_cuda_attention_is_mma accepts, in tiles
 * of DG_MMA_ROWS queries (backward: or keys): 16 of each warp. */
enum { DG_MMA_ROWS = 32 };
void dg_launch_attention_mma(struct dg_cuda *cu, const struct dg_k_attention *k);

/* The k[m] best of each row m of logits[M,V], 0: none of this row; force[M] or NULL.
 * candidates[M,2,*stride]: a row's log-probabilities, then the bits of its ids. parts: scratch of
 * dg_topk_parts(M, V) bytes, 16-byte aligned. */
struct dg_k_topk {
    struct dg_k_rows logits;
    size_t M, V;
    const uint32_t *k, *stride;
    const int32_t *force;
    float *candidates;
    void *parts;
};
size_t dg_topk_parts(size_t M, size_t V);
void dg_launch_topk(struct dg_cuda *cu, const struct dg_k_topk *k);

/* A product by our own kernel, without mask and sums (gemm.h). */
struct dg_gemm_call;
void dg_launch_gemm(struct dg_cuda *cu, const struct dg_gemm_call *call);

/* The search that the device keeps (beam.cu). A hypothesis' number is place * width + its number in
 * the place. */

/* A step as it is sent; its slots and parts follow it in memory. stride: the largest k of all
 * rows. */
struct dg_k_step {
    uint32_t n_parts, n_rows, stride;
};

/* A sentence's part of a step. Its rows and its next hypotheses begin at row0 and out0. */
struct dg_k_part {
    struct dg_device_search_part is;
    uint32_t row0, out0;
};

/* All arrays keep their addresses from step to step, so that a recorded step can be repeated.
 * width: hypotheses of a place; positions: of a hypothesis; memory: source positions of a place. */
struct dg_k_device_search {
    uint32_t width, positions, memory;
    int32_t eos, never;
    /* total[places,width]: log-probability, -inf: no hypothesis; last[places,width]: last piece;
     * history[places,width,positions] and memories[places,memory]: slots */
    double *total;
    int32_t *last, *history, *memories;
    /* given[n_rows]: slots of this step's position; parts[n_parts] */
    const struct dg_k_step *step;
    const int32_t *given;
    const struct dg_k_part *parts;
    /* lists that the ops read, [M] */
    int32_t *ids, *pos, *force;
    uint32_t *k;
    struct dg_k_seg *self, *cross;
    struct dg_k_tile *cross_tiles;
    /* [rows,H,memory], as dg_device_search_limits has them */
    const float *weights;
    uint32_t H, first_head, n_heads;
    /* parents and pieces[sum of all n_out]; sources[n_rows]; candidates[n_rows,2,stride]:
     * log-probabilities, then the bits of ids */
    int32_t *parents, *pieces, *sources;
    float *candidates;
};

/* A sentence's first hypotheses, or its current ones after steps of the host. total: index of its
 * first total in dg_k_places.totals, [n_hyps]; lists: index in dg_k_places.lists of last[n_hyps],
 * memory[n_memory], history[n_hyps,t]. */
struct dg_k_place {
    uint32_t place, n_hyps, t, n_memory, total, lists;
};

/* places[n], and the totals and lists of all of them, one after the other */
struct dg_k_places {
    const struct dg_k_place *places;
    const double *totals;
    const int32_t *lists;
    uint32_t n;
};
void dg_launch_place(
    struct dg_cuda *cu, const struct dg_k_device_search *k, const struct dg_k_places *places);

/* Make the lists of a step of M rows; rows beyond n_rows are padding and have no effect. */
void dg_launch_begin(struct dg_cuda *cu, const struct dg_k_device_search *k, uint32_t M);
/* Select the hypotheses that live on from the candidates, and the source position that each row
 * attends to most. */
void dg_launch_select(struct dg_cuda *cu, const struct dg_k_device_search *k, uint32_t M);

#ifdef __cplusplus
}
#endif

#endif
