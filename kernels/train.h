/* The second ops table: what training asks of a device beside kernels/backend.h. Plain C
 * (kernels/cpu/train/loops.c built for the baseline) is the definition. A dg_train belongs to one
 * worker, as its backend does: one thread at a time. Nothing here waits for another worker.
 * Gradients of parameters are in blocks: flat fp32 device memory that trainable weights are views
 * of. All d<parameter> are added to, so that micro-batches accumulate; d<activation> are written
 * unless said otherwise. Row stability is not asked for (contract 1): no text depends on it. Bits
 * are the same from run to run. */
#ifndef DG_KERNELS_TRAIN_H
#define DG_KERNELS_TRAIN_H

#include "kernels/backend.h"

#include <stdbool.h>

struct dg_team_ops; /* kernels/team.h */

/* Backward of y[M,N] = drop(act(x[M,K] w[N,K]^T + bias[N])). */
struct dg_linear_grad {
    /* as it went forward; op->pre is needed for swish and gelu */
    const struct dg_linear *op;
    /* [M,K], [M,N]; y is read only when there is an activation */
    struct dg_rows x, y;
    /* [M,N]: overwritten with the gradient before the activation */
    struct dg_rows dy;
    /* [M,K] or none */
    struct dg_rows dx;
    /* dx += instead of dx = */
    bool dx_add;
    /* x came out of a ReLU without dropout, and dx is to be the gradient before it; not with
     * dx_add. mask [M,K]: as that layer's linear left it, or
     * none. */
    bool dx_relu;
    struct dg_rows mask;
    /* [N,K], [N] or NULL */
    struct dg_weight *dw, *dbias;
};

/* Backward of y[M,D] = LayerNorm(r + drop(x)) * gain + bias, and of the sum itself where that is
 * read, too. dx and dr may be the same rows when there is no dropout. */
struct dg_norm_grad {
    /* as it went forward, xhat and rstd filled */
    const struct dg_norm *op;
    /* [M,D] */
    struct dg_rows dy;
    /* [M,D]; dr may be dy, dx not */
    struct dg_rows dx, dr;
    /* [D] */
    struct dg_weight *dgain, *dbias;
    /* [M,D] gradient of r + drop(x) by its other readers (op->sum: the residual stream of a
     * pre-norm model); may be dr. none: it has none. Where ops->norm_sums */
    struct dg_rows dsum;
};

/* Backward of an SSRU in teacher forcing. With s = σ(f) and dc the gradient of a state, its
 * output's and its successor's share: dx~ = (1 - s) dc, df = s (c_{t-1} - c_t) dc, and s dc is the
 * share of c_{t-1}. */
struct dg_ssru_grad {
    /* as it went forward */
    const struct dg_ssru *op;
    /* [M,2D] as forward left it: states, forget gates before their sigmoid */
    struct dg_rows z;
    /* [M,D] */
    struct dg_rows dy;
    /* [M,2D]; not dy */
    struct dg_rows dz;
};

/* A query row of a segment that ought to attend to a key of it. */
struct dg_link {
    uint16_t query, key;
};

/* Attention that is told where to look (guided alignment, Garg et al. 2019): each query t with
 * links loses -mean over its links of log p(t,key), p the mean over some heads of the softmax
 * probabilities, 1e-9 added. */
struct dg_guide {
    /* of all segments one after another, each sorted by query */
    const struct dg_link *links;
    /* [n_segs + 1] of links */
    const size_t *first;
    /* heads head .. head + n_heads - 1 */
    uint32_t head, n_heads;
    /* of the gradient: weight / target pieces of the global batch */
    float scale;
    /* added to: guided, n_guided; see dg_train_ops.sums */
    struct dg_loss_sums *sums;
};

/* Backward of attention over packed rows (no slots). Every row of dq, dk and dv must belong to one
 * segment. */
struct dg_attention_grad {
    /* as it went forward, probs filled */
    const struct dg_attention *op;
    /* [.,H*Dk] */
    struct dg_rows q;
    /* [.,H*Dv] */
    struct dg_rows dout;
    /* [.,H*Dk], [.,H*Dk], [.,H*Dv] */
    struct dg_rows dq, dk, dv;
    /* its loss's gradient is added; NULL: none */
    const struct dg_guide *guide;
};

/* Backward of y[M,D] = drop(scale * table[ids[m]] + positions[pos[m]]), rows in order. */
struct dg_embed_grad {
    const struct dg_embed *op;
    /* [M,D]: unchanged */
    struct dg_rows dy;
    /* [V,D] */
    struct dg_weight *dtable;
    /* [P,D], or NULL for sinusoids */
    struct dg_weight *dpositions;
};

/* Label-smoothed cross-entropy (paper section 5.4; contract 8): q = (1-ε) onehot + ε/V over all V.
 * A logit of -inf is a piece that can never come (a converted model's padding): it has no share of
 * ε, does not count in that V, and its gradient is 0. */
struct dg_loss {
    size_t V;
    /* [M] host */
    const int32_t *target;
    float epsilon;
    /* of the gradient: 1 / target pieces of the global batch */
    float scale;
    /* The logits become scale * (softmax - q); else they are unspecified afterwards. */
    bool gradient;
};

