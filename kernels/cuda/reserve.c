/* What ops need for a while, taken when an engine is opened: a step that asked the driver for
 * memory would wait for the whole device. */
#include "kernels/cuda/internal.h"

enum { ARRAYS = 24 }; /* lists of a step: ids, positions, slots, three attention calls', topk's */

/* Bytes of the lists of a whole step, so that it waits for the device once, at its end. */
static size_t list_bytes(const struct dg_most *m)
{
    const size_t attention = m->rows * (sizeof(struct dg_k_seg) + 2 * sizeof(struct dg_k_tile)) +
                             m->slots * sizeof(int32_t);
    return 3 * attention + 8 * m->rows * sizeof(int32_t);
}

int dg_cuda_reserve(struct dg_backend *be, const struct dg_most *most, struct dg_error *err)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    const size_t found = most->candidates * (sizeof(float) + sizeof(int32_t)),
                 read = most->read * sizeof(float),
                 topk = dg_topk_parts(most->rows, most->V) + found;
    if (dg_cuda_alive(cu) && dg_cuda_results(cu, found) &&
        dg_cuda_scratch(cu, topk > read ? topk : read))
        dg_cuda_stage_reserve(cu, list_bytes(most), ARRAYS);
    return dg_cuda_status(be, err);
}
