/* Training's kernels as host code sees them; see launch.h. Activations and their gradients in one
 * call have one type. All reductions have a fixed order: the same bits from run to run. One thread
 * at a time per backend, as backend.h says. */
#ifndef DG_KERNELS_CUDA_LAUNCH_TRAIN_H
#define DG_KERNELS_CUDA_LAUNCH_TRAIN_H

#include "kernels/cuda/launch.h"
#include "kernels/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over rows are made in two steps: blocks add up strips of DG_STRIP_ROWS rows, then the
 * strips' sums are added. */
enum { DG_STRIP_ROWS = 32 };
size_t dg_column_parts(size_t M);

/* out[i][N] += sum over n_parts of parts[n_out,n_parts,N] */
struct dg_k_totals {
    const float *parts;
    float *out[2];
    size_t n_out, n_parts, N;
};
void dg_launch_totals(struct dg_cuda *cu, const struct dg_k_totals *k);

/* dy[M,N]: gradient of drop(act(pre)) -> gradient of pre. seen: the output for a ReLU, pre for
 * others. */
struct dg_k_act_bwd {
    struct dg_k_rows dy, seen;
    enum dg_act act;
    struct dg_k_drop drop;
    size_t M, N;
};
void dg_launch_act_bwd(struct dg_cuda *cu, const struct dg_k_act_bwd *k);

/* out[N] += sum over M of x[M,N] * (by[M,N] or 1). parts: scratch of dg_column_parts(M) * N
 * floats. */
struct dg_k_columns {
    struct dg_k_rows x, by;
    float *out, *parts;
    size_t M, N;
};
void dg_launch_columns(struct dg_cuda *cu, const struct dg_k_columns *k);

/* dx, dr of y = LayerNorm(r + drop(x)) * gain[D] + bias; dgain[D] += sum over M of dy xhat,
 * dbias[D] += sum over M of dy. parts: scratch of 2 * dg_column_parts(M) * D floats. */
struct dg_k_norm_bwd {
    struct dg_k_rows dy, xhat, rstd, dx, dr;
    const float *gain;
    float *dgain, *dbias, *parts;
    struct dg_k_drop drop;
    size_t M, D;
};
void dg_launch_norm_bwd(struct dg_cuda *cu, const struct dg_k_norm_bwd *k);

/* Gradient of the rows of table[V,D] that the batch looked up. id[n]: their ids, each once;
 * order[first[i] .. first[i+1]): the rows of dy that looked up id[i], in order. table[id[i]] +=
 * scale * sum of drop(dy rows). */
struct dg_k_scatter {
    struct dg_k_rows dy;
    float *table;
    float scale;
    const int32_t *id;
    const uint32_t *first, *order;
    struct dg_k_drop drop;
    size_t n, D;
};
void dg_launch_scatter(struct dg_cuda *cu, const struct dg_k_scatter *k);

/* The sums of an update, which stay on the device until they are read in one copy. The first
 * DG_LOSS_SUMS are those of dg_launch_loss. */
struct dg_k_sums {
    double smoothed, nll, correct, guided, squares;
};
enum { DG_LOSS_SUMS = 3 };

/* sums[N] += rows[M,N], over its rows. */
struct dg_k_add_rows {
    const double *rows;
    double *sums;
    size_t M;
    uint32_t N;
};
void dg_launch_add_rows(struct dg_cuda *cu, const struct dg_k_add_rows *k);

/* Computes rows[M,DG_LOSS_SUMS], in the order of struct dg_k_sums, from logits[M,V], whose rows are
 * at multiples of 16 bytes, and target[M]. If `gradient`, it replaces the logits. */
struct dg_k_loss {
    struct dg_k_rows logits;
    const int32_t *target;
    double *rows;
    float epsilon, scale;
    uint32_t gradient;
    size_t M, V;
};
void dg_launch_loss(struct dg_cuda *cu, const struct dg_k_loss *k);

/* The keys that a query row should attend to: keys[first] .. keys[first + n - 1]. */
struct dg_k_links {
    uint32_t first, n;
};

/* The loss of struct dg_guide; rows NULL: none. rows[M] by query row, with keys[sum of their n];
 * loss[M]: written for rows that have links, 0 for others; adds: scratch, what each link adds to dP
 * of each guided head. */
struct dg_k_guide {
    const struct dg_k_links *rows;
    const uint16_t *keys;
    double *loss;
    float *adds;
    uint32_t head, n_heads;
    float scale;
};

/* Backward of attention `a`, as it went forward, with probs filled in. ds: scratch, laid out like
 * the probabilities. The first pass takes query tiles and writes ds and dq; the second takes
 * key_tiles[n_key_tiles] and writes dk and dv. */
struct dg_k_attention_bwd {
    struct dg_k_attention a;
    struct dg_k_rows dout, dq, dk, dv;
    float *ds;
    const struct dg_k_tile *key_tiles;
    uint32_t n_key_tiles;
    struct dg_k_guide guide;
};
/* Fills guide.loss and guide.adds; the backward then reads guide.adds. */
void dg_launch_guide(struct dg_cuda *cu, const struct dg_k_attention_bwd *k);
/* For tiles of one row. */
void dg_launch_attention_bwd(struct dg_cuda *cu, const struct dg_k_attention_bwd *k);
/* The same on tensor cores, in tiles of DG_MMA_ROWS; ds then has the activations' type. */
void dg_launch_attention_bwd_mma(struct dg_cuda *cu, const struct dg_k_attention_bwd *k);

/* out[n] of a type = x[n], or x + more[n]; out may be either. */
struct dg_k_sum {
    const float *x, *more;
    size_t n;
    void *out;
    enum dg_type type;
};
void dg_launch_sum(struct dg_cuda *cu, const struct dg_k_sum *k);

/* *out += sum of the squares of x[n]; parts: scratch of DG_SQUARE_PARTS doubles. */
enum { DG_SQUARE_PARTS = 1024 };
struct dg_k_square {
    const float *x;
    size_t n;
    double *parts, *out;
};
void dg_launch_square_sum(struct dg_cuda *cu, const struct dg_k_square *k);

/* step, root: include the bias corrections; shadow: [n] copy of p in `type`, or NULL */
struct dg_k_adam {
    struct dg_adam op;
    float step, root;
    void *shadow;
    enum dg_type type;
    size_t n;
};
void dg_launch_adam(struct dg_cuda *cu, const struct dg_k_adam *k);

#ifdef __cplusplus
}
#endif

#endif
