/* The recurrence of SSRU decoders: pieces, or the places of a step's states, on their way to the
 * device. */
#include "kernels/cuda/internal.h"

#include <assert.h>

static void run_pieces(struct dg_cuda *cu, const struct dg_ssru *op, struct dg_k_ssru *k)
{
    const size_t bytes = op->n_segs * sizeof(struct dg_k_piece);
    if (!op->n_segs || !dg_cuda_stage_reserve(cu, bytes, 1))
        return;
    struct dg_k_piece *to = dg_cuda_stage_next(cu);
    for (size_t i = 0; i < op->n_segs; i++)
        to[i] = (struct dg_k_piece){op->segs[i].q0, op->segs[i].n_q};
    k->pieces = dg_cuda_stage_send(cu, &op->segs->n_q, bytes);
    k->n_pieces = op->n_segs;
    dg_cuda_ok(cu, dg_launch_ssru(cu->stream, k), "ssru");
}

void dg_cuda_ssru(struct dg_backend *be, const struct dg_ssru *op, struct dg_rows z,
    struct dg_rows y, size_t M, size_t D)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    struct dg_k_ssru k = {.z = dg_k_rows_of(z), .y = dg_k_rows_of(y), .M = M, .D = D};
    if (!M || !dg_cuda_alive(cu))
        return;
    assert(k.z.type == k.y.type);
    if (!op->states.buf) {
        run_pieces(cu, op, &k);
        return;
    }
    if (!dg_cuda_stage_reserve(cu, 2 * M * sizeof *op->from, 2))
        return;
    k.states = dg_k_rows_of(op->states);
    assert(k.states.type == DG_F32);
    k.from = dg_cuda_stage_array(cu, op->from, M * sizeof *op->from);
    k.to = dg_cuda_stage_array(cu, op->to, M * sizeof *op->to);
    dg_cuda_ok(cu, dg_launch_ssru(cu->stream, &k), "ssru");
}
