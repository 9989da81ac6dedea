/* The trainer's table on a device. Parameters, gradients and moments are fp32 blocks (block.c);
 * activations and their gradients have the backend's type, 16-bit products accumulate in fp32. */

#include "kernels/cuda/internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* base comes first: a struct dg_train * is a struct cuda_train *. read: cu->sums as last read;
 * is_read: no loss was added since. */
struct cuda_train {
    struct dg_train base;
    struct dg_k_sums read;
    bool is_read;
};

static void add_norm_backward(struct dg_train *t, const struct dg_norm_grad *g, size_t M, size_t D)
{
    DG_RANGE("add_norm_backward");
    struct dg_cuda *cu = dg_cuda_of(t->be);
    if (!M || !dg_cuda_stage_reserve(cu, M * sizeof(uint32_t), 1))
        return;
    struct dg_k_norm_bwd k = {.dy = dg_k_rows_of(g->dy),
        .xhat = dg_k_rows_of(g->op->xhat),
        .rstd = dg_k_rows_of(g->op->rstd),
        .dx = dg_k_rows_of(g->dx),
        .dr = dg_k_rows_of(g->dr),
        .gain = g->op->gain->floats,
        .dgain = g->dgain->floats,
        .dbias = g->dbias->floats,
        .parts = dg_cuda_scratch(cu, 2 * dg_column_parts(M) * D * sizeof(float)),
        .M = M,
        .D = D};
    if (!k.parts)
        return;
    k.drop = dg_cuda_drop(cu, g->op->drop, M);
    dg_launch_norm_bwd(cu, &k);
}

/* Sorts rows by id, by counting; rows with none (id < 0) are left out. Writes id[n], first[n+1] and
 * order[first[n]] as in struct dg_k_scatter, n at most M; at: scratch [V+1] for the counts. Returns
 * n. */
static size_t sort_rows(const int32_t *ids, size_t M, size_t V, int32_t *id, uint32_t *first,
    uint32_t *order, uint32_t *at)
{
    size_t n = 0;
    memset(at, 0, (V + 1) * sizeof *at);
    for (size_t m = 0; m < M; m++)
        if (ids[m] >= 0)
            at[ids[m] + 1]++;
    for (size_t v = 0; v < V; v++) {
        if (at[v + 1]) {
            id[n] = (int32_t)v;
            first[n++] = at[v];
        }
        at[v + 1] += at[v];
    }
    first[n] = at[V];
    for (size_t m = 0; m < M; m++)
        if (ids[m] >= 0)
            order[at[ids[m]]++] = (uint32_t)m;
    return n;
}

/* table[ids[m]] += scale * drop(dy[m]). The lists are made in the staging buffer that they are sent
 * from, with the counts after them. */
static void scatter(struct dg_train *t, const struct dg_embed_grad *g, const int32_t *ids,
    struct dg_weight *table, float scale, size_t M)
{
    struct dg_cuda *cu = dg_cuda_of(t->be);
    const size_t lists = 3 * M + 1;
    if (!dg_cuda_stage_reserve(cu, (lists + table->N + 1 + M) * sizeof(int32_t), 2))
        return;
    uint32_t *to = dg_cuda_stage_next(cu), *first = to + M, *order = first + M + 1;
    struct dg_k_scatter k = {
        .dy = dg_k_rows_of(g->dy), .table = table->floats, .scale = scale, .D = table->K};
    k.n = sort_rows(ids, M, table->N, (int32_t *)to, first, order, to + lists);
    if (!k.n)
        return;
    k.id = dg_cuda_stage_send(cu, ids, lists * sizeof *to);
    k.first = (const uint32_t *)k.id + M;
    k.order = k.first + M + 1;
    k.drop = dg_cuda_drop(cu, g->op->drop, M);
    dg_launch_scatter(cu, &k);
}