/* Sums over rows, natural logarithm. */
struct dg_loss_sums {
    double smoothed, nll;
    /* rows; rows whose largest logit is the target */
    uint64_t n, correct;
    /* of struct dg_guide */
    double guided;
    /* queries that have links */
    uint64_t n_guided;
};

/* One step of Adam (Kingma & Ba 2015, with bias correction) over a slice, and the moving average
 * of the parameters after it. */
struct dg_adam {
    float lr, beta1, beta2, eps;
    /* clipping: g is multiplied by it first */
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

/* The output layer, logits = x w^T + bias, with struct dg_loss and its backward in one. */
struct dg_output {
    /* [V,D], [V] or NULL; trainable */
    const struct dg_weight *w, *bias;
    /* [M] host */
    const int32_t *target;
    float epsilon, scale;
    /* [M,D], written, or none: the sums alone are wanted */
    struct dg_rows dx;
    /* [V,D], [V] or NULL */
    struct dg_weight *dw, *dbias;
};

enum {
    /* on a CPU: what its caches hold */
    DG_LOSS_BYTES = 8 << 20,
    /* what an op `output` keeps of logits at most */
    DG_OUTPUT_BYTES = 64 << 20
};

struct dg_train_ops {
    /* of fp32 logits that one call of loss likes */
    size_t loss_bytes;
    /* Memory of a device that ops take for themselves: of lists and small sums; and in the backward
     * of attention, for each weight. 0 on the host. */
    size_t room_bytes, weight_bytes;
    /* attention_backward takes a guide */
    bool guides;
    /* linear writes a mask, and linear_backward reads it */
    bool masks;
    /* add_norm_backward takes dsum */
    bool norm_sums;
    /* Blocks added up over processes, from device to device; NULL: through the host's memory. */
    const struct dg_team_ops *team;
    void (*linear_backward)(struct dg_train *t, const struct dg_linear_grad *op, size_t M);
    void (*add_norm_backward)(
        struct dg_train *t, const struct dg_norm_grad *op, size_t M, size_t D);
    /* NULL: the device cannot train an SSRU. */
    void (*ssru_backward)(struct dg_train *t, const struct dg_ssru_grad *op, size_t D);
    /* DG_ENOMEM when scratch for a longer sentence cannot be had. */
    int (*attention_backward)(
        struct dg_train *t, const struct dg_attention_grad *op, struct dg_error *err);
    void (*embed_backward)(struct dg_train *t, const struct dg_embed_grad *op, size_t M);
    /* logits[M,V], of the activations' type, rows at multiples of 16 bytes; adds to *sums. */
    void (*loss)(struct dg_train *t, const struct dg_loss *op, struct dg_rows logits, size_t M,
        struct dg_loss_sums *sums);
    /* x[M,D]; adds to *sums. NULL: linear, loss and linear_backward do it. DG_ENOMEM. */
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
    /* out[n] = parts[0][n] + parts[1][n] + ...: in this order; out may be any of the parts. */
    void (*sum)(
        struct dg_train *t, const float *const *parts, size_t n_parts, float *out, size_t n);
    /* Sum of squares in double. A device's `sums` come with it, in one copy. */
    double (*square_sum)(struct dg_train *t, const float *x, size_t n);
    /* The numbers of the losses and guides since the last call, which a device keeps until then:
     * added to *sums; NULL: forgotten. Waits, but not where square_sum was the last op. NULL: ops
     * have added them to their own callers' sums (dg_train_sums). */
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

/* Training on a CPU backend: its products become the trainer's (kernels/cpu/train/gemm_train.h), in
 * the type that dg_cpu_set_products has set, which the backend's name then says. Close before the
 * backend. DG_EUNSUP: products of that type cannot be had here. */
int dg_cpu_train_open(struct dg_backend *be, struct dg_train **out, struct dg_error *err);
void dg_cpu_train_close(struct dg_train *t); /* NULL is fine */
/* Which kernels the library of fp32 products has chosen for this machine ("SkylakeX"), static; and
 * the name of an environment variable that overrules its choice, NULL where there is none. */
const char *dg_cpu_train_library(const char **overruled_by);
/* The kernels that OPENBLAS_CORETYPE should name instead, read as the library is loaded, where it
 * chose some without the vectors that this machine has: for processors newer than itself. NULL: the
 * choice is good. */
const char *dg_cpu_train_core(const char *chosen);
/* Multiply-adds a second of one thread in this type (DG_F32, DG_BF16) with the kernels of a CPU
 * backend, measured for some milliseconds. 0: it has no such products, or no memory. */
double dg_cpu_train_speed(struct dg_backend *be, enum dg_type type);
/* Takes that library's buffers, 128 MB of address space for each thread that multiplies. False:
 * there is not so much (`ulimit -v`, strict overcommit), and the library would not fail but try
 * again for ever. Before other threads run. */
bool dg_cpu_train_take_room(size_t threads);

/* Training on any backend (kernels/cpu/train/open.c). */
int dg_train_open(struct dg_backend *be, struct dg_train **out, struct dg_error *err);
void dg_train_close(struct dg_train *t); /* NULL is fine */

#endif
