/* The ops table: everything that model/ asks of a device. Plain C on the CPU (kernels/cpu/plain.c)
 * is the reference definition. A backend belongs to one worker and is used by one thread at a time.
 * Backends of the same kind may share weights. Activations are opaque: model/ passes rows around
 * and never reads their contents; the backend chooses their representation.
 *
 * Row stability (contract 1): each output row depends, bit for bit, only on its own input row (for
 * attention: its query and its own keys and values) and on the weights; never on M, on the row's
 * position, on threads or on alignment. */
#ifndef DG_KERNELS_BACKEND_H
#define DG_KERNELS_BACKEND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_backend;
struct dg_train;             /* kernels/train.h */
struct dg_device_search_ops; /* kernels/device_search.h */
struct dg_buf;               /* device memory for activations or keys and values */
struct dg_weight; /* a parameter in the backend's own form: type, layout and scales are inside */

/* Rows of an activation: row m starts `offset + m * ld` elements into `buf`. buf NULL means
 * "none". */
struct dg_rows {
    struct dg_buf *buf;
    size_t offset, ld;
};

/* The rows from row m on. */
static inline struct dg_rows dg_rows_from(struct dg_rows r, size_t m)
{
    return (struct dg_rows){r.buf, r.offset + m * r.ld, r.ld};
}

/* The same rows from element `first` of each on. */
static inline struct dg_rows dg_rows_column(struct dg_rows r, size_t first)
{
    return (struct dg_rows){r.buf, r.offset + first, r.ld};
}

enum dg_act { DG_ACT_NONE, DG_ACT_RELU, DG_ACT_SWISH, DG_ACT_GELU };

enum dg_type { DG_F32 = 0, DG_F16 = 1, DG_BF16 = 2, DG_S8 = 3 };

/* Bytes of an element; 0: there is no such type. */
static inline size_t dg_type_bytes(enum dg_type type)
{
    switch (type) {
    case DG_F32: return 4;
    case DG_F16:
    case DG_BF16: return 2;
    case DG_S8: return 1;
    }
    return 0;
}

/* Memory layout of a tensor's elements. The ids are those of the weights file
 * (weights/FORMAT.md). */
enum dg_layout {
    DG_LAYOUT_ROWS = 0,      /* row-major, canonical */
    DG_LAYOUT_PANEL16 = 1,   /* see kernels/cpu/pack.h */
    DG_LAYOUT_PANEL16_S8 = 2 /* DG_S8 only, see kernels/cpu/int8.h */
};

/* What a parameter is used for; a tied embedding is both a matrix and a table. */
enum dg_use { DG_USE_MATRIX = 1, DG_USE_TABLE = 2, DG_USE_VECTOR = 4 };

/* One stored form of a tensor. Borrowed from the file's mapping, which outlives the weight. */
struct dg_stored {
    enum dg_type type;
    enum dg_layout layout;
    /* [N,K] elements of the weight, in this type and layout */
    const void *data;
    /* [N] for DG_S8, else NULL */
    const float *scales;
};

struct dg_weight_spec {
    /* for messages */
    const char *name;
    /* enum dg_use, or'ed */
    unsigned use;
    /* [N,K]: N outputs or table rows, K inputs; a vector is [1,K] */
    size_t N, K;
    /* rows are fp32 row-major memory that changes between calls: always read in place */
    bool trainable;
    /* [n_stored] the available forms; DG_LAYOUT_ROWS is always among them */
    const struct dg_stored *stored;
    size_t n_stored;
    /* Output, or NULL if not wanted: the data of the form that the weight reads in place for its
     * whole lifetime, or NULL if the data were copied. (Scales always count as read in place.) */
    const void **in_place;
    /* Callback, or NULL: n bytes at `data`, part of a form's data, have been copied and are not
     * read again. It is called while the rest of the form is still to be copied. */
    void (*spent)(const void *of, const void *data, size_t n);
    const void *spent_of;
};

/* Dropout: element e of a row is kept when dg_dropout_keep(row_key[m] ^ site, e) and scaled by
 * 1/(1-p). The mask depends only on the keys: never on batch, rank or thread. */
struct dg_dropout {
    float p;
    /* which dropout of the model this is, mixed with seed and step */
    uint32_t site;
    /* [M] host memory: hash of (sentence index, position) */
    const uint32_t *row_key;
};

