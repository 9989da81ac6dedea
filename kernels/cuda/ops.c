/* The ops table's entries: check, stage what the host holds, launch. An op on a device that has
 * failed does nothing; status() reports the failure. */
#include "kernels/cuda/beam.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Reserve room for dropout's keys. Without dropout the stage is left alone: a step that is
 * recorded, or whose lists the device has made, must not wait for room in it. */
static bool ready(struct dg_cuda *cu, const struct dg_dropout *drop, size_t M)
{
    return M &&
           (drop ? dg_cuda_stage_reserve(cu, M * sizeof *drop->row_key, 1) : dg_cuda_alive(cu));
}

static void op_embed(struct dg_backend *be, const struct dg_embed *op, struct dg_rows y, size_t M)
{
    DG_RANGE("embed");
    struct dg_cuda *cu = dg_cuda_of(be);
    assert(op->table->K == op->positions->K);
    if (!M ||
        !(op->ids ? dg_cuda_stage_reserve(cu, 3 * M * sizeof(int32_t), 3) : dg_cuda_alive(cu)))
        return;
    struct dg_k_embed k = {.scale = op->scale, .y = dg_k_rows_of(y), .M = M, .D = op->table->K};
    const struct dg_weight *table = op->table;
    k.table = table->floats ? (const void *)table->floats : table->matrix;
    k.table_type = table->floats ? DG_F32 : cu->type;
    k.positions = op->positions->floats;
    assert(k.positions && (op->ids || (cu->step && !op->drop)));
    k.ids = op->ids ? dg_cuda_stage_array(cu, op->ids, M * sizeof *op->ids) : cu->step->k.ids;
    k.pos = op->ids ? dg_cuda_stage_array(cu, op->pos, M * sizeof *op->pos) : cu->step->k.pos;
    k.drop = dg_cuda_drop(cu, op->drop, M);
    dg_launch_embed(cu, &k);
}

static void op_linear(
    struct dg_backend *be, const struct dg_linear *op, struct dg_rows x, struct dg_rows y, size_t M)
{
    DG_RANGE("linear");
    struct dg_cuda *cu = dg_cuda_of(be);
    const struct dg_weight *w = op->w;
    const bool late = op->act == DG_ACT_SWISH || op->act == DG_ACT_GELU || op->pre.buf || op->drop;
    if (!ready(cu, op->drop, M))
        return;
    assert(x.buf->type == cu->type);
    const struct dg_k_rows ky = dg_k_rows_of(y);
    const struct dg_gemm_call g = {.kind = DG_GEMM_FORWARD,
        .M = M,
        .N = w->N,
        .K = w->K,
        .a = dg_k_rows_of(x),
        .b = {dg_cuda_operand(cu, w, cu->type), w->K, cu->type},
        .c = ky,
        .bias = op->bias ? dg_cuda_operand(cu, op->bias, ky.type) : NULL,
        .relu = op->act == DG_ACT_RELU && !late,
        .row_stable = !w->trainable};
    dg_cuda_multiply_masked(cu, &g, op->mask);
    if (!late)
        return;
    struct dg_k_copy k = {
        .x = ky, .y = ky, .pre = dg_k_rows_of(op->pre), .act = op->act, .M = M, .N = w->N};
    k.drop = dg_cuda_drop(cu, op->drop, M);
    dg_launch_copy(cu, &k);
}

static void op_add_norm(struct dg_backend *be, const struct dg_norm *op, struct dg_rows x,
    struct dg_rows r, struct dg_rows y, size_t M, size_t D)
{
    DG_RANGE("add_norm");
    struct dg_cuda *cu = dg_cuda_of(be);
    assert(op->gain->K == D && op->bias->K == D);
    if (!ready(cu, op->drop, M))
        return;
    struct dg_k_norm k = {.x = dg_k_rows_of(x),
        .r = dg_k_rows_of(r),
        .y = dg_k_rows_of(y),
        .xhat = dg_k_rows_of(op->xhat),
        .rstd = dg_k_rows_of(op->rstd),
        .sum = dg_k_rows_of(op->sum),
        .gain = op->gain->floats,
        .bias = op->bias->floats,
        .eps = op->eps,
        .M = M,
        .D = D};
    assert(k.y.type == k.x.type && (!k.r.p || k.r.type == k.x.type) &&
           (!k.xhat.p || k.xhat.type == k.x.type) && (!k.sum.p || k.sum.type == k.x.type));
    k.drop = dg_cuda_drop(cu, op->drop, M);
    dg_launch_norm(cu, &k);
}

static void op_ssru(struct dg_backend *be, const struct dg_ssru *op, struct dg_rows z,
    struct dg_rows y, size_t M, size_t D)
{
    DG_RANGE("ssru");
    struct dg_cuda *cu = dg_cuda_of(be);
    const bool step = op->states.buf;
    struct dg_k_ssru k = {.z = dg_k_rows_of(z),
        .y = dg_k_rows_of(y),
        .states = dg_k_rows_of(op->states),
        .n_pieces = step ? M : op->n_segs,
        .D = D};
    assert(k.z.type == k.y.type && k.states.type == DG_F32);
    if (!k.n_pieces || !dg_cuda_stage_reserve(cu, k.n_pieces * sizeof *k.pieces, 2))
        return;
    if (step) {
        k.from = dg_cuda_stage_array(cu, op->from, M * sizeof *op->from);
        k.to = dg_cuda_stage_array(cu, op->to, M * sizeof *op->to);
    } else {
        struct dg_k_piece *to = dg_cuda_stage_next(cu);
        for (size_t i = 0; i < op->n_segs; i++)
            to[i] = (struct dg_k_piece){op->segs[i].q0, op->segs[i].n_q};
        k.pieces = dg_cuda_stage_send(cu, &op->segs->n_q, op->n_segs * sizeof *to);
    }
    dg_launch_ssru(cu, &k);
}

