/* The ops table: everything model/ asks of a device. Plain C on the CPU (kernels/cpu/plain.c) is
 * the definition. A backend belongs to one worker: one thread at a time. Weights may be shared by
 * backends of the same kind. Activations are opaque: model/ passes rows on, and never looks inside;
 * what they hold is the backend's choice.
 *
 * Row stability (contract 1): each output row depends, bit for bit, on its own input row (for
 * attention: its query and its own keys and values) and the weights alone; never on M, on the row's
 * place, on threads or on alignment. */
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
struct dg_weight;            /* a parameter as the backend wants it: type, layout, scales inside */

/* Rows of an activation: row m starts `offset + m * ld` elements into `buf`. buf NULL means
 * "none". */
struct dg_rows {
    struct dg_buf *buf;
    size_t offset, ld;
};

enum dg_act { DG_ACT_NONE, DG_ACT_RELU, DG_ACT_SWISH, DG_ACT_GELU };

enum dg_type { DG_F32 = 0, DG_F16 = 1, DG_BF16 = 2, DG_S8 = 3 };

/* How a tensor's elements lie. Layout ids are those of the weights file (weights/FORMAT.md). */
enum dg_layout {
    DG_LAYOUT_ROWS = 0,      /* row-major, canonical */
    DG_LAYOUT_PANEL16 = 1,   /* see kernels/cpu/pack.h */
    DG_LAYOUT_PANEL16_S8 = 2 /* DG_S8 only, see kernels/cpu/int8.h */
};

/* What a parameter is used for; a tied embedding is both. */
enum dg_use { DG_USE_MATRIX = 1, DG_USE_TABLE = 2, DG_USE_VECTOR = 4 };

/* One stored form of a tensor. Borrowed from the file's mapping, which outlives the weight. */
struct dg_stored {
    enum dg_type type;
    enum dg_layout layout;
    /* [N,K] of the weight, as type and layout say */
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
    /* [n_stored] the forms at hand; ROWS is always among them */
    const struct dg_stored *stored;
    size_t n_stored;
    /* NULL, or set to the data of the form that is read in place as long as the weight lives; NULL
     * there: its data were copied. (Scales always count as read in place.) */
    const void **in_place;
    /* Told of bytes of a form's data that were copied and are not read again, while the rest is
     * still to come; NULL: nobody is. */
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
    /* optional output [M,N]: before the activation (needed by swish' and gelu') */
    struct dg_rows pre;
    /* optional output [M,dg_relu_mask_ld(N)]: which elements ReLU has let through, as the device
     * notes it, for struct dg_linear_grad. Without dropout; the CPU leaves it alone. */
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

/* A Simpler Simple Recurrent Unit between its products, which are done: z[M,2D] holds candidates x~
 * and, D columns further on, forget gates before their sigmoid.
 * c_t = σ(f_t) c_{t-1} + (1 - σ(f_t)) x~_t, y = relu(c_t), c_{-1} = 0.
 * Teacher forcing: the rows of a piece follow each other in time; z is overwritten. A cached step
 * (states.buf is there): row m continues the state in row from[m] of `states` and leaves its own in
 * row to[m]. */
struct dg_ssru {
    /* q0 and n_q of each piece; NULL in a cached step */
    const struct dg_attn_seg *segs;
    size_t n_segs;
    /* [slots,D] fp32 whatever the backend computes in */
    struct dg_rows states;
    /* [M] host; from -1: the zero state. No to is another row's from */
    const int32_t *from, *to;
};

/* A sentence's (or one beam row's) piece of an attention call: query rows q0..q0+n_q-1 against n_k
 * keys. Key j is row k0 + j of k and v, or row slots[j] when slots is set (cache blocks through
 * their indirection). causal: query i sees keys 0 .. n_k - n_q + i; else all. */
struct dg_attn_seg {
    uint32_t q0, n_q, n_k, k0;
    /* [n_k] host memory, or NULL */
    const int32_t *slots;
    bool causal;
    /* element offset of this piece's [H,n_q,n_k] in dg_attention.probs */
    size_t probs;
};

/* Whose pieces an attention call means: its own segs, or those of the step that
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
    /* optional output: softmax probabilities before dropout, each segment's [H,n_q,n_k] where it
     * says (seg->probs); ld unused */
    struct dg_rows probs;
    /* on the probabilities, row_key per query row, element h*2048+key; or NULL */
    const struct dg_dropout *drop;
    /* A cached step (buf NULL: none): every piece has one query and slots, and its last key and
     * value are not in k and v yet but in row q0 of these. They go to the last slot, which no other
     * piece names. */
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
    /* [M] host; -1 is the zero vector. NULL, and pos too: those of the open step */
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
    /* [M] host: how many this row wants, 1..k_max */
    const uint32_t *k;
    /* [M] host or NULL: >= 0 asks for this id's log-probability alone (k[m] = 1) */
    const int32_t *force;
    /* [M,k_max] host, out */
    float *logprob;
    /* [M,k_max] host, out */
    int32_t *ids;
    /* [V] host, ascending, or NULL: the columns of the logits that count, all others are
     * impossible; ids are then places in this list, and the logits are spoilt. Where
     * ops->short_products. */
    const int32_t *only;
};