static void embed_backward(struct dg_train *t, const struct dg_embed_grad *g, size_t M)
{
    DG_RANGE("embed_backward");
    if (!M || !dg_cuda_alive(dg_cuda_of(t->be)))
        return;
    scatter(t, g, g->op->ids, g->dtable, g->op->scale, M);
    if (g->dpositions)
        scatter(t, g, g->op->pos, g->dpositions, 1.0f, M);
}

static void loss(struct dg_train *t, const struct dg_loss *op, struct dg_rows logits, size_t M,
    struct dg_loss_sums *sums)
{
    DG_RANGE("loss");
    struct dg_cuda *cu = dg_cuda_of(t->be);
    struct dg_k_loss k = {.logits = dg_k_rows_of(logits),
        .gradient = op->gradient,
        .epsilon = op->epsilon,
        .scale = op->scale,
        .M = M,
        .V = op->V};
    sums->n += M;
    k.rows = M && dg_cuda_alive(cu) ? dg_cuda_scratch(cu, M * DG_LOSS_SUMS * sizeof *k.rows) : NULL;
    if (!k.rows || !dg_cuda_stage_reserve(cu, M * sizeof *op->target, 1))
        return;
    k.target = dg_cuda_stage_array(cu, op->target, M * sizeof *op->target);
    dg_launch_loss(cu, &k);
    const struct dg_k_add_rows add = {k.rows, &cu->sums->smoothed, M, DG_LOSS_SUMS};
    dg_launch_add_rows(cu, &add);
    ((struct cuda_train *)t)->is_read = false;
}

static void block_write(struct dg_train *t, float *block, const float *src, size_t n)
{
    struct dg_cuda *cu = dg_cuda_of(t->be);
    if (!n || !dg_cuda_alive(cu))
        return;
    dg_cuda_copy(cu, block, src, n * sizeof *block, cudaMemcpyHostToDevice, "writing a block");
    dg_cuda_block_changed(cu, block, n);
    dg_cuda_wait(cu);
}

static void block_read(struct dg_train *t, const float *block, size_t n, float *dst)
{
    struct dg_cuda *cu = dg_cuda_of(t->be);
    if (!n || !dg_cuda_alive(cu))
        return;
    dg_cuda_copy(cu, dst, block, n * sizeof *dst, cudaMemcpyDeviceToHost, "reading a block");
    dg_cuda_wait(cu);
}

static void zero(struct dg_train *t, float *block, size_t n)
{
    struct dg_cuda *cu = dg_cuda_of(t->be);
    if (!n || !dg_cuda_alive(cu))
        return;
    dg_cuda_ok(cu, cudaMemsetAsync(block, 0, n * sizeof *block, cu->stream), "clearing a block");
    dg_cuda_block_changed(cu, block, n);
}

static void sum(struct dg_train *t, const float *const *parts, size_t n_parts, float *out, size_t n)
{
    struct dg_cuda *cu = dg_cuda_of(t->be);
    for (size_t p = 0; n && p < n_parts && dg_cuda_alive(cu); p++) {
        const struct dg_k_sum k = {p ? out : parts[0], p ? parts[p] : NULL, n, out, DG_F32};
        dg_launch_sum(cu, &k);
    }
    dg_cuda_block_changed(cu, out, n);
}

/* Reads an update's sums, with the only copy of an update that is waited for. For a failed device
 * they are NaN (correct: 0). */
static const struct dg_k_sums *read_sums(struct cuda_train *t)
{
    struct dg_cuda *cu = dg_cuda_of(t->base.be);
    void *to = dg_cuda_alive(cu) ? dg_cuda_results(cu, sizeof t->read) : NULL;
    t->read = (struct dg_k_sums){NAN, NAN, 0, NAN, NAN};
    if (to) {
        dg_cuda_copy(cu, to, cu->sums, sizeof t->read, cudaMemcpyDeviceToHost, "an update's sums");
        if (dg_cuda_wait(cu) && dg_cuda_alive(cu))
            memcpy(&t->read, to, sizeof t->read);
    }
    t->is_read = true;
    return &t->read;
}

