/* Kernels as host code sees them: structs of device pointers and one launcher each. Launchers use
 * the stream that ops go to, note an error as the backend's failure, and do not wait. Everything is
 * pointers on the device but the structs themselves. One thread at a time per backend, as backend.h
 * says. */
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
/* Kernels that wait by themselves for what comes before them are launched early. */
bool dg_cuda_starts_early(const struct dg_cuda *cu);
/* Note a failed call; the first one stays. True when all is well. */
bool dg_cuda_ok(struct dg_cuda *cu, int cuda_error, const char *what);

/* [M,.], rows of the user's width: row m begins at element m * ld; p NULL: none. */
struct dg_k_rows {
    void *p;
    size_t ld;
    enum dg_type type;
};

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
 * rows; NULL: rows from, to [n_pieces] of `states`, a row each. */
struct dg_k_ssru {
    struct dg_k_rows z, y, states;
    const struct dg_k_piece *pieces;
    const int32_t *from, *to;
    size_t n_pieces, D;
};
void dg_launch_ssru(struct dg_cuda *cu, const struct dg_k_ssru *k);

/* As struct dg_attn_seg. slots: where its list begins in dg_k_attention.slots; -1: rows k0, k0 + 1,
 * ... No bytes between the fields: lists are compared. */
struct dg_k_seg {
    uint32_t q0, n_q, n_k, k0;
    int64_t slots;
    uint64_t probs, causal;
};

/* Some queries (or, backward, some keys) of one piece. */
struct dg_k_tile {
    uint32_t seg, first;
};

/* As struct dg_attention. slots: the pieces' lists, [n_k] from seg.slots on. tiles[n_tiles]: of
 * tile_rows queries each; NULL: each piece is one. */
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
/* Tiles of one query. */
void dg_launch_attention(struct dg_cuda *cu, const struct dg_k_attention *k);
/* Training's, on tensor cores, for the calls that dg_cuda_attention_is_mma lets through. */
uint32_t dg_attention_mma_rows(void);
void dg_launch_attention_mma(struct dg_cuda *cu, const struct dg_k_attention *k);

/* The k[M] best of each row of logits[M,V], 0: nothing of this row; force[M] or NULL. logprob and
 * ids are [M,stride]. fit not NULL: the stride stands there, in device memory, and a row's ids
 * behind its log-probabilities: logprob is [M,2,stride]. parts: scratch of dg_topk_parts(M, V)
 * bytes, 16-byte aligned. */
struct dg_k_topk {
    struct dg_k_rows logits;
    size_t M, V, stride;
    const uint32_t *k, *fit;
    const int32_t *force;
    float *logprob;
    int32_t *ids;
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

/* A sentence's part of it. Its rows and its next hypotheses begin at row0 and out0. */
struct dg_k_part {
    struct dg_device_search_part is;
    uint32_t row0, out0;
};

/* All of it stays where it is from step to step, so that a recorded step can be repeated. width,
 * positions, memory: of a place, of a hypothesis, of a place. */
struct dg_k_device_search {
    uint32_t width, positions, memory;
    int32_t eos, never;
    /* [places,width] log-probability, -inf: no hypothesis; last piece; [places,width,positions];
     * [places,memory] */
    double *total;
    int32_t *last, *history, *memories;
    /* [n_rows] slots of this step's position; [n_parts] */
    const struct dg_k_step *step;
    const int32_t *given;
    const struct dg_k_part *parts;
    /* lists of the ops, [M] */
    int32_t *ids, *pos, *force;
    uint32_t *k;
    struct dg_k_seg *self, *cross;
    struct dg_k_tile *cross_tiles;
    /* [rows,H,memory], as dg_device_search_limits has them */
    const float *weights;
    uint32_t H, first_head, n_heads;
    /* [sum of all n_out]; [n_rows]; [n_rows,2,stride]: log-probabilities, then the bits of ids */
    int32_t *parents, *pieces, *sources;
    float *candidates;
};

/* A sentence's first hypotheses, or those that the host went on with. total: its first in
 * dg_k_places.totals, [n_hyps]; lists: in dg_k_places.lists, last[n_hyps], memory[n_memory],
 * history[n_hyps,t]. */
struct dg_k_place {
    uint32_t place, n_hyps, t, n_memory, total, lists;
};

/* [n], with their totals and lists, each one after the other */
struct dg_k_places {
    const struct dg_k_place *places;
    const double *totals;
    const int32_t *lists;
    uint32_t n;
};
void dg_launch_place(
    struct dg_cuda *cu, const struct dg_k_device_search *k, const struct dg_k_places *places);

/* The lists of a step of M rows: those beyond n_rows mean nothing and do nothing. */
void dg_launch_begin(struct dg_cuda *cu, const struct dg_k_device_search *k, uint32_t M);
/* Who lives on, from the candidates, and where each row looked. */
void dg_launch_select(struct dg_cuda *cu, const struct dg_k_device_search *k, uint32_t M);

#ifdef __cplusplus
}
#endif

#endif