struct dg_linear {
    /* [N,K] */
    const struct dg_weight *w;
    /* [N] or NULL */
    const struct dg_weight *bias;
    enum dg_act act;
    /* on the activation's output, or NULL */
    const struct dg_dropout *drop;
    /* optional output [M,N]: the values before the activation (needed by swish' and gelu') */
    struct dg_rows pre;
    /* optional output [M,dg_relu_mask_ld(N)] for struct dg_linear_grad: which elements ReLU let
     * through, in the device's own bit format. Not with dropout; the CPU ignores it. */
    struct dg_rows mask;
};

struct dg_norm {
    /* [D] */
    const struct dg_weight *gain, *bias;
    float eps;
    /* on x, or NULL */
    const struct dg_dropout *drop;
    /* Optional outputs for backward (buf NULL: not wanted): x̂[M,D], 1/σ[M]. */
    struct dg_rows xhat, rstd;
    /* Optional output [M,D]: r + drop(x), the residual stream of a pre-norm model. May be x or r,
     * not y. */
    struct dg_rows sum;
};

/* The recurrence of a Simpler Simple Recurrent Unit, after its matrix products: z[M,2D] holds the
 * candidates x~ and, D columns further on, the forget gates before their sigmoid.
 * c_t = σ(f_t) c_{t-1} + (1 - σ(f_t)) x~_t, y = relu(c_t), c_{-1} = 0.
 * In teacher forcing, the rows of a segment follow each other in time, and z is overwritten. In a
 * cached step (states.buf is set), row m continues the state in row from[m] of `states` and stores
 * its own in row to[m]. */
struct dg_ssru {
    /* q0 and n_q of each segment; NULL in a cached step */
    const struct dg_attn_seg *segs;
    size_t n_segs;
    /* [slots,D] fp32 whatever the backend computes in */
    struct dg_rows states;
    /* [M] host. from -1: the zero state. No row's `to` is another row's `from` */
    const int32_t *from, *to;
};

/* One sentence's (or one beam row's) segment of an attention call: query rows q0..q0+n_q-1 against
 * n_k keys. Key j is row k0 + j of k and v, or row slots[j] when slots is set (an indirection to
 * cache blocks). causal: query i sees keys 0 .. n_k - n_q + i; otherwise every query sees all
 * keys. */
struct dg_attn_seg {
    uint32_t q0, n_q, n_k, k0;
    /* [n_k] host memory, or NULL */
    const int32_t *slots;
    bool causal;
    /* element offset of this segment's [H,n_q,n_k] in dg_attention.probs */
    size_t probs;
};

/* Which segments an attention call works on: its own segs, or those of the step that
 * dg_ops.device_search has begun. */
enum dg_attn_of { DG_ATTN_SEGS, DG_ATTN_STEP_SELF, DG_ATTN_STEP_MEMORY };

struct dg_attention {
    /* scores are scaled by 1/sqrt(Dk) */
    uint32_t H, Dk, Dv;
    enum dg_attn_of of;
    const struct dg_attn_seg *segs;
    size_t n_segs;
    /* [.,H*Dk], [.,H*Dv] */
    struct dg_rows k, v;
    /* optional output: softmax probabilities before dropout, each segment's [H,n_q,n_k] at its own
     * offset (seg->probs); ld is unused */
    struct dg_rows probs;
    /* on the probabilities, or NULL: row_key per query row, element h*2048+key */
    const struct dg_dropout *drop;
    /* A cached step (buf NULL: none): every segment has one query and slots, and its last key and
     * value are not in k and v yet but in row q0 of these. The op stores them in the segment's last
     * slot, which no other segment names. */
    /* [.,H*Dk], [.,H*Dv] */
    struct dg_rows new_k, new_v;
};

struct dg_embed {
    /* [V,D] */
    const struct dg_weight *table;
    /* [P,D] */
    const struct dg_weight *positions;
    /* √D in the paper */
    float scale;
    /* [M] host; -1 is the zero vector. NULL (and pos, too): the ids and positions of the open step
     * (dg_ops.device_search) */
    const int32_t *ids;
    /* [M] host; row of `positions` */
    const int32_t *pos;
    /* on the sum, or NULL */
    const struct dg_dropout *drop;
};

/* Best candidates of each row of logits[M,V]: log-probabilities by log-softmax, ordered by value,
 * ties by smaller id. */