static double square_sum(struct dg_train *t, const float *x, size_t n)
{
    DG_RANGE("square_sum");
    struct dg_cuda *cu = dg_cuda_of(t->be);
    double *parts = dg_cuda_alive(cu) ? dg_cuda_scratch(cu, DG_SQUARE_PARTS * sizeof *parts) : NULL;
    const struct dg_k_square k = {x, n, parts, &cu->sums->squares};
    if (parts && dg_cuda_ok(cu, cudaMemsetAsync(k.out, 0, sizeof *k.out, cu->stream), "new sums"))
        dg_launch_square_sum(cu, &k);
    return read_sums((struct cuda_train *)t)->squares;
}

static void sums(struct dg_train *t, struct dg_loss_sums *out)
{
    struct cuda_train *ct = (struct cuda_train *)t;
    struct dg_cuda *cu = dg_cuda_of(t->be);
    if (out) {
        const struct dg_k_sums *s = ct->is_read ? &ct->read : read_sums(ct);
        out->smoothed += s->smoothed;
        out->nll += s->nll;
        out->correct += (uint64_t)s->correct;
        out->guided += s->guided;
    }
    ct->is_read = false;
    if (dg_cuda_alive(cu))
        dg_cuda_ok(cu, cudaMemsetAsync(cu->sums, 0, sizeof *cu->sums, cu->stream), "new sums");
}

static void adam(struct dg_train *t, const struct dg_adam *op, size_t n)
{
    DG_RANGE("adam");
    struct dg_cuda *cu = dg_cuda_of(t->be);
    if (!n || !dg_cuda_alive(cu))
        return;
    const struct dg_k_adam k = {.op = *op,
        .n = n,
        .type = cu->type,
        .shadow = dg_cuda_block_shadow(cu, op->p),
        .step = (float)(op->lr / (1.0 - pow(op->beta1, (double)op->step))),
        .root = (float)(1.0 / sqrt(1.0 - pow(op->beta2, (double)op->step)))};
    dg_launch_adam(cu, &k);
}

static void train_close(struct dg_train *t)
{
    if (!t)
        return;
    struct dg_cuda *cu = dg_cuda_of(t->be);
    dg_cuda_release(cu, cu->sums);
    cu->sums = NULL;
    free(t);
}

/* room_bytes: staging's smallest buffer (staging.c), a table of positions, small scratch.
 * weight_bytes: dS, and the extra eighth that scratch space is given (attention_bwd.c). */
static const struct dg_train_ops train_ops = {.loss_bytes = 512 << 20,
    .room_bytes = 18 << 20,
    .weight_bytes = sizeof(float) + 1,
    .guides = true,
    .masks = true,
    .team = &dg_cuda_team_ops,
    .linear_backward = dg_cuda_linear_backward,
    .add_norm_backward = add_norm_backward,
    .attention_backward = dg_cuda_attention_backward,
    .embed_backward = embed_backward,
    .loss = loss,
    .block_new = dg_cuda_block_new,
    .block_free = dg_cuda_block_free,
    .block_write = block_write,
    .block_read = block_read,
    .zero = zero,
    .sum = sum,
    .square_sum = square_sum,
    .sums = sums,
    .adam = adam,
    .close = train_close};

int dg_cuda_train_open(struct dg_backend *be, struct dg_train **out, struct dg_error *err)
{
    struct cuda_train *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory for the training ops");
    struct dg_cuda *cu = dg_cuda_of(be);
    t->base = (struct dg_train){&train_ops, be};
    cu->sums = dg_cuda_alloc(cu, sizeof *cu->sums);
    if (!cu->sums) {
        free(t);
        return dg_error_set(err, DG_ENOMEM, "no memory on %s for an update's sums", be->name);
    }
    cu->trains = true;
    sums(&t->base, NULL);
    *out = &t->base;
    return DG_OK;
}
