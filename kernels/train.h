/* The second ops table: what training asks of a device in addition to kernels/backend.h. Plain C
 * (kernels/cpu/train/loops.c built for the baseline) is the reference definition. A dg_train
 * belongs to one worker, as its backend does, and is used by one thread at a time. Nothing here
 * waits for another worker. Gradients of parameters are in blocks: flat fp32 device memory that
 * trainable weights are views of. Every d<parameter> is added to, so that micro-batches accumulate;
 * d<activation> is overwritten unless said otherwise. Row stability (contract 1) is not required:
 * no translation depends on it. Results have the same bits from run to run. */
#ifndef DG_KERNELS_TRAIN_H
#define DG_KERNELS_TRAIN_H

#include "kernels/backend.h"

#include <stdbool.h>

struct dg_team_ops; /* kernels/team.h */

/* Backward of y[M,N] = drop(act(x[M,K] w[N,K]^T + bias[N])). */
struct dg_linear_grad {
    /* the forward op; op->pre is needed for swish and gelu */
    const struct dg_linear *op;
    /* [M,K], [M,N]; y is read only when there is an activation */
    struct dg_rows x, y;
    /* [M,N]: overwritten with the gradient before the activation */
    struct dg_rows dy;
    /* [M,K] or none */
    struct dg_rows dx;
    /* dx += instead of dx = */
    bool dx_add;
    /* x is the output of a ReLU without dropout, and dx is to be the gradient before that ReLU; not
     * with dx_add. mask [M,K]: as that layer's forward linear wrote it, or none. */
    bool dx_relu;
    struct dg_rows mask;
    /* [N,K], [N] or NULL */
    struct dg_weight *dw, *dbias;
};

/* Backward of y[M,D] = LayerNorm(r + drop(x)) * gain + bias, and of the sum r + drop(x) where it
 * has other readers. dx and dr may be the same rows when there is no dropout. */
struct dg_norm_grad {
    /* the forward op, xhat and rstd filled */
    const struct dg_norm *op;
    /* [M,D] */
    struct dg_rows dy;
    /* [M,D]; dr may be dy, dx may not */
    struct dg_rows dx, dr;
    /* [D] */
    struct dg_weight *dgain, *dbias;
    /* [M,D] gradient of r + drop(x) from its other readers (op->sum: the residual stream of a
     * pre-norm model), or none; may be dr. Only where ops->norm_sums */
    struct dg_rows dsum;
};

/* Backward of an SSRU in teacher forcing. With s = σ(f), and dc the gradient of a state (the sum of
 * its output's share and its successor's share): dx~ = (1 - s) dc, df = s (c_{t-1} - c_t) dc, and
 * c_{t-1} receives the share s dc. */
struct dg_ssru_grad {
    /* the forward op */
    const struct dg_ssru *op;
    /* [M,2D] as the forward op left it: states, forget gates before their sigmoid */
    struct dg_rows z;
    /* [M,D] */
    struct dg_rows dy;
    /* [M,2D]; not dy */
    struct dg_rows dz;
};

/* A query row of a segment, and the key of the segment that it should attend to. */
struct dg_link {
    uint16_t query, key;
};

/* Guided alignment (Garg et al. 2019), which trains attention to look at given keys. Each query t
 * with links adds the loss -mean over its links of log p(t,key), where p is the mean of the softmax
 * probabilities over some heads, plus 1e-9. */
struct dg_guide {
    /* links of all segments one after another, each segment's sorted by query */
    const struct dg_link *links;
    /* [n_segs + 1] index in links of each segment's first */
    const size_t *first;
    /* the guided heads, head .. head + n_heads - 1 */
    uint32_t head, n_heads;
    /* factor of the gradient: weight / target pieces of the global batch */
    float scale;
    /* added to: guided, n_guided; see dg_train_ops.sums */
    struct dg_loss_sums *sums;
};

/* Backward of attention over packed rows (no slots). Every row of dq, dk and dv must belong to one
 * segment. */
struct dg_attention_grad {
    /* the forward op, probs filled */
    const struct dg_attention *op;
    /* [.,H*Dk] */
    struct dg_rows q;
    /* [.,H*Dv] */
    struct dg_rows dout;
    /* [.,H*Dk], [.,H*Dk], [.,H*Dv] */
    struct dg_rows dq, dk, dv;
    /* guided alignment, whose gradient is added; NULL: none */
    const struct dg_guide *guide;
};

