/* The CPU's training table: walks rows, segments and heads over the inner loops; products go to
 * gemm_train.h. */
#include "kernels/train.h"
#include "kernels/cpu/internal.h"
#include "kernels/cpu/train/gemm_train.h"
#include "kernels/cpu/train/guide.h"
#include "kernels/cpu/train/loops.h"
#include "kernels/cpu/train/output_bf16.h"
#include "kernels/cpu/train/ssru_train.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cpu_train {
    struct dg_train base; /* first: a struct dg_train * is a struct cpu_train * */
    const struct dg_loops *loops;
    const struct dg_gemm_train *gemm;
    struct dg_gemm_bf16 *bf16; /* the gemm's ctx; NULL in fp32 */
    struct dg_output_bf16 *output;
    float *scratch; /* [n_scratch]: one head's products */
    size_t n_scratch;
    struct dg_loop_add *adds; /* [n_adds]: one segment's guide; NULL until there is one */
    size_t n_adds;
};

static const struct dg_loops *loops_of(struct dg_train *t)
{
    return ((struct cpu_train *)t)->loops;
}

/* Gradients are trainable weights over one of our blocks: their memory may be written. */
static float *grad_of(struct dg_weight *w)
{
    assert(w->kind == DG_WEIGHT_ROWS);
    return (float *)(uintptr_t)w->data;
}

/* dy[M,N]: gradient of the layer's output -> gradient before the activation. */
static void act_backward(
    const struct dg_loops *l, const struct dg_linear_grad *g, size_t M, size_t N)
{
    const struct dg_linear *op = g->op;
    for (size_t m = 0; m < M; m++) {
        float *dy = dg_rows_at(g->dy, m);
        if (op->act == DG_ACT_RELU) {
            l->relu(dy, dg_rows_at(g->y, m), N, op->drop ? 1.0f / (1.0f - op->drop->p) : 1.0f);
            continue;
        }
        if (op->drop)
            l->drop(dy, N, dg_mask_of(op->drop, m, 0));
        if (op->act == DG_ACT_SWISH)
            l->swish(dy, dg_rows_at(op->pre, m), N);
        else if (op->act == DG_ACT_GELU)
            l->gelu(dy, dg_rows_at(op->pre, m), N);
    }
}

static void linear_backward(struct dg_train *t, const struct dg_linear_grad *g, size_t M)
{
    const struct cpu_train *cpu = (const struct cpu_train *)t;
    const struct dg_loops *l = cpu->loops;
    const struct dg_weight *w = g->op->w;
    if (g->op->act != DG_ACT_NONE || g->op->drop)
        act_backward(l, g, M, w->N);
    const float *dy = dg_rows_at(g->dy, 0);
    if (g->dbias)
        l->column_sum(grad_of(g->dbias), dy, g->dy.ld, M, w->N);
    cpu->gemm->weight(cpu->bf16, &(struct dg_train_gemm){M, w->N, w->K, dy, g->dy.ld,
                                     dg_rows_at(g->x, 0), g->x.ld, grad_of(g->dw), w->K, true});
    if (g->dx.buf)
        cpu->gemm->input(
            cpu->bf16, &(struct dg_train_gemm){M, w->N, w->K, dy, g->dy.ld, dg_weight_floats(w),
                           w->K, dg_rows_at(g->dx, 0), g->dx.ld, g->dx_add});
    for (size_t m = 0; m < M && g->dx_relu; m++)
        l->relu(dg_rows_at(g->dx, m), dg_rows_at(g->x, m), w->K, 1.0f);
}

static void add_norm_backward(struct dg_train *t, const struct dg_norm_grad *g, size_t M, size_t D)
{
    const struct dg_loops *l = loops_of(t);
    struct dg_loop_norm row = {.gain = dg_weight_floats(g->op->gain),
        .dgain = grad_of(g->dgain),
        .dbias = grad_of(g->dbias)};
    for (size_t m = 0; m < M; m++) {
        row.dy = dg_rows_at(g->dy, m);
        row.xhat = dg_rows_at(g->op->xhat, m);
        row.rstd = *dg_rows_at(g->op->rstd, m);
        row.dx = dg_rows_at(g->dx, m);
        row.dr = dg_rows_at(g->dr, m);
        row.dsum = g->dsum.buf ? dg_rows_at(g->dsum, m) : NULL;
        row.drop = dg_mask_of(g->op->drop, m, 0);
        l->norm(&row, D);
    }
}

