/* Host arrays on their way to the device: ids, positions, slots, segments. They are copied into
 * pinned memory and sent from there, so that a call returns at once and the caller may reuse its
 * array. All layers of a step name the same lists: bytes that were already sent are found by their
 * source address, compared, and not sent again. */
#include "kernels/cuda/internal.h"

#include <string.h>

/* LEAST: smallest buffer. ARRAYS: lists of a step: ids, positions, slots, three attention calls',
 * topk's. TRAINS: smallest buffer in training, where an update of 100,000 tokens sends 10 MB, and
 * waits once. */
enum { ALIGN = 256, LEAST = 1 << 20, ARRAYS = 24, TRAINS = 16 << 20 };

bool dg_cuda_wait(struct dg_cuda *cu)
{
    bool ok = dg_cuda_ok(cu, cudaEventRecord(cu->lane->done, cu->stream), "an event to wait for") &&
              dg_cuda_reach(cu, cu->lane->done, "waiting for the device");
    cu->lane->stage.used = 0;
    cu->lane->stage.n_staged = 0;
    return ok;
}

void dg_cuda_stage_close(struct dg_cuda *cu)
{
    cudaFreeHost(cu->lane->stage.host);
    dg_cuda_release(cu, cu->lane->stage.device);
    memset(&cu->lane->stage, 0, sizeof cu->lane->stage);
}

static bool grow(struct dg_cuda *cu, size_t bytes)
{
    struct dg_stage *s = &cu->lane->stage;
    void *host = NULL;
    const size_t least = cu->trains ? TRAINS : LEAST;
    bytes = bytes * 2 > least ? bytes * 2 : least;
    dg_cuda_stage_close(cu);
    if (!dg_cuda_ok(cu, cudaMallocHost(&host, bytes), "pinned memory for staging"))
        return false;
    s->host = host;
    s->device = dg_cuda_alloc(cu, bytes);
    s->bytes = bytes;
    return s->device || dg_cuda_ok(cu, cudaErrorMemoryAllocation, "device memory for staging");
}

bool dg_cuda_stage_reserve(struct dg_cuda *cu, size_t bytes, size_t arrays)
{
    struct dg_stage *s = &cu->lane->stage;
    bytes += arrays * ALIGN;
    if (!dg_cuda_alive(cu))
        return false;
    if (bytes <= s->bytes - s->used)
        return true;
    if (!dg_cuda_wait(cu))
        return false;
    return bytes <= s->bytes || grow(cu, bytes);
}

void *dg_cuda_stage_next(struct dg_cuda *cu)
{
    return cu->lane->stage.host + cu->lane->stage.used;
}

const void *dg_cuda_stage_send(struct dg_cuda *cu, const void *key, size_t bytes)
{
    struct dg_stage *s = &cu->lane->stage;
    for (size_t i = 0; i < s->n_staged; i++) {
        const struct dg_staged *old = &s->staged[i];
        if (old->key == key && old->bytes == bytes &&
            !memcmp(s->host + old->at, s->host + s->used, bytes))
            return s->device + old->at;
    }
    const size_t at = s->used;
    if (s->n_staged ==
        DG_STAGED_MAX) /* no wait for long: arrays sent so long ago are not asked for again */
        s->n_staged = 0;
    s->staged[s->n_staged++] = (struct dg_staged){key, at, bytes};
    s->used += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    dg_cuda_copy(
        cu, s->device + at, s->host + at, bytes, cudaMemcpyHostToDevice, "sending an array");
    return s->device + at;
}

const void *dg_cuda_stage_array(struct dg_cuda *cu, const void *src, size_t bytes)
{
    memcpy(dg_cuda_stage_next(cu), src, bytes);
    return dg_cuda_stage_send(cu, src, bytes);
}

struct dg_k_drop dg_cuda_drop(struct dg_cuda *cu, const struct dg_dropout *drop, size_t M)
{
    struct dg_k_drop k = {.row_key = NULL};
    if (drop && drop->p > 0)
        k = (struct dg_k_drop){dg_cuda_stage_array(cu, drop->row_key, M * sizeof *drop->row_key),
            drop->site, (uint32_t)(drop->p * 16777216.0f), 1.0f / (1.0f - drop->p)};
    return k;
}

/* Bytes of the lists of a whole step, so that it waits for the device once, at its end. */
static size_t list_bytes(const struct dg_most *m)
{
    const size_t attention =
        m->rows * (sizeof(struct dg_k_seg) + sizeof(struct dg_k_tile)) + m->slots * sizeof(int32_t);
    return 3 * attention + 8 * m->rows * sizeof(int32_t);
}

/* Takes the memory that ops need for a while when an engine is opened: a step that asked the driver
 * for memory would wait for the whole device. */
int dg_cuda_reserve(struct dg_backend *be, const struct dg_most *most, struct dg_error *err)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    const size_t found = most->candidates * (sizeof(float) + sizeof(int32_t)),
                 read = most->read * sizeof(float),
                 topk = dg_topk_parts(most->rows, most->V) + found;
    if (dg_cuda_alive(cu) && dg_cuda_results(cu, found > read ? found : read) &&
        dg_cuda_scratch(cu, topk))
        for (int i = DG_LANES; i-- > 0;) {
            dg_cuda_use_lane(cu, i);
            dg_cuda_stage_reserve(cu, list_bytes(most), ARRAYS);
        }
    return dg_cuda_status(be, err);
}
