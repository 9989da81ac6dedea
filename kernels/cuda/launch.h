/* Kernels as host code sees them: structs of device pointers and one launcher each. Launchers use
 * the stream that ops go to, note an error as the backend's failure, and do not wait. Everything is
 * pointers on the device but the structs themselves. One thread at a time per backend, as backend.h
 * says. */
#ifndef DG_KERNELS_CUDA_LAUNCH_H
#define DG_KERNELS_CUDA_LAUNCH_H

#include "kernels/backend.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dg_cuda;

/* The stream that ops go to. */
cudaStream_t dg_cuda_stream(const struct dg_cuda *cu);
/* Note a failed call; the first one stays. True when all is well. */
bool dg_cuda_ok(struct dg_cuda *cu, int cuda_error, const char *what);

/* Row m begins at element m * ld; p NULL: none. */
struct dg_k_rows {
    void *p; /* [M,.]: rows of the user's width */
    size_t ld;
    enum dg_type type;
};

/* Element e of row m is kept when hash(row_key[m] ^ site, e) >> 8 >= floor, and scaled. */
struct dg_k_drop {
    const uint32_t *row_key; /* [M]; NULL: no dropout */
    uint32_t site, floor;
    float scale;
};

/* y[M,D] = drop(scale * table[ids] + positions[pos]) */
struct dg_k_embed {
    const void *table; /* [V,D] */
    enum dg_type table_type;
    const float *positions; /* [max_positions,D] */
    float scale;
    const int32_t *ids, *pos; /* [M] */
    struct dg_k_drop drop;
    struct dg_k_rows y;
    size_t M, D;
};
void dg_launch_embed(struct dg_cuda *cu, const struct dg_k_embed *k);

/* y[m] = drop(act(x[m])), or y[slots[m]] where slots[m] >= 0, of any two types; pre[M,N] = x. y may
 * be x. */
struct dg_k_copy {
    struct dg_k_rows x, y, pre;
    const int32_t *slots; /* [M] or NULL */
    enum dg_act act;
    struct dg_k_drop drop;
    size_t M, N;
};
void dg_launch_copy(struct dg_cuda *cu, const struct dg_k_copy *k);

/* y[M,D] = LayerNorm(r + drop(x)) * gain + bias; sum[M,D] = r + drop(x), and may be x or r. All but
 * rstd have one type. */
struct dg_k_norm {
    struct dg_k_rows x, r, y, xhat, rstd, sum;
    const float *gain, *bias; /* [D] */
    float eps;
    struct dg_k_drop drop;
    size_t M, D;
};
void dg_launch_norm(struct dg_cuda *cu, const struct dg_k_norm *k);

struct dg_k_sums; /* launch_train.h */

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

struct dg_k_attention {
    uint32_t H, Dk, Dv;
    float scale;
    const struct dg_k_seg *segs;
    const int32_t *slots;          /* the segments' lists: [n_k] from seg.slots on */
    const struct dg_k_tile *tiles; /* [n_tiles] query tiles of tile_rows; NULL: each piece is one */
    uint32_t n_tiles, tile_rows;
    struct dg_k_rows q, k, v, out;
    struct dg_k_rows probs; /* p NULL: not wanted */
    struct dg_k_drop drop;
    struct dg_k_rows new_k, new_v; /* as in struct dg_attention; p NULL: none */
};
/* Tiles of one query. */
void dg_launch_attention(struct dg_cuda *cu, const struct dg_k_attention *k);
/* Training's, on tensor cores, for the calls that dg_cuda_attention_is_mma lets through. */
uint32_t dg_attention_mma_rows(void);
void dg_launch_attention_mma(struct dg_cuda *cu, const struct dg_k_attention *k);

/* The k[m] best of logits[M,V]; logprob and ids are [M,stride]. fit not NULL: the stride stands
 * there, and a row's ids behind its log-probabilities: logprob is [M,2,stride]. parts: scratch of
 * dg_topk_parts(M, V) bytes, 16-byte aligned. */
struct dg_k_topk {
    struct dg_k_rows logits;
    size_t M, V, stride;
    const uint32_t *k;    /* [M]; 0: nothing of this row */
    const int32_t *force; /* [M] or NULL */
    const uint32_t *fit;  /* [1] in device memory, or NULL */
    float *logprob;       /* [M,stride], or [M,2,*fit] with the ids */
    int32_t *ids;         /* [M,stride] */
    void *parts;          /* [dg_topk_parts(M, V)] bytes */
};
size_t dg_topk_parts(size_t M, size_t V);
void dg_launch_topk(struct dg_cuda *cu, const struct dg_k_topk *k);

/* A product by our own kernel, without mask and sums (gemm.h). */
struct dg_gemm_call;
void dg_launch_gemm(struct dg_cuda *cu, const struct dg_gemm_call *call);

#ifdef __cplusplus
}
#endif

#endif