/* Backward of y[M,D] = drop(scale * table[ids[m]] + positions[pos[m]]), rows in order. */
struct dg_embed_grad {
    const struct dg_embed *op;
    /* [M,D]; the CPU applies dropout to it in place */
    struct dg_rows dy;
    /* [V,D] */
    struct dg_weight *dtable;
    /* [P,D], or NULL for sinusoids */
    struct dg_weight *dpositions;
};

/* Label-smoothed cross-entropy (paper section 5.4; contract 8): q = (1-ε) onehot + ε/V over all V.
 * A logit of -inf is a piece that can never occur (a converted model's padding): it has no share of
 * ε, is not counted in V, and its gradient is 0. */
struct dg_loss {
    size_t V;
    /* [M] host */
    const int32_t *target;
    float epsilon;
    /* factor of the gradient: 1 / target pieces of the global batch */
    float scale;
    /* True: the logits become scale * (softmax - q); false: they are unspecified afterwards. */
    bool gradient;
};

/* Sums over rows, natural logarithm. */
struct dg_loss_sums {
    double smoothed, nll;
    /* rows; rows whose largest logit is the target */
    uint64_t n, correct;
    /* loss of struct dg_guide */
    double guided;
    /* queries that have links */
    uint64_t n_guided;
};

/* One step of Adam (Kingma & Ba 2015, with bias correction) over a slice, and the moving average
 * of the parameters after it. */
struct dg_adam {
    float lr, beta1, beta2, eps;
    /* gradient clipping: g is multiplied by this first */
    float grad_scale;
    /* decoupled weight decay: p *= 1 - lr * decay; 0 is the paper */
    float decay;
    /* ema = decay * ema + (1 - decay) * p; ema NULL: none */
    float ema_decay;
    /* 1 for the first */
    uint64_t step;
    /* [n] */
    const float *g;
    /* [n] */
    float *p, *m, *v;
    /* [n] or NULL */
    float *ema;
};

/* The output layer, logits = x w^T + bias, fused with struct dg_loss and its backward. */
struct dg_output {
    /* [V,D], [V] or NULL; trainable */
    const struct dg_weight *w, *bias;
    /* [M] host */
    const int32_t *target;
    float epsilon, scale;
    /* [M,D], written; none: only the sums are wanted */
    struct dg_rows dx;
    /* [V,D], [V] or NULL */
    struct dg_weight *dw, *dbias;
};

enum {
    /* bytes of fp32 logits for one call of loss on a CPU: what its caches hold */
    DG_LOSS_BYTES = 8 << 20,
    /* bytes of logits that the op `output` keeps, at most */
    DG_OUTPUT_BYTES = 64 << 20
};

struct dg_train_ops {
    /* preferred bytes of fp32 logits in one call of loss */
    size_t loss_bytes;
    /* Bytes of device memory that ops take for themselves: room_bytes for lists and small sums;
     * weight_bytes for each attention weight in attention's backward pass. 0 on the host. */
    size_t room_bytes, weight_bytes;
    /* attention_backward takes a guide */
    bool guides;
    /* linear writes a mask, and linear_backward reads it */
    bool masks;
    /* add_norm_backward takes dsum */
    bool norm_sums;
    /* Sums of blocks over processes, from device to device; NULL: through the host's memory. */
    const struct dg_team_ops *team;
    void (*linear_backward)(struct dg_train *t, const struct dg_linear_grad *op, size_t M);
    void (*add_norm_backward)(
        struct dg_train *t, const struct dg_norm_grad *op, size_t M, size_t D);
    /* NULL: the device cannot train an SSRU. */
    void (*ssru_backward)(struct dg_train *t, const struct dg_ssru_grad *op, size_t D);
    /* DG_ENOMEM: no memory for the scratch of a longer sentence. */
    int (*attention_backward)(
        struct dg_train *t, const struct dg_attention_grad *op, struct dg_error *err);
    void (*embed_backward)(struct dg_train *t, const struct dg_embed_grad *op, size_t M);
    /* logits[M,V], of the activations' type, rows at multiples of 16 bytes; adds to *sums. */
    void (*loss)(struct dg_train *t, const struct dg_loss *op, struct dg_rows logits, size_t M,
        struct dg_loss_sums *sums);
    /* x[M,D]; adds to *sums. DG_ENOMEM. NULL: use linear, loss and linear_backward instead. */
    int (*output)(struct dg_train *t, const struct dg_output *op, struct dg_rows x, size_t M,
        struct dg_loss_sums *sums, struct dg_error *err);