/* The most that calls of an engine's ops will ask for. */
struct dg_most {
    /* of a call; an attention call has no more pieces */
    size_t rows;
    /* cache slots named by all pieces of an attention call */
    size_t slots;
    /* of a topk: rows times k_max */
    size_t candidates;
    /* columns of a topk */
    size_t V;
    /* elements of a read */
    size_t read;
};

/* Bytes of a device that has memory of its own. */
struct dg_memory {
    /* by this backend: buffers, weights, room for its libraries */
    size_t held;
    /* of the device, for all programs */
    size_t free, total;
};

struct dg_ops {
    /* "cpu" or "cuda" */
    const char *device;
    /* It computes in the host's memory, on its cores. */
    bool on_host;
    /* A product with a few hundred rows of a matrix costs much less than one with all of them: a
     * sentence's shortlist pays. Where many rows advance together at one product's price it does
     * not. */
    bool short_products;
    /* Rows of a pass over sources of many sentences that keep the device busy; 0: some hundreds
     * do. */
    uint32_t busy_rows;
    /* Hypotheses of a step that keep the device busy; 0: some hundred do. */
    uint32_t step_rows;

    /* Memory. n elements; contents start at zero. Element size is the backend's own. */
    int (*buf_new)(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err);
    /* As buf_new, but fp32 whatever the backend computes in: logits, and sums that backward needs
     * exactly. */
    int (*buf_new_wide)(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err);
    /* As buf_new, for cached keys and values: kv_write and attention write it, attention alone
     * reads it. type DG_F16: 16 bits will do (values beyond its range become its largest). NULL:
     * buf_new will do. */
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
    /* One weight of several: matrices of one K beneath each other, or vectors end to end. They stay
     * weights, as parts of it, and are freed before or after it, but not used after it. NULL: the
     * device gains nothing by a wider product. */
    int (*weight_join)(struct dg_backend *be, struct dg_weight *const *parts, size_t n,
        struct dg_weight **out, struct dg_error *err);
    /* From now on the inputs of this fp32 matrix are rounded to whole multiples of 1/scale, at most
     * 127 of them, before they are multiplied, as another program's int8 arithmetic does it: for
     * comparisons. NULL: the device does not. */
    void (*weight_round_inputs)(struct dg_backend *be, struct dg_weight *w, float scale);
    /* From now on the inputs of this s8 matrix are rounded to so many steps (cpu/int8.h).
     * DG_EUNSUP: not these; DG_EFORMAT: the weights are too large for them. NULL: the device
     * multiplies s8 matrices otherwise. */
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

    /* Take the memory that ops need for a while now, so that they ask for none later. NULL: they
     * never do. */
    int (*reserve)(struct dg_backend *be, const struct dg_most *most, struct dg_error *err);

    /* A side stream: embed, linear, add_norm, attention and kv_write between begin and end follow
     * all that was asked before, and run beside what is asked after. end returns their number, from
     * 1 on. side_begin NULL: the device does one thing after another. */
    void (*side_begin)(struct dg_backend *be);
    uint32_t (*side_end)(struct dg_backend *be);
    /* Have the ops of this number, and of all before it, been done? Does not wait. */
    bool (*side_done)(struct dg_backend *be, uint32_t number);
    /* The device does what is asked from now on after them. Does not wait. */
    void (*side_join)(struct dg_backend *be, uint32_t number);

    /* DG_OK, or why the device failed. A failed device stays so: ops do nothing any more, topk
     * gives no candidates, and what was computed since the last DG_OK is worth nothing. Ask after
     * each step. */
    int (*status)(struct dg_backend *be, struct dg_error *err);
    /* NULL: the device computes in the host's memory. */
    int (*memory)(struct dg_backend *be, struct dg_memory *out, struct dg_error *err);
    /* A search whose state the device keeps; NULL: model/ keeps it. */
    const struct dg_device_search_ops *device_search;
    /* The training ops over this backend; NULL where another library has them (the CPU's:
     * dg_cpu_train_open). */
    int (*train_open)(struct dg_backend *be, struct dg_train **out, struct dg_error *err);
    /* Split the next ops over at most n of the cores this backend was opened with: all of them for
     * one sentence on an idle machine, 1 where others work beside. Changes no bit of any answer.
     * NULL: the device has no such choice. */
    void (*use_threads)(struct dg_backend *be, int n);
    /* NULL is fine */
    void (*close)(struct dg_backend *be);
};

struct dg_backend {
    const struct dg_ops *ops;
    /* "cpu/avx2": shown at start */
    const char *name;
};

/* Elements of a row of struct dg_linear.mask, of which each has room for 16 bits. */
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