static void ssru_backward(struct dg_train *t, const struct dg_ssru_grad *g, size_t D)
{
    dg_ssru_train_backward(loops_of(t), g, D);
}

/* Grow the scratch for the largest segment of the call. */
static int fit_scratch(struct cpu_train *t, const struct dg_attention *op, struct dg_error *err)
{
    size_t need = 0;
    for (size_t s = 0; s < op->n_segs; s++) {
        size_t n = dg_loop_head_scratch(op->segs[s].n_q, op->segs[s].n_k, op->Dv);
        need = n > need ? n : need;
    }
    if (need <= t->n_scratch)
        return 0;
    float *p = aligned_alloc(64, (need * sizeof *p + 63) / 64 * 64);
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu floats of attention scratch", need);
    free(t->scratch);
    t->scratch = p;
    t->n_scratch = need;
    return 0;
}

/* Grow the room for the guide's share of the largest segment. */
static int fit_adds(
    struct cpu_train *t, const struct dg_guide *g, size_t n_segs, struct dg_error *err)
{
    size_t need = 0;
    for (size_t s = 0; s < n_segs; s++)
        need = g->first[s + 1] - g->first[s] > need ? g->first[s + 1] - g->first[s] : need;
    if (need <= t->n_adds)
        return 0;
    struct dg_loop_add *p = malloc(need * sizeof *p);
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu links of a guide", need);
    free(t->adds);
    t->adds = p;
    t->n_adds = need;
    return 0;
}

/* Writes the links of segment s to t->adds; returns how many. */
static size_t guide_segment(struct cpu_train *t, const struct dg_attention_grad *g, size_t s)
{
    const struct dg_attn_seg *seg = &g->op->segs[s];
    const struct dg_guide *guide = g->guide;
    if (!guide)
        return 0;
    const size_t n = guide->first[s + 1] - guide->first[s];
    const struct dg_guided_head one = {.probs = dg_rows_at(g->op->probs, 0) + seg->probs,
        .n_q = seg->n_q,
        .n_k = seg->n_k,
        .links = guide->links + guide->first[s],
        .n_links = n};
    dg_guide_run(guide, &one, t->adds);
    return n;
}

static void head_backward(struct cpu_train *t, const struct dg_attention_grad *g,
    const struct dg_attn_seg *s, uint32_t head, size_t n_adds)
{
    const struct dg_attention *op = g->op;
    struct dg_loop_head h = {.n_q = s->n_q,
        .n_k = s->n_k,
        .Dk = op->Dk,
        .Dv = op->Dv,
        .causal = s->causal,
        .scale = 1.0f / sqrtf((float)op->Dk),
        .q = dg_rows_at(g->q, s->q0) + head * op->Dk,
        .ldq = g->q.ld,
        .k = dg_rows_at(op->k, s->k0) + head * op->Dk,
        .ldk = op->k.ld,
        .v = dg_rows_at(op->v, s->k0) + head * op->Dv,
        .ldv = op->v.ld,
        .probs = dg_rows_at(op->probs, 0) + s->probs + (size_t)head * s->n_q * s->n_k,
        .dout = dg_rows_at(g->dout, s->q0) + head * op->Dv,
        .lddout = g->dout.ld,
        .dq = dg_rows_at(g->dq, s->q0) + head * op->Dk,
        .lddq = g->dq.ld,
        .dk = dg_rows_at(g->dk, s->k0) + head * op->Dk,
        .lddk = g->dk.ld,
        .dv = dg_rows_at(g->dv, s->k0) + head * op->Dv,
        .lddv = g->dv.ld,
        .adds = t->adds,
        .n_adds = n_adds,
        .scratch = t->scratch};
    assert(!s->slots);
    if (op->drop && op->drop->p > 0) {
        h.row_key = op->drop->row_key + s->q0;
        h.site = op->drop->site;
        h.first = head * 2048u;
        h.p = op->drop->p;
    }
    t->loops->head(&h);
}