    /* Blocks: n floats of device memory, zeroed, 64-byte aligned. On the CPU they are plain
     * memory. */
    int (*block_new)(struct dg_train *t, size_t n, float **out, struct dg_error *err);
    /* NULL is fine */
    void (*block_free)(struct dg_train *t, float *block);
    void (*block_write)(struct dg_train *t, float *block, const float *src, size_t n);
    void (*block_read)(struct dg_train *t, const float *block, size_t n, float *dst);
    void (*zero)(struct dg_train *t, float *block, size_t n);
    /* out[n] = parts[0][n] + parts[1][n] + ...: in this order; out may be parts[0]. */
    void (*sum)(
        struct dg_train *t, const float *const *parts, size_t n_parts, float *out, size_t n);
    /* Returns the sum of squares, in double. A device fetches its `sums` in the same copy. */
    double (*square_sum)(struct dg_train *t, const float *x, size_t n);
    /* Adds to *sums what losses and guides have added up since the last call, which a device keeps
     * until then, and starts again at zero; with sums NULL the numbers are discarded. Waits for the
     * device, unless square_sum was the last op. A NULL entry: ops have added to their callers'
     * sums directly (dg_train_sums). */
    void (*sums)(struct dg_train *t, struct dg_loss_sums *sums);
    void (*adam)(struct dg_train *t, const struct dg_adam *op, size_t n);
    /* before its backend; NULL is fine */
    void (*close)(struct dg_train *t);
};

struct dg_train {
    const struct dg_train_ops *ops;
    /* borrowed */
    struct dg_backend *be;
};

static inline void dg_train_sums(struct dg_train *t, struct dg_loss_sums *sums)
{
    if (t->ops->sums)
        t->ops->sums(t, sums);
}

/* Opens training on a CPU backend: the backend's products are replaced with the trainer's
 * (kernels/cpu/train/gemm_train.h), in the type set with dg_cpu_set_products; for bf16 the
 * backend's name then ends in "/bf16". Close before the backend. DG_EUNSUP: this machine has no
 * products of that type. */
int dg_cpu_train_open(struct dg_backend *be, struct dg_train **out, struct dg_error *err);
void dg_cpu_train_close(struct dg_train *t); /* NULL is fine */
/* Returns the name of the kernels that the library of fp32 products has chosen for this machine
 * ("SkylakeX"), static. *overruled_by: the name of the environment variable that overrides its
 * choice, NULL if none is set. */
const char *dg_cpu_train_library(const char **overruled_by);
/* Returns the kernels that OPENBLAS_CORETYPE (read when the library is loaded) should name instead,
 * if the library chose some without vector instructions that this machine has, as it does for
 * processors newer than itself. NULL: the choice is good. */
const char *dg_cpu_train_core(const char *chosen);
/* Returns the multiply-adds per second of one thread in this type (DG_F32, DG_BF16) with the
 * kernels of a CPU backend, measured over a few milliseconds. 0: it has no such products, or no
 * memory; for DG_F32 also no room for one thread's buffer (dg_cpu_train_take_room). */
double dg_cpu_train_speed(struct dg_backend *be, enum dg_type type);
/* Allocates the buffers of the library of fp32 products in advance, 128 MB of address space for
 * each thread that multiplies. False: there is not enough (`ulimit -v`, strict overcommit), and the
 * library would not fail but retry forever. Call before other threads run. */
bool dg_cpu_train_take_room(size_t threads);

/* Training on any backend (kernels/cpu/train/open.c). */
int dg_train_open(struct dg_backend *be, struct dg_train **out, struct dg_error *err);
void dg_train_close(struct dg_train *t); /* NULL is fine */

#endif
