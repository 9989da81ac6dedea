/* Which attention calls go to tensor cores (attention_fwd_mma.cu, attention_mma_grad.cu): those that
 * train, in 16 bits, over packed rows of heads whose size has a kernel, all rows at 16-byte
 * boundaries. DRAGOMAN_DEBUG=cuda-plain-attention sends none. */
#include "kernels/cuda/internal.h"

#include <stdint.h>

static bool aligned(const struct dg_cuda *cu, struct dg_rows r)
{
    const struct dg_k_rows k = dg_k_rows_of(r);
    return k.type == cu->type && k.ld % 8 == 0 && (uintptr_t)k.p % 16 == 0;
}

bool dg_cuda_attention_is_mma(const struct dg_cuda *cu, const struct dg_attention *op,
    const struct dg_rows *rows, size_t n_rows)
{
    if (!cu->trains || cu->plain_attention || cu->type == DG_F32 || op->of != DG_ATTN_SEGS ||
        !op->probs.buf || op->probs.buf->type != cu->type)
        return false;
    if (op->Dk != op->Dv || (op->Dk != 32 && op->Dk != 64))
        return false;
    for (size_t i = 0; i < op->n_segs; i++)
        if (op->segs[i].slots)
            return false;
    for (size_t i = 0; i < n_rows; i++)
        if (!aligned(cu, rows[i]))
            return false;
    return aligned(cu, op->k) && aligned(cu, op->v);
}