static int attention_backward(
    struct dg_train *t, const struct dg_attention_grad *g, struct dg_error *err)
{
    struct cpu_train *cpu = (struct cpu_train *)t;
    int rc = fit_scratch(cpu, g->op, err);
    if (!rc && g->guide)
        rc = fit_adds(cpu, g->guide, g->op->n_segs, err);
    for (size_t s = 0; s < g->op->n_segs && !rc; s++) {
        const size_t n = guide_segment(cpu, g, s);
        for (uint32_t head = 0; head < g->op->H; head++)
            head_backward(cpu, g, &g->op->segs[s], head,
                g->guide && head - g->guide->head < g->guide->n_heads ? n : 0);
    }
    return rc;
}

static void embed_backward(struct dg_train *t, const struct dg_embed_grad *g, size_t M)
{
    const struct dg_loops *l = loops_of(t);
    const struct dg_embed *op = g->op;
    const size_t D = op->table->K;
    for (size_t m = 0; m < M; m++) {
        float *dy = dg_rows_at(g->dy, m);
        if (op->drop)
            l->drop(dy, D, dg_mask_of(op->drop, m, 0));
        if (op->ids[m] >= 0)
            l->axpy(grad_of(g->dtable) + (size_t)op->ids[m] * D, dy, op->scale, D);
        if (g->dpositions)
            l->axpy(grad_of(g->dpositions) + (size_t)op->pos[m] * D, dy, 1.0f, D);
    }
}

static void loss(struct dg_train *t, const struct dg_loss *op, struct dg_rows logits, size_t M,
    struct dg_loss_sums *sums)
{
    struct dg_loop_loss row = {
        .V = op->V, .epsilon = op->epsilon, .scale = op->scale, .want_grad = op->gradient};
    for (size_t m = 0; m < M; m++) {
        row.x = dg_rows_at(logits, m);
        row.target = op->target[m];
        loops_of(t)->loss(&row);
        sums->smoothed += row.smoothed;
        sums->nll += row.nll;
        sums->correct += row.correct;
    }
    sums->n += M;
}

static int output(struct dg_train *t, const struct dg_output *op, struct dg_rows x, size_t M,
    struct dg_loss_sums *sums, struct dg_error *err)
{
    const bool grad = op->dx.buf;
    const struct dg_output_rows rows = {.M = M,
        .V = op->w->N,
        .D = op->w->K,
        .x = dg_rows_at(x, 0),
        .ldx = x.ld,
        .w = dg_weight_floats(op->w),
        .bias = op->bias ? dg_weight_floats(op->bias) : NULL,
        .target = op->target,
        .epsilon = op->epsilon,
        .scale = op->scale,
        .dx = grad ? dg_rows_at(op->dx, 0) : NULL,
        .lddx = op->dx.ld,
        .dw = grad ? grad_of(op->dw) : NULL,
        .dbias = grad && op->dbias ? grad_of(op->dbias) : NULL};
    return dg_output_bf16_run(((struct cpu_train *)t)->output, &rows, sums, err);
}

static int block_new(struct dg_train *t, size_t n, float **out, struct dg_error *err)
{
    (void)t;
    size_t bytes = (n * sizeof(float) + 63) / 64 * 64;
    float *p = n > SIZE_MAX / 8 ? NULL : aligned_alloc(64, bytes ? bytes : 64);
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "no memory for a block of %zu floats", n);
    memset(p, 0, bytes);
    *out = p;
    return 0;
}

static void block_free(struct dg_train *t, float *block)
{
    (void)t;
    free(block);
}

static void block_write(struct dg_train *t, float *block, const float *src, size_t n)
{
    (void)t;
    memcpy(block, src, n * sizeof *block);
}

static void block_read(struct dg_train *t, const float *block, size_t n, float *dst)
{
    (void)t;
    memcpy(dst, block, n * sizeof *dst);
}

