/* Backward of a linear: dw += dy^T x, db += the sum of dy, dx = dy w, and where x is the output of
 * a ReLU, the gradient before it. The sum and ReLU's backward are the last steps of the products,
 * where cuBLASLt can do that (BGRADB; DRELU with the mask that the forward product wrote,
 * RELU_AUX): dy and dx then cross memory once. Where it cannot, which is logged once, our own
 * kernels do it; ReLU's backward then reads ReLU's output, and the library's masks are no longer
 * used, because only the library knows the layout of their bits.
 *
 * Expected on an H200, base, bf16, 25,000 rows, 2048 x 512 (calculated, not measured): 52 GFLOP a
 * product, 83 us at 80 % of 790 TFLOP/s. The last steps save, at 3.6 TB/s: a bias's kernel, 2 M N =
 * 102 MB, 28 us; ReLU's, 6 M N = 307 MB, 85 us. */

#include "kernels/cuda/internal.h"

#include <assert.h>

/* Multiply by the library with ReLU's mask. False: it has no such product, and no mask will be used
 * again. */
static bool with_mask(struct dg_cuda *cu, struct dg_gemm_call call, struct dg_rows mask)
{
    call.mask = dg_k_rows_of(mask);
    cu->no_masks = cu->no_masks || !dg_cuda_multiply_by_library(cu, &call);
    return !cu->no_masks;
}

void dg_cuda_multiply_masked(
    struct dg_cuda *cu, const struct dg_gemm_call *call, struct dg_rows mask)
{
    if (!call->relu || !mask.buf || !with_mask(cu, *call, mask))
        dg_cuda_multiply(cu, call);
}

/* Turn dy[M,N] into the gradient before op's activation and dropout. y: the output. */
static void act_backward(struct dg_cuda *cu, const struct dg_linear *op, struct dg_rows dy,
    struct dg_rows y, size_t M, size_t N)
{
    struct dg_k_act_bwd k = {.dy = dg_k_rows_of(dy), .act = op->act, .M = M, .N = N};
    if (!dg_cuda_stage_reserve(cu, M * sizeof(uint32_t), 1))
        return;
    if (op->act != DG_ACT_NONE)
        k.seen = dg_k_rows_of(op->act == DG_ACT_RELU ? y : op->pre);
    k.drop = dg_cuda_drop(cu, op->drop, M);
    dg_launch_act_bwd(cu, &k);
}

/* call: dw += dy^T x. parts: [dg_column_parts(M),N], or NULL without a bias. */
static void weight_backward(
    struct dg_cuda *cu, struct dg_gemm_call call, float *dbias, float *parts)
{
    call.sums = parts;
    if (parts && dg_cuda_multiply_by_library(cu, &call)) {
        dg_launch_totals(cu, &(struct dg_k_totals){parts, {dbias}, 1, 1, call.N});
        return;
    }
    call.sums = NULL;
    dg_cuda_multiply(cu, &call);
    const struct dg_k_columns columns = {
        .x = call.a, .out = dbias, .parts = parts, .M = call.M, .N = call.N};
    if (parts)
        dg_launch_columns(cu, &columns);
}

static void input_backward(
    struct dg_cuda *cu, struct dg_gemm_call call, const struct dg_linear_grad *g)
{
    const struct dg_linear relu = {.act = DG_ACT_RELU};
    assert(!g->dx_relu || !g->dx_add);
    if (g->dx_relu && g->mask.buf && with_mask(cu, call, g->mask))
        return;
    dg_cuda_multiply(cu, &call);
    if (g->dx_relu)
        act_backward(cu, &relu, g->dx, g->x, call.M, call.K);
}

void dg_cuda_linear_backward(struct dg_train *t, const struct dg_linear_grad *g, size_t M)
{
    DG_RANGE("linear_backward");
    struct dg_cuda *cu = dg_cuda_of(t->be);
    const struct dg_weight *w = g->op->w;
    const size_t N = w->N, K = w->K;
    if (!M || !dg_cuda_alive(cu))
        return;
    assert(g->dy.buf->type == cu->type);
    float *parts = g->dbias ? dg_cuda_scratch(cu, dg_column_parts(M) * N * sizeof(float)) : NULL;
    if (g->dbias && !parts)
        return;
    if (g->op->act != DG_ACT_NONE || g->op->drop)
        act_backward(cu, g->op, g->dy, g->y, M, N);
    struct dg_gemm_call call = {.kind = DG_GEMM_WEIGHT,
        .M = M,
        .N = N,
        .K = K,
        .a = dg_k_rows_of(g->dy),
        .b = dg_k_rows_of(g->x),
        .c = {g->dw->floats, K, DG_F32},
        .add = true};
    weight_backward(cu, call, g->dbias ? g->dbias->floats : NULL, parts);
    if (!g->dx.buf)
        return;
    call.kind = DG_GEMM_INPUT;
    call.b = (struct dg_k_rows){dg_cuda_operand(cu, w, cu->type), w->K, cu->type};
    call.c = dg_k_rows_of(g->dx);
    call.add = g->dx_add;
    input_backward(cu, call, g);
}