struct dg_topk {
    size_t V, k_max;
    /* [M] host: number of candidates for each row, 1..k_max */
    const uint32_t *k;
    /* [M] host or NULL: >= 0 asks for this id's log-probability alone (k[m] = 1) */
    const int32_t *force;
    /* [M,k_max] host, out */
    float *logprob;
    /* [M,k_max] host, out */
    int32_t *ids;
    /* [V] host, ascending, or NULL: the only columns of the logits that count, all others being
     * impossible; ids are then indices into this list, and the logits are overwritten. Only where
     * ops->short_products. */
    const int32_t *only;
};

/* Upper bounds of what an engine's op calls will ask for. */
struct dg_most {
    /* rows of a call, and segments of an attention call */
    size_t rows;
    /* cache slots named by all segments of one attention call */
    size_t slots;
    /* of a topk: rows times k_max */
    size_t candidates;
    /* columns of a topk */
    size_t V;
    /* elements of a read, of contiguous fp32 rows */
    size_t read;
};

/* Bytes of a device that has memory of its own. */
struct dg_memory {
    /* held by this backend: buffers, weights, workspace for its libraries */
    size_t held;
    /* of the device, for all programs */
    size_t free, total;
};

struct dg_ops {
    /* "cpu" or "cuda" */
    const char *device;
    /* Computes in the host's memory, on the host's cores. */
    bool on_host;
    /* A product with a few hundred rows of a matrix costs much less than one with all of them, so
     * that a sentence's shortlist pays off. It does not where many rows advance together for the
     * price of one product. */
    bool short_products;
    /* Rows of an encoder pass over many sentences that keep the device busy; 0: a few hundred
     * do. */
    uint32_t busy_rows;
    /* Hypotheses in one step that keep the device busy; 0: about a hundred do. */
    uint32_t step_rows;

    /* Memory. n elements; contents start at zero. Element size is the backend's own. */
    int (*buf_new)(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err);
    /* As buf_new, but fp32 whatever the backend computes in: for logits, and for sums that backward
     * needs exactly. */
    int (*buf_new_wide)(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err);
    /* As buf_new, for cached keys and values: only kv_write and attention write it, and only
     * attention reads it. type DG_F16: 16 bits suffice (values beyond its range become its
     * largest). NULL: use buf_new. */
    int (*kv_new)(struct dg_backend *be, size_t n, enum dg_type type, struct dg_buf **out,
        struct dg_error *err);
    /* NULL is fine */
    void (*buf_free)(struct dg_backend *be, struct dg_buf *buf);
    /* Copy between host fp32 and rows [M,N]; read waits for the device. */
    void (*write)(struct dg_backend *be, const float *src, struct dg_rows y, size_t M, size_t N);
    void (*read)(struct dg_backend *be, struct dg_rows x, size_t M, size_t N, float *dst);

    int (*weight_new)(struct dg_backend *be, const struct dg_weight_spec *spec,
        struct dg_weight **out, struct dg_error *err);
    /* NULL is fine */
    void (*weight_free)(struct dg_backend *be, struct dg_weight *w);
    /* Joins several weights into one: matrices of the same K stacked by rows, or vectors end to
     * end. The parts stay usable as parts of the joined weight; they may be freed before or after
     * it, but not used after it is freed. NULL: the device gains nothing from a wider product. */
    int (*weight_join)(struct dg_backend *be, struct dg_weight *const *parts, size_t n,
        struct dg_weight **out, struct dg_error *err);
    /* From now on, rounds the inputs of this fp32 matrix to whole multiples of 1/scale, at most 127
     * of them, before they are multiplied, as another program's int8 arithmetic does: for
     * comparisons. NULL: not supported. */
    void (*weight_round_inputs)(struct dg_backend *be, struct dg_weight *w, float scale);
    /* From now on, quantises the inputs of this s8 matrix to `steps` steps (cpu/int8.h). DG_EUNSUP:
     * not with this number of steps or for this matrix; DG_EFORMAT: the weights are too large for
     * them. NULL: the device multiplies s8 matrices in another way. */
    int (*weight_set_steps)(
        struct dg_backend *be, struct dg_weight *w, unsigned steps, struct dg_error *err);