static void zero(struct dg_train *t, float *block, size_t n)
{
    (void)t;
    memset(block, 0, n * sizeof *block);
}

static void sum(struct dg_train *t, const float *const *parts, size_t n_parts, float *out, size_t n)
{
    loops_of(t)->sum(parts, n_parts, out, n);
}

static double square_sum(struct dg_train *t, const float *x, size_t n)
{
    return loops_of(t)->square_sum(x, n);
}

static void adam(struct dg_train *t, const struct dg_adam *op, size_t n)
{
    loops_of(t)->adam(op, n);
}

#define CPU_OPS                                                                                    \
    .loss_bytes = DG_LOSS_BYTES, .guides = true, .norm_sums = true,                                \
    .linear_backward = linear_backward, .add_norm_backward = add_norm_backward,                    \
    .ssru_backward = ssru_backward, .attention_backward = attention_backward,                      \
    .embed_backward = embed_backward, .loss = loss, .block_new = block_new,                        \
    .block_free = block_free, .block_write = block_write, .block_read = block_read, .zero = zero,  \
    .sum = sum, .square_sum = square_sum, .adam = adam, .close = dg_cpu_train_close

static const struct dg_train_ops cpu_ops = {CPU_OPS};
static const struct dg_train_ops cpu_ops_bf16 = {CPU_OPS, .output = output};

/* The loops that go with the backend's instruction set. */
static const struct dg_loops *pick_loops(const struct dg_cpu *cpu)
{
#ifdef DG_X86
    if (!strcmp(cpu->isa->name, dg_loops_avx2.isa))
        return &dg_loops_avx2;
    if (!strcmp(cpu->isa->name, dg_loops_avx512.isa))
        return &dg_loops_avx512;
#endif
    (void)cpu;
    return &dg_loops_plain;
}

/* Replaces the backend's products with the trainer's. */
static int take_products(struct cpu_train *t, struct dg_cpu *cpu, struct dg_error *err)
{
    int rc = 0;
    if (cpu->products == DG_F16 || (cpu->products == DG_BF16 && !cpu->bf16))
        return dg_error_field(err, DG_EUNSUP, "precision",
            "precision %s: training on a CPU multiplies in fp32, or in bf16 where the processor "
            "has AVX512_BF16; here it is %s",
            cpu->products == DG_F16 ? "fp16" : "bf16", cpu->name);
    t->gemm = cpu->products == DG_BF16 ? &dg_gemm_bf16 : &dg_gemm_fp32;
    if (cpu->products == DG_BF16) {
        t->base.ops = &cpu_ops_bf16;
        rc = dg_gemm_bf16_open(cpu->bf16, &t->bf16, err);
        if (!rc)
            rc = dg_output_bf16_open(cpu->bf16, t->loops, &t->output, err);
    } else {
        dg_gemm_fp32_init();
    }
    if (rc)
        return rc;
    dg_cpu_set_gemm(&cpu->base, t->gemm->forward, t->bf16);
    if (t->bf16)
        snprintf(cpu->name + strlen(cpu->name), sizeof cpu->name - strlen(cpu->name), "/bf16");
    return 0;
}

int dg_cpu_train_open(struct dg_backend *be, struct dg_train **out, struct dg_error *err)
{
    *out = NULL;
    struct cpu_train *t = calloc(1, sizeof *t);
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory for the training ops");
    t->base = (struct dg_train){.ops = &cpu_ops, .be = be};
    t->loops = pick_loops(dg_cpu_of(be));
    int rc = take_products(t, dg_cpu_of(be), err);
    *out = rc ? NULL : &t->base;
    if (rc)
        dg_cpu_train_close(&t->base);
    return rc;
}

void dg_cpu_train_close(struct dg_train *t)
{
    struct cpu_train *cpu = (struct cpu_train *)t;
    if (!cpu)
        return;
    dg_gemm_bf16_close(cpu->bf16);
    dg_output_bf16_close(cpu->output);
    free(cpu->adds);
    free(cpu->scratch);
    free(cpu);
}