_Static_assert(sizeof(struct dg_k_piece) == 2 * sizeof(int32_t), "room for both of a step's lists");

static void op_kv_write(struct dg_backend *be, struct dg_rows x, struct dg_rows pool,
    const int32_t *slots, size_t M, size_t N)
{
    DG_RANGE("kv_write");
    struct dg_cuda *cu = dg_cuda_of(be);
    if (!M || !dg_cuda_stage_reserve(cu, M * sizeof *slots, 1))
        return;
    struct dg_k_copy k = {.x = dg_k_rows_of(x), .y = dg_k_rows_of(pool), .M = M, .N = N};
    k.slots = dg_cuda_stage_array(cu, slots, M * sizeof *slots);
    dg_launch_copy(cu, &k);
}

/* Report no candidates for these rows, so that a search on a failed device ends. */
static void no_candidates(const struct dg_topk *op, size_t M)
{
    for (size_t m = 0; m < M; m++)
        for (size_t i = 0; i < op->k[m]; i++) {
            op->logprob[m * op->k_max + i] = -INFINITY;
            op->ids[m * op->k_max + i] = -1;
        }
}

/* Find the best candidates for a search that the host keeps. The only place of a step that waits:
 * what the host decides on comes back in one copy. */
static bool best_of_rows(
    struct dg_cuda *cu, const struct dg_topk *op, struct dg_rows logits, size_t M, uint32_t most)
{
    const size_t bytes = M * 2 * most * sizeof(float), parts = dg_topk_parts(M, op->V);
    float *row = dg_cuda_results(cu, bytes);
    unsigned char *scratch = row ? dg_cuda_scratch(cu, parts + bytes) : NULL;
    if (!scratch || !dg_cuda_stage_reserve(cu, (2 * M + 1) * sizeof(int32_t), 3))
        return false;
    struct dg_k_topk k = {.logits = dg_k_rows_of(logits),
        .M = M,
        .V = op->V,
        .candidates = (float *)(void *)(scratch + parts),
        .parts = scratch};
    k.k = dg_cuda_stage_array(cu, op->k, M * sizeof *op->k);
    k.stride = dg_cuda_stage_array(cu, &most, sizeof most);
    k.force = op->force ? dg_cuda_stage_array(cu, op->force, M * sizeof *op->force) : NULL;
    dg_launch_topk(cu, &k);
    dg_cuda_copy(cu, row, k.candidates, bytes, cudaMemcpyDeviceToHost, "topk");
    if (!dg_cuda_wait(cu) || !dg_cuda_alive(cu))
        return false;
    for (size_t m = 0; m < M; m++, row += 2 * most) {
        memcpy(op->logprob + m * op->k_max, row, op->k[m] * sizeof *op->logprob);
        memcpy(op->ids + m * op->k_max, row + most, op->k[m] * sizeof *op->ids);
    }
    return true;
}

static void op_topk(
    struct dg_backend *be, const struct dg_topk *op, struct dg_rows logits, size_t M)
{
    DG_RANGE("topk");
    struct dg_cuda *cu = dg_cuda_of(be);
    uint32_t most = 0;
    for (size_t m = 0; m < M; m++) {
        assert(op->k[m] >= 1 && op->k[m] <= op->k_max);
        most = op->k[m] > most ? op->k[m] : most;
    }
    if (M && (!dg_cuda_alive(cu) || !best_of_rows(cu, op, logits, M, most)))
        no_candidates(op, M);
}

const struct dg_ops dg_cuda_ops = {
    .device = "cuda",
    .busy_rows =
        4096, /* tiles of 128 x 128 of a product with 512 columns: one for each of 128 SMs */
    .buf_new = dg_cuda_buf_new,
    .buf_new_wide = dg_cuda_buf_new_wide,
    .buf_free = dg_cuda_buf_free,
    .write = dg_cuda_write,
    .read = dg_cuda_read,
    .weight_new = dg_cuda_weight_new,
    .weight_join = dg_cuda_weight_join,
    .weight_free = dg_cuda_weight_free,
    .embed = op_embed,
    .linear = op_linear,
    .add_norm = op_add_norm,
    .ssru = op_ssru,
    .attention = dg_cuda_attention,
    .kv_write = op_kv_write,
    .topk = op_topk,
    .reserve = dg_cuda_reserve,
    .side_begin = dg_cuda_side_begin,
    .side_end = dg_cuda_side_end,
    .side_done = dg_cuda_side_done,
    .side_join = dg_cuda_side_join,
    .status = dg_cuda_status,
    .memory = dg_cuda_memory,
    .device_search = &dg_cuda_device_search_ops,
    .train_open = dg_cuda_train_open,
    .close = dg_cuda_close,
};