    /* y[M,D] = drop(scale * table[ids[m]] + positions[pos[m]]) */
    void (*embed)(struct dg_backend *be, const struct dg_embed *op, struct dg_rows y, size_t M);
    /* y[M,N] = drop(act(x[M,K] w[N,K]^T + bias[N])); y must not alias x */
    void (*linear)(struct dg_backend *be, const struct dg_linear *op, struct dg_rows x,
        struct dg_rows y, size_t M);
    /* y[M,D] = LayerNorm(r + drop(x)) * gain + bias; y may alias x or r */
    void (*add_norm)(struct dg_backend *be, const struct dg_norm *op, struct dg_rows x,
        struct dg_rows r, struct dg_rows y, size_t M, size_t D);
    /* z[M,2D] -> y[M,D], see struct dg_ssru; y must not alias z. */
    void (*ssru)(struct dg_backend *be, const struct dg_ssru *op, struct dg_rows z,
        struct dg_rows y, size_t M, size_t D);
    /* out[q,H*Dv] = concat_h softmax(q_h k_h^T / √Dk) v_h; out must not alias q */
    void (*attention)(
        struct dg_backend *be, const struct dg_attention *op, struct dg_rows q, struct dg_rows out);
    /* pool[slots[m], 0..N) = x[m, 0..N) : keys and values into the cache, many at a time */
    void (*kv_write)(struct dg_backend *be, struct dg_rows x, struct dg_rows pool,
        const int32_t *slots, size_t M, size_t N);
    void (*topk)(struct dg_backend *be, const struct dg_topk *op, struct dg_rows logits, size_t M);

    /* Allocates the temporary memory of ops now, so that they allocate none later. NULL: they never
     * do. */
    int (*reserve)(struct dg_backend *be, const struct dg_most *most, struct dg_error *err);

    /* A side stream: the embed, linear, add_norm, attention and kv_write calls between side_begin
     * and side_end run after everything submitted before them, and concurrently with everything
     * submitted after them. side_end returns the number of this batch, counted from 1. side_begin
     * NULL: the device runs everything in order. */
    void (*side_begin)(struct dg_backend *be);
    uint32_t (*side_end)(struct dg_backend *be);
    /* Returns whether this batch and all batches before it are done. Does not wait. */
    bool (*side_done)(struct dg_backend *be, uint32_t number);
    /* Makes the device run everything submitted from now on after this batch. Does not wait. */
    void (*side_join)(struct dg_backend *be, uint32_t number);

    /* Returns DG_OK, or why the device failed. A failure is permanent: ops do nothing any more,
     * topk gives no candidates, and everything computed since the last DG_OK is invalid. Check
     * after each step. */
    int (*status)(struct dg_backend *be, struct dg_error *err);
    /* NULL: the device computes in the host's memory. */
    int (*memory)(struct dg_backend *be, struct dg_memory *out, struct dg_error *err);
    /* Beam search with its state on the device; NULL: model/ keeps the state. */
    const struct dg_device_search_ops *device_search;
    /* Opens the training ops over this backend; NULL where another library has them (the CPU's:
     * dg_cpu_train_open). */
    int (*train_open)(struct dg_backend *be, struct dg_train **out, struct dg_error *err);
    /* Splits the following ops over at most n of the cores this backend was opened with: all of
     * them for one sentence on an idle machine, 1 where others are working, too. Changes no bit of
     * any result. NULL: the device has no such choice. */
    void (*use_threads)(struct dg_backend *be, int n);
    /* NULL is fine */
    void (*close)(struct dg_backend *be);
};

struct dg_backend {
    const struct dg_ops *ops;
    /* "cpu/avx2": shown at start */
    const char *name;
};

/* Elements in a row of struct dg_linear.mask; each element has room for 16 bits. */
static inline size_t dg_relu_mask_ld(size_t N)
{
    return (N + 127) / 128 * 8;
}

/* Dropout's generator: 32-bit finaliser of Wellons' "lowbias32" over key and element (public domain
 * constants). */
static inline uint32_t dg_dropout_hash(uint32_t key, uint32_t element)
{
    uint32_t x = element * 0x9E3779B9u + key;
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    x ^= x >> 16;
    return x;
}

/* Kept when the hash's upper 24 bits are at or above p's share of 2^24. */
static inline bool dg_dropout_keep(uint32_t key, uint32_t element, float p)
{
    return (dg_dropout_hash(key, element) >> 8) >= (uint32_t)(p * 16777216.0f);
}

#endif
